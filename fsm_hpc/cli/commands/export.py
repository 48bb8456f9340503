"""The command export: write a rule as standalone code."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fsm_hpc.cli.usage import Command, Group, option
from fsm_hpc.errors import UserError
from fsm_hpc.models.exporters import FORMATS
from fsm_hpc.models.exporters.dialects import DIALECTS


def main(flags: argparse.Namespace, arguments: list[str]) -> int:
    """Print the rule in the output format."""
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
        raise UserError("this format is binary: redirect the output to a file with > FILE")
    sys.stdout.buffer.write(content)


def _header(table: str) -> list[str]:
    """The column names of a table, in their order."""
    from fsm_hpc.models.predict import read
    from fsm_hpc.study.compose import compose_any

    return list(read(table, compose_any(["dataset=csv"]).dataset).columns)


COMMAND = Command(
    Group.MODELS,
    "Write a rule as SQL, Python, Excel, JavaScript, R, PMML, ONNX, ...",
    "MODEL --to FORMAT [--dialect NAME] [--table FILE]",
    (
        "export my_rule/model.json --to sql --dialect mysql",
        "export my_rule/model.json --to excel --table my.csv",
        "export my_rule/model.json --to pmml",
    ),
    main,
    (
        option("--to", "the output format", choices=FORMATS, required=True),
        option(
            "--dialect",
            "SQL dialect, with --to sql (default: ansi, for SQLite, DuckDB and PostgreSQL)",
            choices=DIALECTS,
        ),
        option(
            "--table FILE",
            "with --to excel: refer to the cells of this table, with its header in row 1",
        ),
    ),
)
