"""The command predict: a rule's answer for every row of a table."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fsm_hpc.cli import options
from fsm_hpc.cli.usage import Command, Group
from fsm_hpc.system.numbers import counted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", default="-", metavar="FILE", help="CSV or Parquet; standard output when not given"
    )


def main(flags: argparse.Namespace, arguments: list[str]) -> int:
    """Write the table's columns, and `prediction` and `training_precision` after them."""
    from fsm_hpc.models import model, predict
    from fsm_hpc.study import keys
    from fsm_hpc.study.compose import compose_any

    expected = "a model.json and a table (- for standard input)"
    (file, table), overrides = options.files_and_overrides(arguments, expected, count=2)
    keys.check_used(overrides, ["dataset."], "predict")
    spec = compose_any(["dataset=csv", *overrides]).dataset
    rule = model.load(model.place(Path(file)))
    predicted = predict.predict(rule, table, spec)
    predict.write(predicted, flags.out, lambda note: print(note, file=sys.stderr))
    if flags.out != predict.STANDARD:
        print(f"wrote {counted(len(predicted.rows), 'row')} to {flags.out}", file=sys.stderr)
    return 0


COMMAND = Command(
    Group.MODELS,
    "A rule's answer for every row of a table, and how often such answers were right.",
    "MODEL TABLE [--out FILE] [dataset.separator=... dataset.decimal=...]",
    ("predict my_rule/model.json new.csv --out answers.csv",),
    main,
    add_arguments,
)
