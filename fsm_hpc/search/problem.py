"""The problem of a solver: propositions, rows, labels, and the errors of a formula."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.data.median import median
from fsm_hpc.formulas.formula import Formula, Proposition, Relation, Truth
from fsm_hpc.formulas.language import Language
from fsm_hpc.formulas.smallest import NAMES, largest_size
from fsm_hpc.search.constraints import FREE, Constraints
from fsm_hpc.search.cuts import OBSERVED, CutRule, Cuts
from fsm_hpc.search.distinct_rows import DistinctRows, merge
from fsm_hpc.search.features import ALONE, BooleanFeature, NumericFeature
from fsm_hpc.search.method import Method
from fsm_hpc.search.objective import ACCURACY, Objective
from fsm_hpc.search.shortest import shortest
from fsm_hpc.search.violations import constraint_violations
from fsm_hpc.search.weights import RowCounts, row_counts, weigh


@dataclass(frozen=True)
class Problem:
    """Find the formula over these columns that disagrees with the labels on the fewest rows.

    Where rows have weights, an error counts what its row weighs.
    """

    method: Method
    columns: tuple[Column, ...]
    labels: Truth
    cuts: Cuts = OBSERVED
    language: Language = Language.PAPER
    objective: Objective = ACCURACY
    given: NDArray[np.float64] | None = None  # weights of the rows, none of them zero
    weights: NDArray[np.int64] | None = None  # of objective and rows, whole; None: one each
    weight_error: float = 0.0  # the largest share of all weight that rounding moves
    constraints: Constraints = FREE  # without forbidden columns, which are removed
    sample: NDArray[np.float64] | None = None  # for medians and quantiles, without classes'

    @staticmethod
    def build(
        columns: Sequence[Column],
        labels: Truth,
        method: Method,
        rows: NDArray[np.int64] | None = None,
        cuts: Cuts = OBSERVED,
        language: Language = Language.PAPER,
        objective: Objective = ACCURACY,
        given: NDArray[np.float64] | None = None,
        constraints: Constraints = FREE,
        sample: NDArray[np.float64] | None = None,
    ) -> Problem:
        """The problem on some rows of a table (all when `rows` is not given).

        `given` are weights of the rows, none of them zero. `sample` are the weights for medians
        and quantiles, if `given` includes weights of classes.
        """
        sample = given if sample is None else sample
        cuts.check(c.name for c in columns if c.kind is Kind.NUMERIC)
        constraints.check(columns, method is Method.INTERVAL)
        columns = constraints.kept(columns)
        if rows is not None:
            columns, labels = tuple(c.take(rows) for c in columns), labels[rows]
            given = None if given is None else given[rows]
            sample = None if sample is None else sample[rows]
        labels = np.asarray(labels, dtype=bool)
        weighing = weigh(objective, labels, given)
        return Problem(
            method,
            columns,
            labels,
            cuts,
            language,
            objective,
            given,
            weighing.weights,
            weighing.error,
            constraints.after_forbidding,
            sample,
        )

    def on(self, rows: NDArray[np.int64]) -> Problem:
        """The same problem on some of its rows, with weights computed for them."""
        settings = (self.cuts, self.language, self.objective, self.given, self.constraints)
        return Problem.build(self.columns, self.labels, self.method, rows, *settings, self.sample)

    @property
    def _counts_thresholds(self) -> bool:
        """Whether thresholds depend on the weights of rows."""
        return self.method is Method.MEDIAN or self.cuts.rule is CutRule.QUANTILES

    def errors_in_rows(self, formula: Formula) -> tuple[int, int]:
        """The errors by the weights of thresholds, and the weight of one row."""
        wrong = formula.evaluate(self.table) != self.labels
        if self.counts is None:
            return int(np.count_nonzero(wrong)), 1
        return int(self.counts.counts[wrong].sum()), self.counts.one

    @property
    def has_exact_weights(self) -> bool:
        """Whether the optimum for the whole numbers is the optimum for the given weights."""
        return self.weight_error == 0.0

    @property
    def measure(self) -> str:
        """The name of the measure that the search maximizes."""
        return self.objective.measure(self.given is not None)

    @property
    def rows(self) -> int:
        return len(self.labels)

    @cached_property
    def weight(self) -> int:
        """The total weight of the rows; without weights their number."""
        return self.rows if self.weights is None else int(self.weights.sum())

    @cached_property
    def counts(self) -> RowCounts | None:
        """The multiplicities of the rows for thresholds and for the cost of rounding them."""
        return None if self.sample is None else row_counts(self.sample)

    @cached_property
    def positives(self) -> int:
        """The weight of all rows whose label is true."""
        return int(self.labels.sum() if self.weights is None else self.weights[self.labels].sum())

    @cached_property
    def table(self) -> dict[str, NDArray[np.generic]]:
        return {column.name: column.values for column in self.columns}

    @cached_property
    def booleans(self) -> tuple[BooleanFeature, ...]:
        """Fixed propositions: Boolean columns, categories and, by median, numeric columns."""
        groups: dict[str, int] = {}
        features: list[BooleanFeature] = []
        for column in self.columns:
            if column.kind is Kind.BOOLEAN:
                source = column.source
                is_alone = source is None or column.is_threshold
                group = ALONE if is_alone else groups.setdefault(str(source), len(groups))
                holds = column.values.astype(bool)
                constraint = self.constraints.of_column(column)
                features.append(BooleanFeature(column.proposition, holds, group, constraint))
            elif self.method is Method.MEDIAN:
                known = ~np.isnan(column.values)
                if known.any():
                    counts = None if self.counts is None else self.counts.counts[known]
                    middle = median(column.values[known], counts)
                    proposition = Proposition.above(column.name, column.threshold(middle))
                    holds = proposition.evaluate(self.table)
                    constraint = self.constraints.of_column(column)
                    features.append(BooleanFeature(proposition, holds, ALONE, constraint))
        least = self.constraints.support
        if not least:
            return tuple(features)
        held = (np.count_nonzero(feature.holds) for feature in features)
        pairs = zip(features, held, strict=True)
        return tuple(f for f, count in pairs if least <= count <= self.rows - least)

    @cached_property
    def numerics(self) -> tuple[NumericFeature, ...]:
        """Numeric columns with their candidate thresholds."""
        if self.method is Method.MEDIAN:
            return ()
        numeric = (column for column in self.columns if column.kind is Kind.NUMERIC)
        counts = None if self.counts is None else self.counts.counts
        settings = (self.method, self.cuts, self.constraints, counts)
        features = (NumericFeature.of(column, *settings) for column in numeric)
        return tuple(feature for feature in features if feature is not None)

    @property
    def features(self) -> tuple[BooleanFeature | NumericFeature, ...]:
        """All features, the fixed ones first."""
        return (*self.booleans, *self.numerics)

    @cached_property
    def observed(self) -> dict[str, NDArray[np.float64]]:
        """The sorted distinct values of each numeric column."""
        numeric = (c for c in self.columns if c.kind is Kind.NUMERIC)
        return {c.name: OBSERVED.candidates(c.name, c.values[~np.isnan(c.values)]) for c in numeric}

    @cached_property
    def distinct_rows(self) -> DistinctRows:
        """Rows merged where every possible proposition agrees."""
        truths = [feature.holds for feature in self.booleans]
        between = [f.between for f in self.numerics if f.between is not None]
        ranks = [feature.ranks for feature in self.numerics]
        return merge([*truths, *between], ranks, self.labels, self.weights)

    @cached_property
    def fewest_errors(self) -> int:
        """The fewest errors of any formula: conflicts among rows with equal propositions."""
        merged = self.distinct_rows
        return int(np.minimum(merged.positives, merged.negatives).sum())

    @property
    def largest_size(self) -> int | None:
        """The size beyond which the language has no new function, if there is one."""
        features = self.features
        most = self.constraints.max_columns
        if most is None:
            return self.language.largest(len(features))
        # one proposition for a numeric column, all categories of another, `is missing`
        of_a_column = Counter(feature.constraint.origin for feature in features)
        count = sum(sorted(of_a_column.values())[-most:])
        is_few = 1 <= count <= len(NAMES)
        return self.language.largest(count) or (
            largest_size(self.language, count) if is_few else None
        )

    @cached_property
    def shortest(self) -> Formula:
        """A smallest formula that meets the constraints; an error without any."""
        return shortest(self.booleans, self.numerics, self.language, self.constraints, self.rows)

    def admits(self, formula: Formula) -> bool:
        """Whether the search space contains it: known propositions, one threshold per column."""
        chosen = set(formula.propositions())
        columns = [p.column for p in chosen if p.relation is not Relation.MISSING]
        thresholds = {f.column: set(f.thresholds.tolist()) for f in self.numerics}
        has_known = all(
            p.relation is not Relation.MISSING
            and {p.low, p.high if p.relation is Relation.WITHIN else p.low}
            <= thresholds.get(p.column, set())
            for p in chosen - {feature.proposition for feature in self.booleans}
        )
        has_one_each = len(set(columns)) == len(columns)
        return has_known and has_one_each and self.meets_constraints(formula)

    def meets_constraints(self, formula: Formula) -> bool:
        """Whether it satisfies the constraints on these rows."""
        return not self.constraints.binds or not list(self.violations(formula))

    def violations(self, formula: Formula) -> Iterator[str]:
        """The constraints that it violates, in words."""
        return constraint_violations(self.constraints, self.columns, formula)

    def errors(self, formula: Formula) -> int:
        """The weight of the misclassified rows."""
        wrong = formula.evaluate(self.table) != self.labels
        return int(np.count_nonzero(wrong) if self.weights is None else self.weights[wrong].sum())

    def accuracy(self, formula: Formula) -> float:
        """The share of weight that is classified correctly: the measure of the problem."""
        return 1.0 - self.errors(formula) / self.weight

    def share_of_rows(self, formula: Formula) -> float:
        """The share of rows that are classified correctly, without weights."""
        return float(
            1.0 - np.count_nonzero(formula.evaluate(self.table) != self.labels) / self.rows
        )

    @cached_property
    def fingerprint(self) -> str:
        """A digest of exactly what decides the optimum of every length."""
        digest = hashlib.sha256((self.method.value + self.cuts.text).encode())
        if self.language is not Language.PAPER:  # version 0.1 knew no other
            digest.update(f"\0language {self.language.value}\0".encode())
        for column in self.columns:
            digest.update(f"\0{column.name}\0{column.kind.value}\0{column.source}\0".encode())
            digest.update(np.ascontiguousarray(column.values, dtype=np.float64).tobytes())
        digest.update(np.packbits(self.labels).tobytes() + str(self.rows).encode())
        if self.weights is not None:
            digest.update(b"\0weights\0" + self.weights.astype(np.int64).tobytes())
        if self.sample is not None and self._counts_thresholds:
            digest.update(b"\0sample\0" + self.sample.tobytes())
        if self.constraints.binds:
            digest.update(f"\0constraints {self.constraints.text}\0".encode())
        return digest.hexdigest()
