"""The verb predict: a rule's answer for every row of a table."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fsm_hpc.cli.usage import Group, Verb
from fsm_hpc.errors import UserError
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

    named = [argument for argument in arguments if "=" not in argument or Path(argument).exists()]
    if len(named) != 2:
        found = " ".join(named) or "none"
        raise UserError(f"expected a model.json and a table (- for standard input), found: {found}")
    overrides = [argument for argument in arguments if argument not in named]
    keys.check_used(overrides, ["dataset."], "predict")
    spec = compose_any(["dataset=csv", *overrides]).dataset
    rule = model.load(model.place(Path(named[0])))
    predicted = predict.predict(rule, named[1], spec)
    predict.write(predicted, flags.out, lambda note: print(note, file=sys.stderr))
    if flags.out != predict.STANDARD:
        print(f"wrote {counted(len(predicted.rows), 'row')} to {flags.out}", file=sys.stderr)
    return 0


VERB = Verb(
    Group.MODELS,
    "A rule's answer for every row of a table, and how often such answers were right.",
    "MODEL TABLE [--out FILE] [dataset.separator=... dataset.decimal=...]",
    ("predict my_rule/model.json new.csv --out answers.csv",),
    main,
    add_arguments,
)
