"""What chance among tied optima does to the paper's figures.

    python -m benchmarks.ties --datasets hepatitis --methods median
    python -m benchmarks.ties --limit 0      the table of what is kept, nothing is run

Many formulas may make the fewest errors of a length at the smallest size. The paper's solver hands
out whichever it meets first, so that a further length may bring another formula without bringing a
better one, which ends scans; native always hands out the same. Here every length of a scan, and the
final solve, takes one of all tied optima at random, each as likely as the others, under the paper's
own stopping rule; `--draws` scans for every fold. Ties are enumerated for lengths up to `--longest`
within `--limit` processor seconds a fold, which is where scans end at the latest, native's beside
them too. Folds are kept in `--out` as they are done; the same command goes on from there.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean

import numpy as np

from benchmarks.result_cache import ResultCache, Results
from benchmarks.solvers import DATASETS, METHODS, processor_limit
from fsm_hpc.formulas.formula import Formula
from fsm_hpc.search.lengths import Length, Split, SplitProgress
from fsm_hpc.search.near_optimal.rashomon import RashomonSet, near_optimal
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.scan import ScanState, StoppingRule
from fsm_hpc.search.solvers.base import Control, Incumbent
from fsm_hpc.search.solvers.native import Native
from fsm_hpc.search.solvers.native.compiling import ensure_compiled
from fsm_hpc.study.compose import compose
from fsm_hpc.study.fold import Fold, prepare

OUT = Path("results/benchmarks/ties.json")
RULE = StoppingRule(patience=2)  # the paper's, and no other end
LISTED = 20_000  # members of one family to draw from; larger ones are drawn from their first ones
Draw = Callable[["Pool"], Formula]


@dataclass
class Pool:
    """All optima of a length: the fewest errors, and among those the smallest size."""

    own: Formula  # native's choice
    good: RashomonSet
    _listed: dict[int, list[Formula]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return max(1, self.good.count)  # a constant is not counted, and is an optimum all the same

    def draw(self, rng: np.random.Generator) -> Formula:
        """Any member, each as likely as the others."""
        families = self.good.families
        if not families:
            return self.own
        at = int(rng.integers(self.good.count))
        for number, family in enumerate(families):
            if at < family.count:
                return self._members(number)[at % LISTED]
            at -= family.count
        raise AssertionError("counts of families add up to the count of the set")

    def _members(self, number: int) -> list[Formula]:
        if number not in self._listed:
            members = self.good.members(self.good.families[number], LISTED)
            self._listed[number] = [formula for formula, _ in members]
        return self._listed[number]


class Optima:
    """The tied optima of one problem, length by length, as far as the time goes."""

    def __init__(self, problem: Problem, control: Control) -> None:
        self.problem, self._control = problem, control
        self._solver, self._best = Native(1), Incumbent()
        self.pools: list[Pool] = []

    def reach(self, length: int) -> bool:
        """Whether all optima of the length are known; finds them where they are not yet."""
        while len(self.pools) < length:
            found = self._solver.solve(self.problem, len(self.pools) + 1, self._best, self._control)
            if not found.proved:
                return False
            is_same = self._best.formula == found.formula
            pool = self.pools[-1] if is_same else self._pool(found.formula, found.errors)
            if not pool.good.is_complete:
                return False
            self.pools.append(pool)
            self._best = Incumbent(found.formula, found.errors, found.proved_length)
        return True

    def _pool(self, formula: Formula, errors: int) -> Pool:
        return Pool(formula, near_optimal(self.problem, formula.size, errors, 0, 1, self._control))


# ----------------------------------------------------------------------------------------- scans


def scanned(split: Split, pools: Sequence[Pool], draw: Draw) -> ScanState:
    """Lengths one after the other until the rule ends them, or there are no more pools."""
    lengths: tuple[Length, ...] = ()
    for length, pool in enumerate(pools, 1):
        formula = draw(pool)
        errors = split.train.errors(formula)
        shares = split.train.accuracy(formula), split.validation.accuracy(formula)
        lengths = (*lengths, Length(length, formula, errors, *shares, True, 0.0, "drawn"))
        if RULE.reason_to_stop(lengths, errors == split.train.fewest_errors):
            break
    return ScanState((SplitProgress(lengths),))


def measured(
    dataset: str, method: str, fold: int, draws: int, longest: int, limit_s: float
) -> Results:
    """One fold: native's scan, and scans that draw."""
    words = [f"dataset={dataset}", f"method={method}", f"fold={fold}"]
    made = prepare(compose(["+experiment=paper", *words]))
    split, fitted, test = _parts(made)
    with processor_limit(limit_s) as control:
        train, final = Optima(split.train, control), Optima(fitted, control)
        for length in range(1, longest + 1):
            if not (train.reach(length) and final.reach(length)):
                break
    reached = min(len(train.pools), len(final.pools))
    if not reached:
        return {"reached": 0}
    pools = train.pools[:reached]
    rng = np.random.default_rng([fold, draws])

    def one(draw: Draw) -> Results:
        state = scanned(split, pools, draw)
        found = draw(final.pools[state.chosen_length - 1])
        return {"right": test.accuracy(found), "size": found.size, "end": len(state.lengths)}

    drawn = [one(lambda pool: pool.draw(rng)) for _ in range(draws)]
    return {
        "reached": reached,
        "ties": [pool.count for pool in final.pools[:reached]],
        "own": one(lambda pool: pool.own),
        "drawn": {key: [draw[key] for draw in drawn] for key in ("right", "size", "end")},
    }


def _parts(made: Fold) -> tuple[Split, Problem, Problem]:
    rows = made.rows
    split = Split(made.problem(rows.train), made.problem(rows.validation))
    return split, made.problem(rows.fitted), made.problem(rows.test)


# ----------------------------------------------------------------------------------------- table


def table(kept: Results) -> list[str]:
    """A line for each cell that has all of its folds: native's figures, and those of the draws."""
    lines = [
        "| dataset | method | lengths | accuracy, native | mean of draws | 95 % of draws "
        "| size, native | draws | chosen length, native | draws |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for dataset, method, folds in cells(kept):
        own = {key: fmean(one["own"][key] for one in folds) for key in ("right", "size", "end")}
        drawn = {key: np.mean([one["drawn"][key] for one in folds], axis=0) for key in own}
        low, high = np.percentile(100 * drawn["right"], (2.5, 97.5))
        reached = min(one["reached"] for one in folds)
        lines.append(
            f"| {dataset} | {method} | {reached} | {100 * own['right']:.1f} "
            f"| {100 * drawn['right'].mean():.1f} | {low:.1f} to {high:.1f} | {own['size']:.1f} "
            f"| {drawn['size'].mean():.1f} | {own['end']:.1f} | {drawn['end'].mean():.1f} |"
        )
    return lines


def cells(kept: Results) -> Iterator[tuple[str, str, list[Results]]]:
    for dataset in DATASETS:
        for method in METHODS:
            names = [f"{dataset} {method} {fold}" for fold in range(10)]
            if all(name in kept and kept[name]["reached"] for name in names):
                yield dataset, method, [kept[name] for name in names]


def _compile() -> None:
    """Have all kernels ready before any clock runs."""
    ensure_compiled()
    fold = prepare(compose(["dataset=hepatitis", "method=interval", "fold=0"]))
    Optima(fold.problem(fold.rows.test), Control()).reach(2)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ties", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--datasets", nargs="+", default=DATASETS, choices=DATASETS)
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--longest", type=int, default=8)
    parser.add_argument("--limit", type=float, default=20.0, help="processor seconds of a fold")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args(arguments)
    cache = ResultCache(given.out)
    if given.limit:
        _compile()
        effort = (given.draws, given.longest, given.limit)
        for dataset in given.datasets:
            for method in given.methods:
                for fold in range(10):
                    measure = partial(measured, dataset, method, fold, *effort)
                    cache.once(f"{dataset} {method} {fold}", measure)
    print("\n".join(table(cache.results)))


if __name__ == "__main__":
    main()
