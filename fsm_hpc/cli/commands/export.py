"""The command export: a rule as code that stands alone."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fsm_hpc.cli.usage import Command, Group
from fsm_hpc.errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from fsm_hpc.models.exporters import FORMATS
    from fsm_hpc.models.exporters.dialects import DIALECTS

    parser.add_argument("--to", choices=FORMATS, required=True, help="what the rule is written in")
    parser.add_argument(
        "--dialect",
        choices=DIALECTS,
        help="of --to sql; ansi, the default, is for SQLite, DuckDB and PostgreSQL",
    )
    parser.add_argument(
        "--table",
        metavar="FILE",
        help="of --to excel; refer to the cells of this table, whose header is in row 1",
    )


def main(flags: argparse.Namespace, arguments: list[str]) -> int:
    """Print the rule in a language."""
    from fsm_hpc.models import model
    from fsm_hpc.models.exporters import export

    if len(arguments) != 1:
        raise UserError(f"expected one model.json, found: {' '.join(arguments) or 'none'}")
    rule = model.load(model.place(Path(arguments[0])))
    header = None if flags.table is None else _header(flags.table)
    written = export(rule, flags.to, flags.dialect, header)
    if isinstance(written, bytes):
        _write_binary(written)
    else:
        print(written.rstrip("\n"))
    return 0


def _write_binary(content: bytes) -> None:
    if sys.stdout.isatty():
        raise UserError("this format is binary; redirect it into a file with > FILE")
    sys.stdout.buffer.write(content)


def _header(table: str) -> list[str]:
    """The columns of a table, in their order."""
    from fsm_hpc.models.predict import read
    from fsm_hpc.study.compose import compose_any

    return list(read(table, compose_any(["dataset=csv"]).dataset).columns)


COMMAND = Command(
    Group.MODELS,
    "A rule as code that stands alone: SQL, Python, Excel, JavaScript, R, PMML, ONNX, JSON, LaTeX.",
    "MODEL --to LANGUAGE [--dialect NAME] [--table FILE]",
    (
        "export my_rule/model.json --to sql --dialect mysql",
        "export my_rule/model.json --to excel --table my.csv",
        "export my_rule/model.json --to pmml",
    ),
    main,
    add_arguments,
)
