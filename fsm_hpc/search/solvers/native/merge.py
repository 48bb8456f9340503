"""Merge rows that no formula can tell apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.search.problem import Problem

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
WORD = 64  # Booleans that are compared at a time


@dataclass(frozen=True, slots=True)
class Merged:
    """A representative of each kind of row, and how many of its kind have each label."""

    first: NDArray[np.int64]
    positives: NDArray[np.int64]
    negatives: NDArray[np.int64]


def merge(problem: Problem) -> Merged:
    """Linear in the table: rows are compared by a hash of all their values, which is verified."""
    truths = [b.holds for b in problem.booleans]
    words = [_word(truths[at : at + WORD]) for at in range(0, len(truths), WORD)]
    columns: list[NDArray[Any]] = [*words, *(n.ranks for n in problem.numerics)]
    hashes = np.zeros(problem.rows, np.uint64)
    for values in columns:
        hashes = (hashes ^ values.astype(np.uint64)) * _MIX
        hashes ^= hashes >> _SHIFT
    _, first, kinds = np.unique(hashes, return_index=True, return_inverse=True)
    representative = first[kinds]
    if any((values[representative] != values).any() for values in columns):
        exact = problem.distinct_rows  # two kinds of rows share a hash
        return Merged(exact.first, exact.positives, exact.negatives)
    positives = np.bincount(kinds, weights=problem.labels).astype(np.int64)
    return Merged(first.astype(np.int64), positives, np.bincount(kinds) - positives)


def _word(truths: list[NDArray[np.bool_]]) -> NDArray[np.uint64]:
    """Up to 64 Booleans of every row as one number."""
    packed = np.zeros((len(truths[0]), WORD // 8), np.uint8)
    packed[:, : -(-len(truths) // 8)] = np.packbits(np.stack(truths), axis=0).T
    return packed.view(np.uint64)[:, 0]
