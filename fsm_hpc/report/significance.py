"""Significance tests of the differences between methods, over folds and over datasets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, variance

from fsm_hpc.report.collect import DatasetVariant, FoldGroup, Study
from fsm_hpc.study.measures import METRICS

LEVEL = 0.05
MARGIN = 1.0  # non-inferiority margin in points


@dataclass(frozen=True, slots=True)
class Difference:
    """Two methods on one dataset: the first minus the second, in points, over their folds."""

    dataset_variant: DatasetVariant
    first: str
    second: str
    folds: int  # common to both
    mean: float
    half_width: float  # of the 95 % interval
    p: float

    @property
    def low(self) -> float:
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        return self.mean + self.half_width

    def conclusion(self, margin: float = MARGIN) -> str:
        """The conclusion from the interval: better, worse, not worse, or open."""
        if self.low > 0:
            return "better"
        if self.high < 0:
            return "worse"
        return "not worse" if self.low > -margin else "open"


@dataclass(frozen=True, slots=True)
class Overall:
    """Two methods over all datasets that have both, by Wilcoxon's signed-rank test."""

    first: str
    second: str
    differences: tuple[float, ...]  # mean difference on each dataset, in points
    p: float
    adjusted: float  # p adjusted by Holm for all tested pairs

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
    metric: str = "accuracy"  # by which they are ranked

    @property
    def not_different(self) -> list[tuple[str, ...]]:
        """The maximal sets of adjacent methods without a significant difference."""
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
    """All pairs of methods with at least two common folds, on every dataset."""
    tested = []
    for key in study.dataset_variants:
        for first, second in combinations(study.methods, 2):
            groups = study.group(key, first), study.group(key, second)
            if groups[0] is not None and groups[1] is not None:
                tested += _difference(groups[0], groups[1], metric)
    return tested


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
    return [
        Difference(first.dataset_variant, first.method, second.method, count, mean, half_width, p)
    ]


def _test_share(group: FoldGroup) -> float:
    """The number of held-out rows divided by that of fitted rows."""
    rows = [done.rows for done in group.results]
    return fmean(r["test"] / (r["train"] + r["validation"]) for r in rows)


def overall(methods: Sequence[str], tested: Sequence[Difference]) -> list[Overall]:
    """Every pair of methods over the datasets that have both."""
    by_pair: dict[tuple[str, str], list[float]] = {pair: [] for pair in combinations(methods, 2)}
    for difference in tested:
        by_pair[difference.first, difference.second].append(difference.mean)
    pairs = {pair: means for pair, means in by_pair.items() if means}
    p_values = [_signed_ranks(means) for means in pairs.values()]
    return [
        Overall(*pair, tuple(means), p, adjusted)
        for (pair, means), p, adjusted in zip(pairs.items(), p_values, holm(p_values), strict=True)
    ]


def _signed_ranks(means: Sequence[float]) -> float:
    from scipy.stats import wilcoxon

    return float(wilcoxon(means).pvalue) if any(means) else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down: the k-th smallest of n values is multiplied by n - k + 1."""
    adjusted, largest = [0.0] * len(p_values), 0.0
    for step, number in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, p_values[number] * (len(p_values) - step)))
        adjusted[number] = largest
    return adjusted


def ranks(study: Study, metric: str) -> Ranks | None:
    """Average ranks; None without two datasets that have all of at least two methods."""
    import numpy as np
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    table = [means for key in study.dataset_variants if (means := _means(study, key, metric))]
    count = len(study.methods)
    if len(table) < 2 or count < 2:
        return None
    average = np.mean([rankdata([-mean for mean in means]) for means in table], axis=0)
    ordered = sorted(zip(study.methods, average.tolist(), strict=True), key=lambda pair: pair[1])
    p = float(friedmanchisquare(*zip(*table, strict=True)).pvalue) if count > 2 else math.nan
    quantile = float(studentized_range.ppf(1 - LEVEL, count, math.inf)) / math.sqrt(2)
    critical = quantile * math.sqrt(count * (count + 1) / (6 * len(table)))
    return Ranks(tuple(ordered), len(table), p, critical, metric)


def _means(study: Study, key: DatasetVariant, metric: str) -> list[float] | None:
    """The mean of each method, rounded so that ties stay ties; None if one is missing."""
    means = []
    for method in study.methods:
        group = study.group(key, method)
        mean = group.mean(metric) if group else None
        if mean is None:
            return None
        means.append(METRICS[metric].gain(round(mean, 9), 0.0))
    return means
