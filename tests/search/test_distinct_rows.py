"""Rows that no formula can tell apart are one row, whatever the hash of their values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.search import distinct_rows
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from tests.support.brute_force import cuts_of
from tests.support.random_tables import FORMULA_METHODS, problems, random_problem

Kinds = list[tuple[int, int, int]]  # first row, rows with a true label, rows with a false one
some = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def found(problem: Problem) -> Kinds:
    merged = problem.distinct_rows
    rows = zip(merged.first, merged.positives, merged.negatives, strict=True)
    return sorted((int(first), int(true), int(false)) for first, true, false in rows)


def expected(problem: Problem) -> Kinds:
    """By the truth of every proposition that there is."""
    chosen = [cut for feature in problem.numerics for cut in cuts_of(feature)]
    propositions = [*(feature.proposition for feature in problem.booleans), *chosen]
    truths = [proposition.evaluate(problem.table) for proposition in propositions]
    kinds: dict[tuple[bool, ...], list[int]] = {}
    for row in range(problem.rows):
        kinds.setdefault(tuple(bool(truth[row]) for truth in truths), []).append(row)
    labels = problem.labels
    return sorted(
        (rows[0], int(labels[rows].sum()), int((~labels[rows]).sum())) for rows in kinds.values()
    )


@given(problem=problems(max_rows=12))
@some
def test_rows_are_merged_where_every_proposition_agrees(problem: Problem) -> None:
    assert found(problem) == expected(problem)


@pytest.mark.parametrize("method", FORMULA_METHODS, ids=lambda method: method.value)
@pytest.mark.parametrize("mix", [0, 1, 2])
def test_a_hash_that_rows_share_merges_nothing_that_differs(
    method: Method, mix: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distinct_rows, "_MIX", np.uint64(mix))  # 0: all rows share one
    for seed in range(10):
        problem = random_problem(np.random.default_rng(seed), method, 40, 3, 2, 4)
        assert found(problem) == expected(problem)


@pytest.mark.parametrize("count", [1, 8, 63, 64, 65, 130])
def test_every_one_of_many_booleans_tells_rows_apart(count: int) -> None:
    truths = np.vstack([np.zeros(count, bool), np.eye(count, dtype=bool), np.zeros(count, bool)])
    columns = [Column(f"b{i}", Kind.BOOLEAN, truths[:, i]) for i in range(count)]
    labels = np.arange(count + 2) % 2 > 0
    problem = Problem.build(columns, labels, Method.PIVOT)
    assert found(problem) == expected(problem)
    assert len(found(problem)) == count + 1  # the last row is as the first
