"""The numbers in the paper, for comparison."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache
from pathlib import Path

DatasetMethod = tuple[str, str]  # dataset, method


@cache
def accuracy() -> dict[DatasetMethod, tuple[float, float]]:
    """Mean and standard deviation of the test accuracy in percent: the paper's bar chart."""
    rows = _rows("accuracy.csv")
    return {(r["dataset"], r["method"]): (float(r["mean"]), float(r["std"])) for r in rows}


@cache
def average_size() -> dict[DatasetMethod, float]:
    """Average length of the final formulas: the paper's formula tables."""
    rows = _rows("lengths_runtimes.csv")
    return {(r["dataset"], r["method"]): float(r["average_length"]) for r in rows}


@cache
def seconds() -> dict[DatasetMethod, float]:
    """Average seconds per fold: the paper's table of runtimes."""
    rows = _rows("lengths_runtimes.csv")
    return {(r["dataset"], r["method"]): float(r["average_seconds_per_split"]) for r in rows}


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (Path(__file__).parent / name).open(encoding="utf-8", newline="") as stream:
        yield from csv.DictReader(stream)
