"""What a table has, as plain data: rows, columns by kind, class balance, source, licence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fsm_hpc.data.dataset import Dataset
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds import KINDS
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
    found = []
    for schema in dataset.schemas:
        own = [c for c in dataset.columns if c.name in schema.one_hot_names]
        facts = KINDS[schema.kind].facts(own)
        found.append({"name": schema.name, "kind": schema.kind.value, **facts})
    return found
