"""The verb export: a rule as code that stands alone."""

from __future__ import annotations

import argparse
from pathlib import Path

from fsm_hpc.cli.usage import Group, Verb
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


def main(flags: argparse.Namespace, words: list[str]) -> int:
    """Print the rule in a language."""
    from fsm_hpc.models import model
    from fsm_hpc.models.exporters import export

    if len(words) != 1:
        raise UserError(f"expected one model.json, found: {' '.join(words) or 'none'}")
    rule = model.load(model.place(Path(words[0])))
    print(export(rule, flags.to, flags.dialect).rstrip("\n"))
    return 0


VERB = Verb(
    Group.MODELS,
    "A rule as code that stands alone: SQL, Python, Excel, JavaScript, JSON, LaTeX, text.",
    "MODEL --to LANGUAGE [--dialect NAME]",
    ("export my_rule/model.json --to sql --dialect mysql",),
    main,
    add_arguments,
)
