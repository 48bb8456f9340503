"""The command predict: predict the class of every row of a table."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fsm_hpc.cli import options
from fsm_hpc.cli.usage import Command, Group, option
from fsm_hpc.system.numbers import counted


def main(flags: argparse.Namespace, arguments: list[str]) -> int:
    """Write the columns of the table, then `prediction` and `training_precision`."""
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
    "Predict the class of every row of a table.",
    "MODEL TABLE [--out FILE] [key=value ...]",
    ("predict my_rule/model.json new.csv --out answers.csv",),
    main,
    (
        option(
            "--out FILE",
            "output file, CSV or Parquet (default: CSV to standard output)",
            default="-",
        ),
    ),
    {
        "dataset.separator=TEXT": "column separator of the table (default: detected)",
        "dataset.decimal=TEXT": "decimal separator of the table (default: detected)",
    },
)
