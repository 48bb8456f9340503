"""The command init: write a small commented study configuration."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

from fsm_hpc.cli.usage import Command, Group, option
from fsm_hpc.errors import UserError

_EXAMPLE = "heart_disease"  # where no table is given
_STUDY = """\
# @package _global_
# The study {name}: ten-fold cross-validation of every method below, on the same folds.
#   run:     {command} -m
#   status:  python -m fsm_hpc status study={name}
#   tables:  python -m fsm_hpc collect study={name}
# Set any setting here or on the command line, for instance folds=5; --cfg job lists them.
defaults:
  - override /dataset: {dataset}
  - override /method: pivot
  # - override /objective: balanced   # balanced accuracy: both classes have the same weight

study: {name}                # folder of the results, in results/
{table}
folds: 10
seed: 42

scan:
  max_length: 6             # largest formula length
  budget_h: 0.1             # hours per fold to choose the length

final:
  budget_h: 0.1             # hours per fold for the formula of that length

hydra:
  sweeper:
    params:
      method: pivot,tree    # pivot, interval and median find formulas; tree is a baseline
"""
_TABLE = """
dataset:
  path: {path}
  target: {target}
  # positive: VALUE         # the class that the formula predicts
  # drop: [id]              # columns to ignore
"""


def main(flags: argparse.Namespace, arguments: list[str]) -> int:
    """Write experiment/NAME.yaml into the config folder, and print how to run it."""
    if len(arguments) != 1 or not re.fullmatch(r"[A-Za-z]\w*", arguments[0]):
        found = " ".join(arguments) or "none"
        raise UserError(
            f"expected one name of letters, digits and underscores, such as `init my_study`, "
            f"found: {found}"
        )
    if (flags.table is None) != (flags.target is None):
        raise UserError("expected --table FILE and --target COLUMN together, found only one")
    folder = Path(flags.config_dir or "conf")
    path = folder / "experiment" / f"{arguments[0]}.yaml"
    if path.exists():
        raise UserError(f"{path} exists already: choose another name or remove the file")
    command = f"python -m fsm_hpc --config-dir {shlex.quote(str(folder))} +experiment={path.stem}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_content(path.stem, command, flags.table, flags.target), encoding="utf-8")
    print(f"wrote {path}; edit it, then run\n  {command} -m")
    return 0


def _content(name: str, command: str, table: str | None, target: str | None) -> str:
    if table is None:
        return _STUDY.format(name=name, command=command, dataset=_EXAMPLE, table="")
    if not Path(table).is_file():
        raise UserError(f"--table: there is no file {table}")
    own = _TABLE.format(path=_quoted(str(Path(table).absolute())), target=_quoted(str(target)))
    return _STUDY.format(name=name, command=command, dataset="csv", table=own)


def _quoted(text: str) -> str:
    """A YAML string, in which `${` is no interpolation."""
    return "'" + text.replace("'", "''").replace("${", "\\${") + "'"


COMMAND = Command(
    Group.RUN,
    "Write a small commented study configuration.",
    "NAME [--table FILE --target COLUMN]",
    ("init my_study", "init my_study --table my.csv --target label"),
    main,
    (
        option("--table FILE", "CSV, Parquet or Excel file"),
        option("--target COLUMN", "the column of --table to predict"),
    ),
)
