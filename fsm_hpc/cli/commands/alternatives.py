"""The command alternatives: list all formulas that are almost as good as a rule."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fsm_hpc.cli import options
from fsm_hpc.cli.usage import CTRL_C, Command, Group, option
from fsm_hpc.errors import UserError

if TYPE_CHECKING:
    from fsm_hpc.report.alternatives.rule import FittedRule
    from fsm_hpc.report.alternatives.summary import AlternativesSummary
    from fsm_hpc.search.near_optimal.rashomon import RashomonSet
    from fsm_hpc.search.solvers.nodes.team import Team

SLACK = "0.01"
OWN = ("slack", "bound", "class", "cluster.nodes")
MOST_FAMILIES = 100_000
MOST_LENGTH = 15
MOST_NODES = 10_000


def main(flags: argparse.Namespace, arguments: list[str]) -> int:
    """Print or write the set; 0 if it is complete, 1 if the time limit ended the search."""
    from fsm_hpc.cluster.node import nodes
    from fsm_hpc.report.alternatives import rule
    from fsm_hpc.search.near_optimal.compiling import ensure_compiled
    from fsm_hpc.system import machine

    expected = "one model.json or result.json"
    (path,), overrides = options.files_and_overrides(arguments, expected)
    query = _query(overrides)
    folder = (Path(path) if Path(path).is_dir() else Path(path).parent).absolute()
    tasks = nodes.tasks_here()
    count = max(query.nodes, tasks)
    local = 1 if tasks > 1 else query.nodes
    threads = flags.threads or max(1, machine.available_cores() // local)
    if count > 1 and nodes.is_helper():
        nodes.help_command(folder, threads)
        return 0
    fitted = rule.read_rule(Path(path), query.others, query.label)
    ensure_compiled()  # before the time limit starts
    with nodes.team_of_command(count, threads, folder) as team:
        return _search(flags, fitted, query, threads, team)


def _search(
    flags: argparse.Namespace, fitted: FittedRule, query: _Query, threads: int, team: Team | None
) -> int:
    from fsm_hpc.report.alternatives import find, summary
    from fsm_hpc.search.near_optimal.rashomon import NotProvedError, ResourceLimits
    from fsm_hpc.search.solvers.base import Control
    from fsm_hpc.system import clock, interrupts

    deadline = None if flags.seconds is None else clock.monotonic() + flags.seconds
    with interrupts.graceful_interrupt() as stop:
        limits = ResourceLimits(threads, Control(deadline=deadline, stop=stop), team)
        try:
            given = (query.slack, query.bound, limits, flags.most)
            good = find.find(fitted, *given, _note, _Stream())
        except NotProvedError:
            if not stop.is_set():
                raise
            _note("stopped before the optimum was proved")
            return CTRL_C
        if stop.is_set() and not good.is_complete:
            _note(f"stopped at {good.count:,} formulas; run the same command again to continue")
            return CTRL_C
    _write(flags, summary.summarize(fitted, good, ResourceLimits(threads, helpers=team)))
    find.checkpoint_of(fitted).remove(good)
    return 0 if good.is_complete else 1


def _note(text: str) -> None:
    print(text, file=sys.stderr)


class _Stream:
    """Prints the best families during the search, each once its rank is final."""

    def __init__(self) -> None:
        self._printed = 0

    def __call__(self, rashomon: RashomonSet) -> None:
        from fsm_hpc.report.alternatives.summary import SHOWN

        for family in rashomon.first_families[self._printed : SHOWN]:
            _note(f"{family.errors} errors, size {family.size}: {family.formula}")
            self._printed += 1


@dataclass(frozen=True)
class _Query:
    """The settings of this command, and those that locate the table."""

    slack: str
    bound: int | None
    label: str | None  # the class, if there are more than two
    nodes: int
    others: list[str]


def _query(overrides: list[str]) -> _Query:
    from fsm_hpc.study import keys
    from fsm_hpc.study.override_syntax import key_of

    keys.check_used(overrides, [*OWN, *keys.OF_TABLE], "alternatives")
    own = {key_of(text): text.partition("=")[2] for text in overrides if key_of(text) in OWN}
    others = [text for text in overrides if key_of(text) not in OWN]
    bound = _number("bound", own["bound"], MOST_LENGTH) if "bound" in own else None
    nodes = _number("cluster.nodes", own.get("cluster.nodes", "1"), MOST_NODES)
    return _Query(own.get("slack", SLACK), bound, own.get("class"), nodes, others)


def _number(key: str, text: str, most: int) -> int:
    if not (text.isdigit() and 0 < int(text) <= most):
        raise UserError(f"{key}: expected a whole number from 1 to {most}, found {text}")
    return int(text)


def _write(flags: argparse.Namespace, alternatives: AlternativesSummary) -> None:
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
    "List all near-optimal rules (Rashomon set) of a rule.",
    "MODEL|RESULT [key=value ...] [--json] [--csv FILE] [--page FILE] [options]",
    (
        "alternatives my_rule/model.json slack=0.01",
        "alternatives my_rule/model.json class=setosa --page setosa.html",
        "alternatives results/demo/bank/pivot/fold-0 slack=5 --page alternatives.html",
    ),
    main,
    (
        options.JSON,
        option("--csv FILE", "write one family per line", type=Path),
        option("--page FILE", "write an interactive HTML page", type=Path),
        option("--threads N", "number of threads (default: all cores)", type=int),
        option("--seconds S", "time limit; the same command continues", type=float),
        option(
            "--most N",
            f"largest number of families (default: {MOST_FAMILIES:,})",
            type=int,
            default=MOST_FAMILIES,
        ),
    ),
    {
        "slack=NUMBER": "additional errors: below 1 a share of the rows, else a number of errors "
        f"(default: {SLACK})",
        "bound=LENGTH": "largest formula length (default: that of the rule)",
        "class=NAME": "the class, if the target has more than two",
        "cluster.nodes=N": "processes that share the search (default: 1)",
        "dataset.path=FILE": "the table, if it has moved",
    },
)
