"""Seeded folds and 70/30 splits, the same for every method."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data.fold_kind import ALL, Folding, FoldKind
from fsm_hpc.errors import UserError
from fsm_hpc.system.numbers import counted

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FoldRows:
    """Row numbers of one fold: held-out rows, and the rest split for training and validation."""

    index: int
    splits: tuple[tuple[Rows, Rows], ...]  # training rows, validation rows
    test: Rows

    @property
    def train(self) -> Rows:
        return self.splits[0][0]

    @property
    def validation(self) -> Rows:
        return self.splits[0][1]

    @property
    def fitted(self) -> Rows:
        """All rows but the held-out ones: the paper's W."""
        return np.sort(np.concatenate([self.train, self.validation]))


def fold_rows(
    labels: NDArray[np.bool_], groups: NDArray[Any] | None, index: int, folding: Folding
) -> FoldRows:
    """Fold `index` of a shuffled partition of the rows; ALL: every row to fit on, none held out."""
    if index == ALL:
        rows = np.arange(len(labels))
        return FoldRows(index, make_splits(rows, labels, groups, folding), rows[:0])
    refuse_too_few_rows(len(labels), folding.folds)
    rest, test = _partition(labels, groups, folding)[index]
    return FoldRows(index, make_splits(rest, labels, groups, folding), np.sort(test))


def refuse_too_few_rows(rows: int, folds: int) -> None:
    least = max(folds, 4)
    if rows < least:
        raise UserError(
            f"expected at least {least} rows for {folds} folds, found {rows}; take fewer folds"
        )


def make_splits(
    rows: Rows, labels: NDArray[np.bool_], groups: NDArray[Any] | None, folding: Folding
) -> tuple[tuple[Rows, Rows], ...]:
    """The rows in two parts, for training and for validation, with one seed after the other."""
    return tuple(
        _split(rows, labels, groups, folding, (folding.seed + number) % 2**32)
        for number in range(folding.splits)
    )


def _partition(
    labels: NDArray[np.bool_], groups: NDArray[Any] | None, folding: Folding
) -> list[tuple[Rows, Rows]]:
    if folding.kind is FoldKind.KFOLD:
        return _shuffled_folds(len(labels), folding.folds, folding.seed)
    from sklearn.model_selection import GroupKFold, StratifiedKFold

    count = folding.folds
    if folding.kind is FoldKind.STRATIFIED:
        splitter, available = StratifiedKFold, int(min(labels.sum(), (~labels).sum()))
        needed, remedy = f"{count} rows of each class", "take fewer folds, or fold_kind=kfold"
    else:
        splitter, available = GroupKFold, len(np.unique(_required(groups)))
        needed, remedy = f"{count} groups", "take fewer folds"
    if available < count:
        raise UserError(
            f"fold_kind={folding.kind.value}: expected at least {needed} for {count} folds, found "
            f"{available}; {remedy}"
        )
    folds = splitter(count, shuffle=True, random_state=folding.seed)
    return list(folds.split(labels, labels, groups if splitter is GroupKFold else None))


def _shuffled_folds(rows: int, count: int, seed: int) -> list[tuple[Rows, Rows]]:
    """The folds of scikit-learn's KFold, without the second that its import takes."""
    order = np.arange(rows)
    np.random.RandomState(seed).shuffle(order)
    tests = map(np.sort, np.array_split(order, count))
    return [(np.setdiff1d(order, test), test) for test in tests]


def _split(
    rows: Rows,
    labels: NDArray[np.bool_],
    groups: NDArray[Any] | None,
    folding: Folding,
    seed: int,
) -> tuple[Rows, Rows]:
    fraction = folding.validation_fraction
    count = math.ceil(fraction * len(rows))
    if not 0 < count < len(rows):
        whole = counted(len(rows), "row")
        raise UserError(f"validation_fraction {fraction} of {whole} leaves one part empty")
    if folding.kind is FoldKind.GROUPED:
        own_groups = _required(groups)[rows]
        if len(np.unique(own_groups)) < 2:
            raise UserError("fold_kind=grouped: expected at least two groups to split, found one")
        from sklearn.model_selection import GroupShuffleSplit

        split = GroupShuffleSplit(1, test_size=fraction, random_state=seed)
        train, validation = next(split.split(rows, groups=own_groups))
    elif folding.kind is FoldKind.STRATIFIED and _is_stratifiable(labels[rows], count):
        from sklearn.model_selection import StratifiedShuffleSplit

        split = StratifiedShuffleSplit(1, test_size=count, random_state=seed)
        train, validation = next(split.split(rows, labels[rows]))
    else:  # the same rows as train_test_split of scikit-learn
        order = np.random.RandomState(seed).permutation(len(rows))
        train, validation = order[count:], order[:count]
    return np.sort(rows[train]), np.sort(rows[validation])


def _is_stratifiable(labels: NDArray[np.bool_], count: int) -> bool:
    """Each part needs a row of each class."""
    fewest = min(labels.sum(), (~labels).sum())
    return bool(fewest >= 2 and count >= 2 and len(labels) - count >= 2)


def _required(groups: NDArray[Any] | None) -> NDArray[Any]:
    if groups is None:
        raise UserError("fold_kind=grouped needs dataset.group=COLUMN, the groups that stay whole")
    return groups
