"""Whether methods differ: the tests that a reviewer asks for, over folds and over datasets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean, variance

from fsm_hpc.report.collect import DatasetVariant, FoldGroup, Study
from fsm_hpc.study.measures import METRICS

LEVEL = 0.05
MARGIN = 1.0  # points that "not worse" may cost


@dataclass(frozen=True, slots=True)
class Difference:
    """Two methods on one dataset: the first minus the second, in points, over their folds."""

    place: DatasetVariant
    first: str
    second: str
    folds: int  # that both have
    mean: float
    half_width: float  # of the 95 % interval
    p: float

    @property
    def low(self) -> float:
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        return self.mean + self.half_width

    def judgement(self, margin: float = MARGIN) -> str:
        """What the interval allows one to say; `open` where it allows nothing."""
        if self.low > 0:
            return "better"
        if self.high < 0:
            return "worse"
        return "not worse" if self.low > -margin else "open"


@dataclass(frozen=True, slots=True)
class Overall:
    """Two methods over all datasets that have both: Wilcoxon's signed ranks of their means."""

    first: str
    second: str
    differences: tuple[float, ...]  # a mean for each dataset, in points
    p: float
    adjusted: float  # by Holm, for all pairs that are asked about

    @property
    def mean(self) -> float:
        return fmean(self.differences)

    @property
    def better_on(self) -> int:
        return sum(difference > 0 for difference in self.differences)

    @property
    def worse_on(self) -> int:
        return sum(difference < 0 for difference in self.differences)


@dataclass(frozen=True, slots=True)
class Ranks:
    """Average ranks over the datasets that have every method, the best first (Demsar 2006)."""

    ranks: tuple[tuple[str, float], ...]
    datasets: int
    p: float  # Friedman: whether any method differs
    critical: float  # Nemenyi: two methods differ where their ranks do by more than this
    metric: str = "accuracy"  # that they are ranked by

    @property
    def alike(self) -> list[tuple[str, ...]]:
        """The largest sets of neighbours that cannot be told apart."""
        runs = [
            tuple(m for m, other in self.ranks[at:] if other - rank <= self.critical)
            for at, (_, rank) in enumerate(self.ranks)
        ]
        last: tuple[str, ...] = ()
        kept = []
        for run in runs:
            if len(run) > 1 and not set(run) <= set(last):
                kept.append(run)
                last = run
        return kept


def differences(study: Study, metric: str) -> list[Difference]:
    """Every pair of methods on every dataset, where both have two folds in common."""
    found = []
    for place in study.places:
        for first, second in combinations(study.methods, 2):
            groups = study.group(place, first), study.group(place, second)
            if groups[0] is not None and groups[1] is not None:
                found += _difference(groups[0], groups[1], metric)
    return found


def _difference(first: FoldGroup, second: FoldGroup, metric: str) -> list[Difference]:
    """The corrected resampled t-test of Nadeau and Bengio (2003).

    Folds share most of their training rows, so their differences vary less than those of
    independent samples would; the correction adds the share of held-out to fitted rows.
    """
    from scipy.stats import t

    points = first.gains_over(second, metric)
    count = len(points)
    if count < 2:
        return []
    mean = fmean(points)
    error = math.sqrt(variance(points) * (1 / count + _test_share(first)))
    half_width = float(t.ppf(1 - LEVEL / 2, count - 1)) * error
    distance = abs(mean) / error if error else math.inf if mean else 0.0
    p = 2 * float(t.sf(distance, count - 1))
    return [Difference(first.place, first.method, second.method, count, mean, half_width, p)]


def _test_share(group: FoldGroup) -> float:
    """Held-out rows for each row that the final model was fitted on."""
    rows = [done.rows for done in group.results]
    return fmean(r["test"] / (r["train"] + r["validation"]) for r in rows)


def overall(methods: Sequence[str], found: Sequence[Difference]) -> list[Overall]:
    """Every pair of methods over the datasets that have both."""
    by_pair: dict[tuple[str, str], list[float]] = {pair: [] for pair in combinations(methods, 2)}
    for one in found:
        by_pair[one.first, one.second].append(one.mean)
    tested = [
        Overall(*pair, tuple(means), _signed_ranks(means), 1.0)
        for pair, means in by_pair.items()
        if means
    ]
    return _holm(tested)


def _signed_ranks(means: Sequence[float]) -> float:
    from scipy.stats import wilcoxon

    return float(wilcoxon(means).pvalue) if any(means) else 1.0


def _holm(tested: Sequence[Overall]) -> list[Overall]:
    """Holm's step-down: the k-th smallest p counts as often as there are pairs from it on."""
    order = sorted(range(len(tested)), key=lambda number: tested[number].p)
    adjusted, largest = dict[int, float](), 0.0
    for step, number in enumerate(order):
        largest = max(largest, min(1.0, tested[number].p * (len(tested) - step)))
        adjusted[number] = largest
    return [replace(one, adjusted=adjusted[number]) for number, one in enumerate(tested)]


def ranks(study: Study, metric: str) -> Ranks | None:
    """None where fewer than two datasets have every method, or there are fewer than two methods."""
    import numpy as np
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    table = [means for place in study.places if (means := _means(study, place, metric))]
    count = len(study.methods)
    if len(table) < 2 or count < 2:
        return None
    average = np.mean([rankdata([-mean for mean in means]) for means in table], axis=0)
    ordered = sorted(zip(study.methods, average.tolist(), strict=True), key=lambda pair: pair[1])
    p = float(friedmanchisquare(*zip(*table, strict=True)).pvalue) if count > 2 else math.nan
    quantile = float(studentized_range.ppf(1 - LEVEL, count, math.inf)) / math.sqrt(2)
    critical = quantile * math.sqrt(count * (count + 1) / (6 * len(table)))
    return Ranks(tuple(ordered), len(table), p, critical, metric)


def _means(study: Study, place: DatasetVariant, metric: str) -> list[float] | None:
    """The mean of every method, rounded as far as floats may differ; None where one has none."""
    means = []
    for method in study.methods:
        group = study.group(place, method)
        mean = group.mean(metric) if group else None
        if mean is None:
            return None
        means.append(METRICS[metric].gain(round(mean, 9), 0.0))
    return means
