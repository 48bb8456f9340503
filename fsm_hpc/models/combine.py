"""One model from the rules of its classes: their order, the default class and their shares."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data.kinds import ColumnSchema
from fsm_hpc.formulas.formula import Truth
from fsm_hpc.models import notes
from fsm_hpc.models.learn import coverage
from fsm_hpc.models.model import Chosen, Class, Model, Rule, first_that_holds
from fsm_hpc.models.notes import Note
from fsm_hpc.search.objective import ACCURACY, Objective, ObjectiveName
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.weights import row_counts, weigh

_LARGEST = 1 << 62  # weight of all rows together that 64 bits hold
Places = NDArray[np.int64]  # of each row: its class, by its place


@dataclass(frozen=True)
class ClassRule:
    """The rule of a class with the problem that it was fitted on, and notes about it."""

    rule: Rule
    problem: Problem
    notes: tuple[Note, ...] = ()

    @property
    def truth(self) -> Truth:
        return self.rule.formula.evaluate(self.problem.table)


def build(
    target: str,
    classes: Sequence[Class],
    labels: Places,
    fitted: Sequence[ClassRule],
    sources: Sequence[ColumnSchema],
    **facts: Any,
) -> Model:
    """The model of these rules; of two classes the only rule is for the second.

    `labels` are places in `classes`; with more than two, `fitted` has a rule for each in turn.
    """
    problem = fitted[0].problem
    truths = [one.truth for one in fitted]
    if len(classes) == 2:
        order, otherwise, weights = [0], 0, problem.weights
        chosen = truths[0].astype(np.int64)
    else:
        weights = whole_weights(labels, problem.given, problem.objective)
        precisions = [one.rule.precision for one in fitted]
        order, otherwise = order_and_default(precisions, labels, truths, weights)
        chosen = first_that_holds([truths[at] for at in order], order, otherwise)
    counted = np.ones(len(labels), np.int64) if weights is None else weights
    kept = order if len(classes) > 2 else [0, 1]
    shares = class_shares(len(classes), chosen, labels, problem.sample)[np.ix_(kept, kept)]
    used = {p.column for one in fitted for p in one.rule.formula.propositions()}
    return Model(
        target=target,
        rules=tuple(fitted[at].rule for at in order),
        otherwise=classes[otherwise],
        class_shares=tuple(map(tuple, shares.tolist())),
        sources=tuple(source for source in sources if used & set(source.names)),
        method=problem.method.value,
        rows=problem.rows,
        default=coverage(~np.logical_or.reduce(truths), labels == otherwise, problem.sample),
        errors=int(counted[chosen != labels].sum()),
        weight=None if weights is None else int(counted.sum()),
        measure=problem.measure,
        language=problem.language,
        notes=notes.merged([(fitted[at].rule.prediction, fitted[at].notes) for at in order]),
        **facts,
    )


def whole_weights(
    labels: Places, given: NDArray[np.float64] | None, objective: Objective
) -> NDArray[np.int64] | None:
    """What each row counts, in whole numbers; balanced classes count the same. None: one each."""
    is_balanced = objective.name is ObjectiveName.BALANCED
    if given is None and not is_balanced:
        return None
    weights = np.ones(len(labels)) if given is None else given
    if is_balanced:
        whole = _balanced(labels.tolist(), list(map(int, row_counts(weights).counts)))
        if sum(whole) < _LARGEST:
            return np.array(whole, np.int64)
        weights = np.array([count / max(whole) for count in whole])
    return weigh(ACCURACY, np.zeros(len(labels), dtype=bool), weights).weights


def _balanced(labels: Sequence[int], counts: Sequence[int]) -> list[int]:
    """Whole numbers in the ratios of the counts, within each class, that sum to the same."""
    rows = list(zip(labels, counts, strict=True))
    totals: Counter[int] = Counter()
    for label, count in rows:
        totals[label] += count
    shared = math.lcm(*totals.values())
    return [count * (shared // totals[label]) for label, count in rows]


def order_and_default(
    precisions: Sequence[float],
    labels: Places,
    truths: Sequence[Truth],
    weights: NDArray[np.int64] | None,
) -> tuple[list[int], int]:
    """The classes by precision, then by weight, and the class where no formula holds."""
    counted = np.ones(len(labels), np.int64) if weights is None else weights
    totals = [int(counted[labels == at].sum()) for at in range(len(precisions))]
    order = sorted(range(len(precisions)), key=lambda at: (-precisions[at], -totals[at]))
    none_holds = ~np.logical_or.reduce(list(truths))
    left = np.where(none_holds if none_holds.any() else True, counted, 0)
    frequent = max(order, key=lambda at: (int(left[labels == at].sum()), totals[at]))
    return order, frequent


def class_shares(
    count: int, chosen: Chosen, labels: Places, sample: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """The shares of the classes where each is predicted; of all rows where it never is."""
    table = np.zeros((count, count))
    np.add.at(table, (chosen, labels), 1.0 if sample is None else sample)
    table[table.sum(axis=1) == 0] = table.sum(axis=0)
    return np.asarray(table / table.sum(axis=1, keepdims=True))
