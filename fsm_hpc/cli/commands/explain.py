"""The command explain: a formula as a sentence, and the prediction of a row."""

from __future__ import annotations

import argparse
from pathlib import Path

from fsm_hpc.cli import options
from fsm_hpc.cli.usage import Command, Group, option


def main(flags: argparse.Namespace, arguments: list[str]) -> int:
    """Print the formula as a sentence and, with --row, the reason for a prediction."""
    from fsm_hpc.models import model
    from fsm_hpc.report import explain
    from fsm_hpc.study import keys

    expected = "one model.json, result.json or folder of a fold"
    (named,), overrides = options.files_and_overrides(arguments, expected)
    path = explain.result_path(Path(named))
    keys.check_used(overrides, keys.OF_TABLE, "explain")
    if model.is_model(path):
        return _explain_model(path, flags.row, overrides)
    done = explain.load(path)
    print(f"{done.id}: {done.formula}")
    print(done.words)
    if flags.row is not None:
        dataset = explain.table_of(path, done, overrides)
        print("\n" + "\n".join(explain.on_row(done, dataset, flags.row)))
    return 0


def _explain_model(path: Path, row: int | None, overrides: list[str]) -> int:
    from fsm_hpc.models import model
    from fsm_hpc.report import explain

    known = model.load(path)
    for rule in known.rules:
        print(f"{known.target} = {rule.prediction}: {rule.formula}")
    print(known.words)
    if row is not None:
        print("\n" + "\n".join(explain.of_model(path, known, overrides, row)))
    return 0


COMMAND = Command(
    Group.MODELS,
    "Print a rule as a sentence; with --row, explain one prediction.",
    "MODEL|RESULT [--row N] [key=value ...]",
    ("explain my_rule/model.json --row 17", "explain results/demo/bank/pivot/fold-0 --row 17"),
    main,
    (option("--row N", "number of the row, from 0; dropped rows do not count", type=int),),
    {
        "dataset.path=FILE": "the table, if it has moved",
        "data_dir=FOLDER": "the folder of your own copies of the datasets",
    },
)
