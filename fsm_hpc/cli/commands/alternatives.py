"""The command alternatives: all formulas that are about as good as a rule."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fsm_hpc.cli import options
from fsm_hpc.cli.usage import Command, Group
from fsm_hpc.errors import UserError

if TYPE_CHECKING:
    from fsm_hpc.report.alternatives.rule import FittedRule
    from fsm_hpc.report.alternatives.summary import AlternativesSummary
    from fsm_hpc.search.near_optimal.rashomon import RashomonSet
    from fsm_hpc.search.solvers.nodes.team import Team

SLACK = "0.01"
OWN = ("slack", "bound", "class", "cluster.nodes")
CTRL_C = 130  # the exit code that shells know it by
MOST_FAMILIES = 100_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.json_flag(parser)
    parser.add_argument("--csv", type=Path, metavar="FILE", help="one family a line")
    parser.add_argument("--page", type=Path, metavar="FILE", help="a page to explore them on")
    parser.add_argument("--threads", type=int, help="all cores when not given")
    parser.add_argument("--seconds", type=float, help="end after so long; it goes on later")
    parser.add_argument(
        "--most", type=int, default=MOST_FAMILIES, help=f"families ({MOST_FAMILIES:,})"
    )


def main(flags: argparse.Namespace, arguments: list[str]) -> int:
    """Print the set, or write it; 0 when it is complete, 1 when it was cut short."""
    from fsm_hpc.cluster.node import nodes
    from fsm_hpc.report.alternatives import rule
    from fsm_hpc.search.near_optimal.compiling import ensure_compiled
    from fsm_hpc.system import machine

    expected = "one model.json or result.json"
    (named,), overrides = options.files_and_overrides(arguments, expected)
    asked = _asked(overrides)
    count = max(asked.nodes, nodes.tasks_here())
    here = 1 if nodes.tasks_here() > 1 else asked.nodes
    threads = flags.threads or max(1, machine.available_cores() // here)
    if count > 1 and nodes.is_helper():
        nodes.help_command(_folder(Path(named)), threads)
        return 0
    known = rule.read_rule(Path(named), asked.others, asked.label)
    ensure_compiled()  # before any clock runs
    with nodes.team_of_command(count, threads, _folder(Path(named))) as team:
        return _tell(flags, known, asked, threads, team)


def _folder(named: Path) -> Path:
    """The folder of the rule, which all nodes see."""
    return (named if named.is_dir() else named.parent).absolute()


def _tell(
    flags: argparse.Namespace, known: FittedRule, asked: _Asked, threads: int, team: Team | None
) -> int:
    from fsm_hpc.report.alternatives import find, summary
    from fsm_hpc.search.near_optimal.rashomon import NotProvedError, ResourceLimits
    from fsm_hpc.search.solvers.base import Control
    from fsm_hpc.system import clock, interrupts

    deadline = None if flags.seconds is None else clock.monotonic() + flags.seconds
    with interrupts.graceful_interrupt() as wish:
        means = ResourceLimits(threads, Control(deadline=deadline, stop=wish), team)
        try:
            good = find.find(known, asked.slack, asked.bound, means, flags.most, _note, _Stream())
        except NotProvedError:
            if not wish.is_set():
                raise
            _note("stopped before the optimum was proved")
            return CTRL_C
        if wish.is_set() and not good.is_complete:
            _note(f"stopped at {good.count:,} formulas; the same command goes on")
            return CTRL_C
    _give(flags, summary.summarize(known, good, ResourceLimits(threads, helpers=team)))
    find.checkpoint_of(known).remove(good)
    return 0 if good.is_complete else 1


def _note(text: str) -> None:
    print(text, file=sys.stderr)


class _Stream:
    """Prints the best families while the search goes on, each once it has its final rank."""

    def __init__(self) -> None:
        self._printed = 0

    def __call__(self, rashomon: RashomonSet) -> None:
        from fsm_hpc.report.alternatives.summary import SHOWN

        for family in rashomon.first_families[self._printed : SHOWN]:
            _note(f"{family.errors} errors, size {family.size}: {family.formula}")
            self._printed += 1


@dataclass(frozen=True)
class _Asked:
    """The overrides of this command, and those that say where the table is."""

    slack: str
    bound: int | None
    label: str | None  # the class whose rule is meant, of more than two
    nodes: int
    others: list[str]


def _asked(overrides: list[str]) -> _Asked:
    """slack=, bound=, class= and cluster.nodes=, and the overrides that say where the table is."""
    from fsm_hpc.study import keys
    from fsm_hpc.study.override_syntax import key_of

    keys.check_used(overrides, [*OWN, *keys.OF_TABLE], "alternatives")
    own = {key_of(one): one.partition("=")[2] for one in overrides if key_of(one) in OWN}
    others = [one for one in overrides if key_of(one) not in OWN]
    bound, count = own.get("bound"), own.get("cluster.nodes", "1")
    if bound is not None and not (bound.isdigit() and 0 < int(bound) <= 15):
        raise UserError(f"bound: expected a size from 1 to 15, found {bound}")
    if not (count.isdigit() and int(count) > 0):
        raise UserError(f"cluster.nodes: expected a number from 1 on, found {count}")
    size = None if bound is None else int(bound)
    return _Asked(own.get("slack", SLACK), size, own.get("class"), int(count), others)


def _give(flags: argparse.Namespace, alternatives: AlternativesSummary) -> None:
    import json

    from fsm_hpc.report.alternatives import page, summary
    from fsm_hpc.system.files import write_atomically

    if flags.csv is not None:
        write_atomically(flags.csv, summary.as_csv(alternatives))
    if flags.page is not None:
        write_atomically(flags.page, page.render(alternatives))
    if flags.json:
        print(json.dumps(alternatives.to_dict(), indent=2))
    else:
        print("\n".join(summary.lines(alternatives)))


COMMAND = Command(
    Group.MODELS,
    "All formulas that are about as good as a rule, complete and counted.",
    "MODEL|RESULT [slack=0.01] [bound=N] [class=NAME] [--json] [--csv FILE] [--page FILE] "
    "[dataset.path=FILE] [cluster.nodes=N]",
    (
        "alternatives my_rule/model.json slack=0.01",
        "alternatives my_rule/model.json class=setosa --page setosa.html",
        "alternatives results/demo/bank/pivot/fold-0 slack=5 --page alternatives.html",
    ),
    main,
    add_arguments,
)
