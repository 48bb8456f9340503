"""The verb status: where every fold and every rule stands."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence

from fsm_hpc.cli import options
from fsm_hpc.cli.usage import Group, Verb
from fsm_hpc.cluster import arrays
from fsm_hpc.cluster.schedulers.base import JobReport
from fsm_hpc.cluster.watch import columns, cost, show
from fsm_hpc.cluster.watch.fold_files import FoldRef
from fsm_hpc.cluster.watch.rules import RuleStatus, rule_states
from fsm_hpc.cluster.watch.selection import select_with_rules
from fsm_hpc.cluster.watch.states import FoldStatus, Status, check_code, fold_states
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.system import terminal

WATCH_S = 2.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-w", "--watch", action="store_true", help="refresh until nothing runs")
    parser.add_argument(
        "--failed",
        action="store_true",
        help="only what will not come to an end by themselves",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="exit with 0 when all are done, 1 while some are not, 2 when some failed",
    )
    options.json_flag(parser)


def main(flags: argparse.Namespace, overrides: list[str]) -> int:
    """Print the state of every fold and rule, once or until nothing runs."""
    standing = Standing(*select_with_rules(overrides))
    if flags.watch and not flags.json:
        _watch(standing, flags)
    else:
        _once(standing, flags)
    return check_code(standing.all) if flags.check else 0


class Standing:
    """The folds and rules that are looked at, and what they have come to."""

    def __init__(self, folds: Sequence[FoldRef], rules: Sequence[FoldRef]) -> None:
        self._folds, self._rules = folds, rules
        self.statuses: list[FoldStatus] = []
        self.rule_statuses: list[RuleStatus] = []

    def look(self) -> Iterator[JobReport]:
        self.rule_statuses, reports = rule_states(self._rules)
        yield from reports
        self.statuses, reports = fold_states(self._folds)
        yield from reports

    @property
    def studies(self) -> list[StudyPaths]:
        return list(dict.fromkeys(ref.paths.study for ref in self._folds))

    @property
    def is_live(self) -> bool:
        return any(one.is_live for one in self.all)

    @property
    def all(self) -> list[Status]:
        return [*self.rule_statuses, *self.statuses]

    def chosen(self, flags: argparse.Namespace) -> tuple[list[RuleStatus], list[FoldStatus]]:
        """All of them, or what will not come to an end by itself."""
        if not flags.failed:
            return self.rule_statuses, self.statuses
        failed_rules = [one for one in self.rule_statuses if one.is_failed]
        return failed_rules, [one for one in self.statuses if one.is_failed]


def _once(standing: Standing, flags: argparse.Namespace) -> None:
    reports = list(standing.look())
    rules, folds = standing.chosen(flags)
    if flags.json:
        told = [columns.to_dict(one) for one in folds] + [one.to_dict() for one in rules]
        print(json.dumps(told, indent=1))
        return
    console = terminal.console()
    show.silence(console, reports)
    for text in arrays.unreadable(standing.studies):
        console.print(text, soft_wrap=True)
    show.rules(console, rules)
    if folds or not rules:
        show.folds(console, folds)
    if hours := cost.told(folds):
        console.print(hours, soft_wrap=True)


def _watch(standing: Standing, flags: argparse.Namespace) -> None:
    """Refresh until nobody works on the folds, or Ctrl-C."""
    from rich.live import Live

    console = terminal.console()
    try:
        with Live(console=console, auto_refresh=False, vertical_overflow="visible") as live:
            while True:
                list(standing.look())
                live.update(show.overview(*standing.chosen(flags), console.height), refresh=True)
                if not standing.is_live:
                    break
                time.sleep(WATCH_S)
    except KeyboardInterrupt:
        pass


VERB = Verb(
    Group.STEER,
    "Where every fold stands, and every rule that is fitted.",
    "[study=NAME] [dataset=NAME] [method=NAME] [fold=K] [out=FOLDER] [-w] [--check] [--failed] "
    "[--json]",
    (
        "status -w",
        "status study=paper dataset=bank,hepatitis --check",
        "status out=my_rule",
    ),
    main,
    add_arguments,
)
