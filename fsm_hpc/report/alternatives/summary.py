"""A summary of the alternatives of a rule, as data, text and CSV."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from fsm_hpc.formulas.formula import Formula
from fsm_hpc.formulas.text import number
from fsm_hpc.report.alternatives.rule import FittedRule
from fsm_hpc.search.near_optimal.analysis import (
    ColumnPrice,
    FreeRange,
    ambiguous,
    column_prices,
    discrepancy,
    free_ranges,
)
from fsm_hpc.search.near_optimal.families import Family
from fsm_hpc.search.near_optimal.rashomon import RashomonSet, ResourceLimits
from fsm_hpc.search.solvers import make_solver
from fsm_hpc.search.solvers.names import SolverName
from fsm_hpc.system import cells
from fsm_hpc.system.numbers import counted, percent

SHOWN = 20  # families and columns in a terminal; files contain all


@dataclass(frozen=True)
class AlternativesSummary:
    """A rule, its Rashomon set, and its properties for rows, columns and thresholds."""

    rule: FittedRule
    rashomon: RashomonSet
    ambiguous: int  # rows where some member and the rule differ
    differing: tuple[int, Formula] | None  # the member that differs on most rows
    columns: tuple[ColumnPrice, ...]
    free: tuple[FreeRange, ...]

    def to_dict(self) -> dict[str, Any]:
        content = self.rashomon.to_dict()
        for family, row in zip(self.rashomon.families, content["families"], strict=True):
            row["held_out_accuracy"] = self.held_out(family)
        rows = self.rule.problem.rows
        return content | {
            "formula": str(self.rule.formula),
            "rows": rows,
            "yes": self.rashomon.yes.tolist(),
            "ambiguity": self.ambiguous / rows,
            "discrepancy": self.differing[0] / rows if self.differing else None,
            "most_different": str(self.differing[1]) if self.differing else None,
            "prices": [asdict(column) for column in self.columns],
            "free_cuts": [asdict(free) for free in self.free],
        }

    def held_out(self, family: Family) -> float | None:
        """The accuracy of the best member of a family on held-out rows."""
        test = self.rule.held_out
        return None if test is None or not test.rows else test.accuracy(family.formula)


def summarize(
    rule: FittedRule, rashomon: RashomonSet, limits: ResourceLimits
) -> AlternativesSummary:
    """Summarize rows, columns and thresholds; the price of a required column needs a search."""
    truth = rule.formula.evaluate(rule.problem.table)
    with closing(make_solver(SolverName.NATIVE, limits.threads, limits.helpers)) as solver:
        prices = tuple(column_prices(rashomon, solver, limits.control))
    return AlternativesSummary(
        rule,
        rashomon,
        int(np.count_nonzero(ambiguous(rashomon, truth))),
        discrepancy(rashomon, truth),
        prices,
        tuple(free_ranges(rule.problem, rule.formula)),
    )


def lines(summary: AlternativesSummary) -> Iterator[str]:
    """The summary as text: the set, its first families, and its properties."""
    rashomon = summary.rashomon
    families = counted(len(rashomon.families), "family", "families")
    yield (
        f"bound {rashomon.bound}, optimum {counted(rashomon.optimum, 'error')}, "
        f"slack {rashomon.slack}: {counted(rashomon.count, 'formula')} in {families}"
    )
    yield from missing(rashomon)
    yield ""
    yield from _families(summary)
    yield ""
    rows = summary.rule.problem.rows
    yield (
        f"ambiguity {percent(summary.ambiguous / rows)}: {counted(summary.ambiguous, 'row')} "
        f"of {rows} for which an alternative predicts another class"
    )
    if summary.differing is not None and summary.differing[0]:
        count, formula = summary.differing
        yield (
            f"discrepancy {percent(count / rows)}: {counted(count, 'row')} with another "
            f"prediction by one alternative, {formula}"
        )
    yield from _columns(summary)
    for one in summary.free:
        end = "" if one.end == "cut" else f" ({one.end} end)"
        yield (
            f"{one.column}{end} can have thresholds from {number(one.least)} to "
            f"{number(one.greatest)} without more errors"
        )


def missing(rashomon: RashomonSet) -> Iterator[str]:
    """The sizes that an incomplete set has not finished."""
    if rashomon.is_complete:
        return
    sizes = rashomon.space.sizes_of(rashomon.progress.left)
    slack = rashomon.space.searched_slack(rashomon.progress.left)
    limit = "the limit on families" if rashomon.progress.is_full else "the time limit"
    yield (
        f"NOT complete: {limit} was reached before all functions of size "
        f"{', '.join(map(str, sizes))} were searched; the same command resumes the search"
    )
    if slack is not None:
        yield f"complete up to {counted(rashomon.optimum + slack, 'error')}"


def _families(summary: AlternativesSummary) -> Iterator[str]:
    yield f"{'errors':>6} {'size':>4} {'formulas':>9}  best member"
    for family in summary.rashomon.families[:SHOWN]:
        yield f"{family.errors:6} {family.size:4} {family.count:9}  {family.formula}"
        ranges = ranges_in_words(family)
        if ranges:
            yield f"{'':21}  {ranges}"
    more = len(summary.rashomon.families) - SHOWN
    if more > 0:
        count = counted(more, "more family", "more families")
        yield f"{count}: --json, --csv FILE or --page FILE has all"


def ranges_in_words(family: Family) -> str:
    """`age from 29 to 33; chol from 200 to 210, up to 300 to 310`."""
    texts = []
    for column, ends in family.thresholds.items():
        bounds = [f"{number(low)} to {number(high)}" for low, high in ends]
        texts.append(f"{column} from {', up to '.join(bounds)}")
    return "; ".join(texts)


def _columns(summary: AlternativesSummary) -> Iterator[str]:
    shown = summary.columns[:SHOWN]
    if not shown:
        return
    yield ""
    width = max(len("column"), *(len(one.column) for one in shown))
    yield f"{'column':{width}}  {'price':>6}  {'families':>8}   (price: more errors without it)"
    for one in shown:
        price = "?" if one.price is None else str(one.price)
        yield f"{one.column:{width}}  {price:>6}  {percent(one.share):>8}"
    more = len(summary.columns) - SHOWN
    if more > 0:
        yield f"{counted(more, 'more column')}: --json has all"
    if any(one.price is None for one in shown):
        yield "?: the best formula without the column was not proved in time"
    yield ""


def as_csv(summary: AlternativesSummary) -> str:
    """One family a line."""
    header = ["formula", "size", "errors", "count", "columns", "cuts", "held_out_accuracy"]
    return cells.write(header, (_csv_line(summary, family) for family in summary.rashomon.families))


def _csv_line(summary: AlternativesSummary, family: Family) -> list[Any]:
    accuracy = summary.held_out(family)
    return [
        str(family.formula),
        family.size,
        family.errors,
        family.count,
        " ".join(family.columns),
        ranges_in_words(family),
        "" if accuracy is None else accuracy,
    ]
