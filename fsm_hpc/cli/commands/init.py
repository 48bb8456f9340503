"""The command init: a small commented study configuration to start from."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

from fsm_hpc.cli.usage import Command, Group
from fsm_hpc.errors import UserError

_EXAMPLE = "heart_disease"  # where no table is given
_STUDY = """\
# @package _global_
# The study {name}: ten folds of every method below, each compared on the same rows.
#   run it:      {command} -m
#   look at it:  python -m fsm_hpc status study={name}
#   its tables:  python -m fsm_hpc collect study={name}
# Every setting can stand here or in the command, as in folds=5: docs/reference/settings.md.
defaults:
  - override /dataset: {dataset}
  - override /method: pivot
  # - override /objective: balanced   # both classes count the same, however rare one is

study: {name}                # the folder of its results, below results/
{table}
folds: 10
seed: 42

scan:
  max_length: 6             # the longest formula to try
  budget_h: 0.1             # hours that the choice of a fold's length may take

final:
  budget_h: 0.1             # hours for the formula of that length

hydra:
  sweeper:
    params:
      method: pivot,tree    # pivot, interval and median find formulas; tree is compared with them
"""
_TABLE = """
dataset:
  path: {path}
  target: {target}
  # positive: VALUE         # the class that the formula predicts
  # drop: [id]              # columns to leave out
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--table", metavar="FILE", help="your CSV, Parquet or Excel file")
    parser.add_argument("--target", metavar="COLUMN", help="the column of --table to predict")


def main(flags: argparse.Namespace, arguments: list[str]) -> int:
    """Write experiment/NAME.yaml into the folder of configs, and say how to run it."""
    if len(arguments) != 1 or not re.fullmatch(r"[A-Za-z]\w*", arguments[0]):
        found = " ".join(arguments) or "none"
        raise UserError(f"expected one name of letters, digits and underscores, found: {found}")
    if (flags.table is None) != (flags.target is None):
        raise UserError("expected --table FILE and --target COLUMN together, found one of them")
    folder = Path(flags.config_dir or "conf")
    path = folder / "experiment" / f"{arguments[0]}.yaml"
    if path.exists():
        raise UserError(f"{path} exists already; choose another name, or remove it")
    command = f"python -m fsm_hpc --config-dir {shlex.quote(str(folder))} +experiment={path.stem}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_content(path.stem, command, flags.table, flags.target), encoding="utf-8")
    print(f"{path} is written; read it, then run\n  {command} -m")
    return 0


def _content(name: str, command: str, table: str | None, target: str | None) -> str:
    if table is None:
        return _STUDY.format(name=name, command=command, dataset=_EXAMPLE, table="")
    if not Path(table).is_file():
        raise UserError(f"--table: there is no file {table}")
    own = _TABLE.format(path=_quoted(str(Path(table).absolute())), target=_quoted(str(target)))
    return _STUDY.format(name=name, command=command, dataset="csv", table=own)


def _quoted(text: str) -> str:
    """Text in YAML; `${` would be an interpolation."""
    return "'" + text.replace("'", "''").replace("${", "\\${") + "'"


COMMAND = Command(
    Group.RUN,
    "Write a small commented study configuration to start from.",
    "NAME [--table FILE --target COLUMN]",
    ("init my_study", "init my_study --table my.csv --target label"),
    main,
    add_arguments,
)
