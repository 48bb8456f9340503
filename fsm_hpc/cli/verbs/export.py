"""The verb export: a rule as code that stands alone."""

from __future__ import annotations

import argparse
from pathlib import Path

from fsm_hpc.cli.usage import Group, Verb
from fsm_hpc.errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from fsm_hpc.models.exporters import FORMATS

    parser.add_argument("--to", choices=FORMATS, required=True, help="what the rule is written in")


def main(flags: argparse.Namespace, words: list[str]) -> int:
    """Print the rule in a language."""
    from fsm_hpc.models import model, several
    from fsm_hpc.models.exporters import export

    if len(words) != 1:
        raise UserError(f"expected one model.json, found: {' '.join(words) or 'none'}")
    print(export(several.load(model.place(Path(words[0]))), flags.to).rstrip("\n"))
    return 0


VERB = Verb(
    Group.MODELS,
    "A rule as code that stands alone: SQL, Python, Excel, JavaScript, JSON, LaTeX, text.",
    "MODEL --to LANGUAGE",
    ("export my_rule/model.json --to sql",),
    main,
    add_arguments,
)
