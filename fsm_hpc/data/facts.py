"""What a table has, as plain data: rows, columns by kind, class balance, source, licence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fsm_hpc.data.dataset import Dataset
from fsm_hpc.data.kinds import RawKind
from fsm_hpc.data.median import median
from fsm_hpc.data.spec import DatasetSpec


@dataclass(frozen=True, slots=True)
class Entry:
    """A dataset config with its table, or with the reason why that is not here."""

    spec: DatasetSpec
    dataset: Dataset | None
    problem: str | None = None


def summary(entry: Entry) -> dict[str, Any]:
    """One dataset as data: rows, columns by kind, class balance, source, licence, path."""
    spec, dataset = entry.spec, entry.dataset
    origin = {"title": spec.title, "source": spec.source, "doi": spec.doi, "licence": spec.licence}
    if dataset is None:
        return {"name": spec.name, "is_here": False, "problem": entry.problem, **origin}
    kinds = [kind for _, kind in dataset.kinds]
    return {
        "name": spec.name,
        "is_here": True,
        "rows": dataset.rows,
        "dropped_rows": dataset.dropped_rows,
        **{kind.value: kinds.count(kind) for kind in RawKind},
        "columns": len(dataset.columns),
        "target": dataset.target,
        "positive": dataset.positive,
        "negative": dataset.negative,
        "positive_rows": int(dataset.labels.sum()),
        **origin,
        "place": dataset.place,
        "path": str(dataset.path),
        "digest": dataset.digest,
    }


def columns(dataset: Dataset) -> list[dict[str, Any]]:
    """The columns of the file: kind, distinct values, range or categories with their rows."""
    return [_column(dataset, name, kind) for name, kind in dataset.kinds]


def _column(dataset: Dataset, name: str, kind: RawKind) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "kind": kind.value}
    if kind is RawKind.CATEGORICAL:
        counts = {str(c.category): int(c.values.sum()) for c in dataset.columns if c.source == name}
        return {**found, "distinct": len(counts), "categories": counts}
    values = next(c.values for c in dataset.columns if c.name == name and c.source is None)
    found["distinct"] = len(np.unique(values))
    if kind is RawKind.BOOLEAN:
        return {**found, "true_rows": int(values.sum())}
    spread = {"min": values.min(), "median": median(values), "max": values.max()}
    return {**found, **{word: float(value) for word, value in spread.items()}}
