"""The verb explain: a formula as a sentence, and why a row gets its answer."""

from __future__ import annotations

import argparse
from pathlib import Path

from fsm_hpc.cli.usage import Group, Verb
from fsm_hpc.errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--row", type=int, help="row of the table, from 0, without dropped rows")


def main(flags: argparse.Namespace, words: list[str]) -> int:
    """Print the formula as a sentence and, with --row, why a row gets its answer."""
    from fsm_hpc.models import model, several
    from fsm_hpc.report import explain
    from fsm_hpc.study import keys

    named = [word for word in words if "=" not in word or Path(word).exists()]
    if len(named) != 1:
        found = ", ".join(named) or "none"
        raise UserError(f"expected one result.json, or the folder of a fold, found: {found}")
    path = explain.result_path(Path(named[0]))
    overrides = [word for word in words if word not in named]
    keys.check_used(overrides, keys.OF_TABLE, "explain")
    if several.is_several(path):
        return _explain_several(path, flags.row)
    if model.is_model(path):
        return _explain_model(path, flags.row, overrides)
    done = explain.load(path)
    print(f"{done.id}: {done.formula}")
    print(done.words)
    if flags.row is not None:
        dataset = explain.table_of(path, done, overrides)
        print("\n" + "\n".join(explain.on_row(done, dataset, flags.row)))
    return 0


def _explain_several(path: Path, row: int | None) -> int:
    from fsm_hpc.models import several
    from fsm_hpc.models.exporters import export
    from fsm_hpc.models.fit_several import needs_two_classes

    if row is not None:
        raise UserError(f"{needs_two_classes(path)} --row {row}")
    print(export(several.load(path), "text"))
    return 0


def _explain_model(path: Path, row: int | None, words: list[str]) -> int:
    from fsm_hpc.models import model
    from fsm_hpc.report import explain

    rule = model.load(path)
    print(f"{rule.target}: {rule.formula}")
    print(rule.words)
    if row is not None:
        dataset = explain.table_of_model(path, rule, words)
        print("\n" + "\n".join(explain.of_model(rule, dataset, row)))
    return 0


VERB = Verb(
    Group.READ,
    "A formula in words and, with --row, why a row gets its answer.",
    "RESULT|MODEL [--row N] [data_dir=FOLDER | dataset.path=FILE ...]",
    (
        "explain results/demo/bank/pivot/fold-0 --row 17",
        "explain my_rule/model.json --row 17",
    ),
    main,
    add_arguments,
)
