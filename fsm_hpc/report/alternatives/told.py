"""What a good set tells of a rule, as data for scripts and as lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from fsm_hpc.formulas.formula import Formula
from fsm_hpc.formulas.text import number
from fsm_hpc.report.alternatives.rule import FittedRule
from fsm_hpc.search.near_optimal.families import Family
from fsm_hpc.search.near_optimal.good_set import GoodSet
from fsm_hpc.search.near_optimal.kept import Means
from fsm_hpc.search.near_optimal.telling import (
    ColumnPrice,
    FreeRange,
    ambiguous,
    column_prices,
    discrepancy,
    free_ranges,
)
from fsm_hpc.search.solvers import make_solver
from fsm_hpc.search.solvers.names import SolverName
from fsm_hpc.system import cells
from fsm_hpc.system.numbers import counted, percent

SHOWN = 20  # families and columns in a terminal; files have all


@dataclass(frozen=True)
class Told:
    """A rule, its good set, and what that says of rows, columns and cuts."""

    rule: FittedRule
    good: GoodSet
    ambiguous: int  # rows that some member answers otherwise than the rule
    differing: tuple[int, Formula] | None  # the member that differs on most rows
    columns: tuple[ColumnPrice, ...]
    free: tuple[FreeRange, ...]

    def to_dict(self) -> dict[str, Any]:
        said = self.good.summary()
        for family, one in zip(self.good.families, said["families"], strict=True):
            one["held_out_accuracy"] = self.held_out(family)
        rows = self.rule.problem.rows
        return said | {
            "formula": str(self.rule.formula),
            "rows": rows,
            "yes": self.good.yes.tolist(),
            "ambiguity": self.ambiguous / rows,
            "discrepancy": self.differing[0] / rows if self.differing else None,
            "most_different": str(self.differing[1]) if self.differing else None,
            "prices": [asdict(column) for column in self.columns],
            "free_cuts": [asdict(one) for one in self.free],
        }

    def held_out(self, family: Family) -> float | None:
        """The accuracy of a family's best member on rows that nothing was fitted on."""
        test = self.rule.held_out
        return None if test is None or not test.rows else test.accuracy(family.formula)


def tell(rule: FittedRule, good: GoodSet, means: Means) -> Told:
    """Rows, columns and cuts; the price of a column that all need is searched."""
    truth = rule.formula.evaluate(rule.problem.table)
    with closing(make_solver(SolverName.NATIVE, means.threads, means.helpers)) as solver:
        prices = tuple(column_prices(good, solver, means.control))
    return Told(
        rule,
        good,
        int(np.count_nonzero(ambiguous(good, truth))),
        discrepancy(good, truth),
        prices,
        tuple(free_ranges(rule.problem, rule.formula)),
    )


# ------------------------------------------------------------------------------------ for people


def lines(told: Told) -> Iterator[str]:
    """The set, its first families, and what it tells."""
    good = told.good
    families = counted(len(good.families), "family", "families")
    yield (
        f"bound {good.bound}, optimum {counted(good.optimum, 'error')}, slack {good.slack}: "
        f"{counted(good.count, 'formula')} in {families}"
    )
    yield from missing(good)
    yield ""
    yield from _families(told)
    yield ""
    rows = told.rule.problem.rows
    yield (
        f"ambiguity {percent(told.ambiguous / rows)}: {counted(told.ambiguous, 'row')} of {rows} "
        "that some alternative answers otherwise"
    )
    if told.differing is not None and told.differing[0]:
        count, formula = told.differing
        yield (
            f"discrepancy {percent(count / rows)}: {counted(count, 'row')} on which one "
            f"alternative differs most, {formula}"
        )
    yield from _columns(told)
    for one in told.free:
        end = "" if one.end == "cut" else f" ({one.end} end)"
        yield (
            f"{one.column}{end} may be cut from {number(one.least)} to {number(one.greatest)} "
            "at no loss"
        )


def missing(good: GoodSet) -> Iterator[str]:
    """What a set that was cut short has not looked at."""
    if good.is_complete:
        return
    sizes = good.space.sizes_of(good.progress.left)
    why = "the limit on families" if good.progress.is_full else "the time"
    yield (
        f"NOT complete: {why} ended it; functions of size "
        f"{', '.join(map(str, sizes))} are not searched to their end, so that counts are so far; "
        "the same command goes on"
    )


def _families(told: Told) -> Iterator[str]:
    yield f"{'errors':>6} {'size':>4} {'formulas':>9}  best member"
    for family in told.good.families[:SHOWN]:
        yield f"{family.errors:6} {family.size:4} {family.count:9}  {family.formula}"
        said = ranges_in_words(family)
        if said:
            yield f"{'':21}  {said}"
    more = len(told.good.families) - SHOWN
    if more > 0:
        said = counted(more, "more family", "more families")
        yield f"{said}: --json, --csv FILE or --page FILE has all"


def ranges_in_words(family: Family) -> str:
    """`age from 29 to 33; chol from 200 to 210, up to 300 to 310`."""
    said = []
    for column, ends in family.cuts.items():
        texts = [f"{number(low)} to {number(high)}" for low, high in ends]
        said.append(f"{column} from {', up to '.join(texts)}")
    return "; ".join(said)


def _columns(told: Told) -> Iterator[str]:
    shown = told.columns[:SHOWN]
    if not shown:
        return
    yield ""
    width = max(len("column"), *(len(one.column) for one in shown))
    yield f"{'column':{width}}  {'price':>6}  {'families':>8}   (price: errors more without it)"
    for one in shown:
        price = "?" if one.price is None else str(one.price)
        yield f"{one.column:{width}}  {price:>6}  {percent(one.share):>8}"
    more = len(told.columns) - SHOWN
    if more > 0:
        yield f"{counted(more, 'more column')}: --json has all"
    if any(one.price is None for one in shown):
        yield "?: the best formula without the column was not proved in time"
    yield ""


def as_csv(told: Told) -> str:
    """One family a line."""
    header = ["formula", "size", "errors", "count", "columns", "cuts", "held_out_accuracy"]
    return cells.write(header, (_csv_line(told, family) for family in told.good.families))


def _csv_line(told: Told, family: Family) -> list[Any]:
    accuracy = told.held_out(family)
    return [
        str(family.formula),
        family.size,
        family.errors,
        family.count,
        " ".join(family.columns),
        ranges_in_words(family),
        "" if accuracy is None else accuracy,
    ]
