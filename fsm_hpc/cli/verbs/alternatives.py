"""The verb alternatives: all formulas that are about as good as a rule."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from fsm_hpc.cli.options import json_flag
from fsm_hpc.cli.usage import Group, Verb
from fsm_hpc.errors import UserError

if TYPE_CHECKING:
    from fsm_hpc.report.alternatives.told import Told

SLACK = "0.01"
MOST_FAMILIES = 100_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    json_flag(parser)
    parser.add_argument("--csv", type=Path, metavar="FILE", help="one family a line")
    parser.add_argument("--page", type=Path, metavar="FILE", help="a page to explore them on")
    parser.add_argument("--threads", type=int, help="all cores when not given")
    parser.add_argument("--seconds", type=float, help="end after so long; it goes on later")
    parser.add_argument(
        "--most", type=int, default=MOST_FAMILIES, help=f"families ({MOST_FAMILIES:,})"
    )


def main(flags: argparse.Namespace, words: list[str]) -> int:
    """Print the set, or write it; 0 when it is complete, 1 when it was cut short."""
    from fsm_hpc.report.alternatives import find, rule, told
    from fsm_hpc.search.near_optimal.compiling import ensure_compiled
    from fsm_hpc.search.solvers.base import Control
    from fsm_hpc.system import clock, machine

    named = [word for word in words if "=" not in word or Path(word).exists()]
    if len(named) != 1:
        found = ", ".join(named) or "none"
        raise UserError(f"expected one model.json or result.json, found: {found}")
    slack, bound, others = _own_words([word for word in words if word not in named])
    known = rule.read_rule(Path(named[0]), others)
    threads = flags.threads or machine.available_cores()
    ensure_compiled()  # before the clock runs
    deadline = None if flags.seconds is None else clock.monotonic() + flags.seconds
    good = find.find(known, slack, bound, threads, Control(deadline=deadline), flags.most)
    said = told.tell(known, good, threads, Control())
    _give(flags, said)
    return 0 if good.is_complete else 1


def _own_words(words: list[str]) -> tuple[str, int | None, list[str]]:
    """slack= and bound=, and the words that say where the table is."""
    own = dict(word.split("=", 1) for word in words if word.startswith(("slack=", "bound=")))
    bound = own.get("bound")
    if bound is not None and not (bound.isdigit() and 0 < int(bound) <= 15):
        raise UserError(f"bound: expected a size from 1 to 15, found {bound}")
    others = [word for word in words if not word.startswith(("slack=", "bound="))]
    return own.get("slack", SLACK), None if bound is None else int(bound), others


def _give(flags: argparse.Namespace, said: Told) -> None:
    import json

    from fsm_hpc.report.alternatives import page, told
    from fsm_hpc.system.files import write_atomically

    if flags.csv is not None:
        write_atomically(flags.csv, told.as_csv(said))
    if flags.page is not None:
        write_atomically(flags.page, page.render(said))
    if flags.json:
        print(json.dumps(said.to_dict(), indent=2))
    else:
        print("\n".join(told.lines(said)))


VERB = Verb(
    Group.MODELS,
    "All formulas that are about as good as a rule, complete and counted.",
    "MODEL|RESULT [slack=0.01] [bound=N] [--json] [--csv FILE] [--page FILE] [dataset.path=FILE]",
    (
        "alternatives my_rule/model.json slack=0.01",
        "alternatives results/demo/bank/pivot/fold-0 slack=5 --page alternatives.html",
    ),
    main,
    add_arguments,
)
