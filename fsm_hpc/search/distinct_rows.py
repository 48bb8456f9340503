"""Merge rows on which every proposition agrees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
WORD = 64  # Booleans that are compared at a time


@dataclass(frozen=True, slots=True)
class DistinctRows:
    """The first row of each group of equal rows, with the weight of both labels in the group."""

    first: NDArray[np.int64]
    positives: NDArray[np.int64]
    negatives: NDArray[np.int64]
    group: NDArray[np.int64]  # of every row, in the order of the first rows


def merge(
    truths: Sequence[NDArray[np.bool_]],
    numbers: Sequence[NDArray[Any]],
    labels: NDArray[np.bool_],
    weights: NDArray[np.int64] | None = None,
) -> DistinctRows:
    """Merge in linear time: rows are compared by a hash of all values, which is verified."""
    words = [_word(truths[at : at + WORD]) for at in range(0, len(truths), WORD)]
    columns: list[NDArray[Any]] = [*words, *numbers]
    hashes = np.zeros(len(labels), np.uint64)
    for values in columns:
        hashes = (hashes ^ values.astype(np.uint64)) * _MIX
        hashes ^= hashes >> _SHIFT
    _, first, kinds = np.unique(hashes, return_index=True, return_inverse=True)
    representative = first[kinds]
    if any((values[representative] != values).any() for values in columns):
        first, kinds = _exactly(columns, len(labels))  # two kinds of rows share a hash
    # sums of whole numbers that a float holds exactly
    positives = np.bincount(kinds, labels if weights is None else labels * weights).astype(np.int64)
    negatives = np.bincount(kinds, weights).astype(np.int64) - positives
    order = np.argsort(first)
    group = np.argsort(order)[kinds]
    return DistinctRows(first[order].astype(np.int64), positives[order], negatives[order], group)


def _exactly(columns: Sequence[NDArray[Any]], rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
    import pandas as pd

    kinds = np.zeros(rows, dtype=np.int64)
    for values in columns:
        codes, distinct = pd.factorize(values)
        kinds = pd.factorize(kinds * len(distinct) + codes)[0]
    return np.unique(kinds, return_index=True)[1], kinds


def _word(truths: Sequence[NDArray[np.bool_]]) -> NDArray[np.uint64]:
    """Up to 64 Booleans of every row as one number."""
    packed = np.zeros((len(truths[0]), WORD // 8), np.uint8)
    packed[:, : -(-len(truths) // 8)] = np.packbits(np.stack(truths), axis=0).T
    return packed.view(np.uint64)[:, 0]
