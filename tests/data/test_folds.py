"""Folds are a seeded partition, and their splits are the same for every method."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.model_selection import KFold, train_test_split

from fsm_hpc.data.fold_kind import Folding, FoldKind
from fsm_hpc.data.folds import FoldRows, fold_rows
from fsm_hpc.errors import UserError


def _folds(rows: int, seed: int = 42) -> list[FoldRows]:
    labels, folding = np.zeros(rows, dtype=bool), Folding(FoldKind.KFOLD, 10, seed, 0.3, 1)
    return [fold_rows(labels, None, index, folding) for index in range(10)]


def test_the_held_out_parts_are_a_partition() -> None:
    held_out = np.concatenate([fold.test for fold in _folds(103)])
    assert sorted(held_out.tolist()) == list(range(103))


@pytest.mark.parametrize("fold", _folds(103))
def test_the_rest_is_split_into_seventy_and_thirty_percent(fold: FoldRows) -> None:
    assert sorted([*fold.train, *fold.validation, *fold.test]) == list(range(103))
    assert len(fold.validation) == pytest.approx(0.3 * len(fold.fitted), abs=1)


def test_the_seed_decides_the_folds() -> None:
    assert all(
        np.array_equal(a.train, b.train) for a, b in zip(_folds(60), _folds(60), strict=True)
    )
    assert not np.array_equal(_folds(60)[0].test, _folds(60, seed=1)[0].test)


def test_too_few_rows_are_told() -> None:
    with pytest.raises(UserError, match="expected at least 10 rows for 10 folds, found 7"):
        _folds(7)


@pytest.mark.parametrize("rows", [4, 11, 129, 4521])
@pytest.mark.parametrize("seed", [0, 42, 2**32 - 1])
def test_folds_and_splits_are_those_of_scikit_learn(rows: int, seed: int) -> None:
    labels = np.arange(rows) % 3 == 0
    count = min(10, rows)
    known = KFold(count, shuffle=True, random_state=seed).split(labels)
    for index, (rest, test) in enumerate(known):
        found = fold_rows(labels, None, index, Folding(folds=count, seed=seed))
        size = math.ceil(0.3 * len(rest))
        train, validation = train_test_split(rest, test_size=size, random_state=seed)
        assert found.test.tolist() == test.tolist()
        assert found.train.tolist() == sorted(train)
        assert found.validation.tolist() == sorted(validation)
