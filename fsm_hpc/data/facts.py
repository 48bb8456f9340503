"""Facts about a table as plain data: rows, columns by kind, class balance, source, licence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.data.dataset import Dataset
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.median import median
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.formulas.text import Threshold


@dataclass(frozen=True, slots=True)
class Entry:
    """A dataset config with its table, or with the reason why it is not available."""

    spec: DatasetSpec
    dataset: Dataset | None
    problem: str | None = None


def summary(entry: Entry) -> dict[str, Any]:
    """One dataset as data: rows, columns by kind, class balance, source, licence, path."""
    spec, dataset = entry.spec, entry.dataset
    origin = {key: getattr(spec, key) for key in ("title", "source", "doi", "creators", "licence")}
    if dataset is None:
        return {"name": spec.name, "is_here": False, "problem": entry.problem, **origin}
    kinds = [schema.kind for schema in dataset.schemas]
    return {
        "name": spec.name,
        "is_here": True,
        "rows": dataset.rows,
        "dropped_rows": dataset.dropped_rows,
        **{kind.value: kinds.count(kind) for kind in KindName},
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
    facts = []
    for schema in dataset.schemas:
        own = [column for column in dataset.columns if column.name in schema.one_hot_names]
        facts.append({"name": schema.name, "kind": schema.kind.value, **_facts(own)})
    return facts


def _facts(columns: list[Column]) -> dict[str, Any]:
    """A summary of the one-hot columns of one column."""
    if not columns or columns[0].category is not None:
        counts = {str(column.category): int(column.values.sum()) for column in columns}
        return {"distinct": len(counts), "categories": counts}
    values = columns[0].values
    facts = {"distinct": len(np.unique(values))}
    if columns[0].kind is Kind.BOOLEAN:
        return facts | {"true_rows": int(values.sum())}
    spread = {"min": values.min(), "median": median(values), "max": values.max()}
    thresholds = {name: columns[0].threshold(value) for name, value in spread.items()}
    return facts | {
        n: t.written() if isinstance(t, Threshold) else t for n, t in thresholds.items()
    }
