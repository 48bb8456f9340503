"""What a solver sees: propositions to choose from, rows and labels, and the errors of a formula."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.data.median import median
from fsm_hpc.formulas.formula import Formula, Proposition, Relation, Truth
from fsm_hpc.formulas.language import Language
from fsm_hpc.search.cuts import OBSERVED, Cuts
from fsm_hpc.search.distinct_rows import DistinctRows, merge
from fsm_hpc.search.method import Method
from fsm_hpc.search.objective import ACCURACY, Objective
from fsm_hpc.search.weights import weigh

BELOW = -1  # the rank of a row that no cut of a column holds on
ALONE = -1  # the group of a Boolean column that is not one of several categories


@dataclass(frozen=True, slots=True)
class BooleanFeature:
    """A proposition with a fixed truth on every row."""

    proposition: Proposition
    holds: Truth
    group: int = ALONE  # categories of one column share a group: one of them holds on each row

    @property
    def says_missing(self) -> bool:
        return self.proposition.relation is Relation.MISSING


@dataclass(frozen=True, slots=True)
class NumericFeature:
    """A column whose cut (or interval) the solver chooses.

    A row's rank is that of the highest cut that its value reaches, or BELOW where there is none or
    the value is missing. `between`: rows whose value is not that cut itself, so that an interval
    which ends there leaves them out; None where there are none, as with observed cuts.
    """

    column: str
    method: Method
    ranks: NDArray[np.int32]
    cuts: NDArray[np.float64]
    between: Truth | None = None

    @staticmethod
    def of(column: Column, method: Method, cuts: Cuts) -> NumericFeature | None:
        """None for a column without any cut: all of its values are missing."""
        values = column.values
        known = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), bool)
        found = cuts.candidates(column.name, values[known])
        if not len(found):
            return None
        ranks = np.searchsorted(found, values, side="right").astype(np.int32) - np.int32(1)
        ranks[~known] = BELOW
        between = (ranks != BELOW) & (found[ranks] != values)
        is_needed = method is Method.INTERVAL and bool(between.any())
        return NumericFeature(column.name, method, ranks, found, between if is_needed else None)

    @property
    def is_always_reached(self) -> bool:
        """Whether the lowest cut, or the interval of all cuts, holds on every row."""
        return self.between is None and not bool((self.ranks == BELOW).any())

    def proposition(self, low: int, high: int | None = None) -> Proposition:
        """The proposition with its cut at rank `low`, or its interval from `low` to `high`."""
        if self.method is Method.PIVOT:
            return Proposition.at_least(self.column, self.cuts[low])
        top = len(self.cuts) - 1 if high is None else high
        return Proposition.within(self.column, self.cuts[low], self.cuts[top])


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
    weights: NDArray[np.int64] | None = None  # what both make of them, whole; None: one each
    weight_error: float = 0.0  # the share of all weight by which rounding may be off

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
    ) -> Problem:
        """The problem on some rows of a table (all when `rows` is not given).

        `given` are weights of the rows, none of them zero: such rows are left out before.
        """
        cuts.check(c.name for c in columns if c.kind is Kind.NUMERIC)
        if rows is not None:
            columns, labels = tuple(c.take(rows) for c in columns), labels[rows]
            given = None if given is None else given[rows]
        labels = np.asarray(labels, dtype=bool)
        made = weigh(objective, labels, given)
        wanted = (cuts, language, objective, given)
        return Problem(method, tuple(columns), labels, *wanted, made.weights, made.error)

    def on(self, rows: NDArray[np.int64]) -> Problem:
        """The same problem on some of its rows, which are weighed anew."""
        wanted = (self.cuts, self.language, self.objective, self.given)
        return Problem.build(self.columns, self.labels, self.method, rows, *wanted)

    @property
    def measure(self) -> str:
        """What the share of all weight that is right is called."""
        return self.objective.measure(self.given is not None)

    @property
    def rows(self) -> int:
        return len(self.labels)

    @cached_property
    def weight(self) -> int:
        """Of all rows together: their number, where they have no weights."""
        return self.rows if self.weights is None else int(self.weights.sum())

    @cached_property
    def positives(self) -> int:
        """The weight of all rows whose label is true."""
        return int(self.labels.sum() if self.weights is None else self.weights[self.labels].sum())

    @cached_property
    def table(self) -> dict[str, NDArray[np.generic]]:
        return {column.name: column.values for column in self.columns}

    @cached_property
    def booleans(self) -> tuple[BooleanFeature, ...]:
        """Propositions that are fixed: Boolean columns, categories and, by median, numeric ones."""
        groups: dict[str, int] = {}
        features = []
        for column in self.columns:
            if column.kind is Kind.BOOLEAN:
                source = column.source
                group = ALONE if source is None else groups.setdefault(source, len(groups))
                proposition = column.proposition
                features.append(BooleanFeature(proposition, column.values.astype(bool), group))
            elif self.method is Method.MEDIAN:
                known = column.values[~np.isnan(column.values)]
                if len(known):
                    proposition = Proposition.above(column.name, median(known))
                    features.append(BooleanFeature(proposition, proposition.evaluate(self.table)))
        return tuple(features)

    @cached_property
    def numerics(self) -> tuple[NumericFeature, ...]:
        """Numeric columns whose cuts are to be chosen among those that the rule gives here."""
        if self.method is Method.MEDIAN:
            return ()
        numeric = (column for column in self.columns if column.kind is Kind.NUMERIC)
        found = (NumericFeature.of(column, self.method, self.cuts) for column in numeric)
        return tuple(feature for feature in found if feature is not None)

    @cached_property
    def observed(self) -> dict[str, NDArray[np.float64]]:
        """The values of each numeric column, in order."""
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
        """What no formula of any size can go below: rows that agree but for their label."""
        merged = self.distinct_rows
        return int(np.minimum(merged.positives, merged.negatives).sum())

    @property
    def largest_size(self) -> int | None:
        """The size beyond which no formula of the language says anything new, if there is one."""
        return self.language.largest(len(self.booleans) + len(self.numerics))

    def admits(self, formula: Formula) -> bool:
        """Whether its propositions are among those to choose from, one cut a column."""
        chosen = set(formula.propositions())
        cut = [p.column for p in chosen if p.relation is not Relation.MISSING]
        fixed = {feature.proposition for feature in self.booleans}
        cuts = {feature.column: set(feature.cuts.tolist()) for feature in self.numerics}
        needed = {
            p: {p.low, p.high} if p.relation is Relation.WITHIN else {p.low} for p in chosen - fixed
        }
        return len(set(cut)) == len(cut) and all(
            p.relation is not Relation.MISSING and needed[p] <= cuts.get(p.column, set())
            for p in needed
        )

    def errors(self, formula: Formula) -> int:
        """The rows that it gets wrong, each with its weight."""
        wrong = formula.evaluate(self.table) != self.labels
        return int(np.count_nonzero(wrong) if self.weights is None else self.weights[wrong].sum())

    def accuracy(self, formula: Formula) -> float:
        """The share of all weight that is right: the measure of the problem."""
        return 1.0 - self.errors(formula) / self.weight

    def share_of_rows(self, formula: Formula) -> float:
        """The share of the rows that is right, whatever they weigh."""
        return float(
            1.0 - np.count_nonzero(formula.evaluate(self.table) != self.labels) / self.rows
        )

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all that decides the optimum of every length, and of nothing else."""
        digest = hashlib.sha256((self.method.value + self.cuts.text).encode())
        if self.language is not Language.PAPER:  # version 0.1 knew no other
            digest.update(f"\0language {self.language.value}\0".encode())
        for column in self.columns:
            digest.update(f"\0{column.name}\0{column.kind.value}\0{column.source}\0".encode())
            digest.update(np.ascontiguousarray(column.values, dtype=np.float64).tobytes())
        digest.update(np.packbits(self.labels).tobytes() + str(self.rows).encode())
        if self.weights is not None:
            digest.update(b"\0weights\0" + self.weights.astype(np.int64).tobytes())
        return digest.hexdigest()
