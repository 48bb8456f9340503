"""Columns of ordered categories: a Boolean column for each threshold, `size >= medium`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds.base import ColumnSchema
from fsm_hpc.data.kinds.categorical import Categorical, categories_of
from fsm_hpc.data.raw import RawColumn
from fsm_hpc.data.spec import DatasetSpec


class Ordered(Categorical):
    name = KindName.ORDERED

    def fits(self, column: RawColumn) -> bool:
        return False  # only the source or the settings can declare an order

    def schema(self, column: RawColumn, spec: DatasetSpec) -> ColumnSchema:
        """In the order of the settings, or of the source, or else sorted."""
        categories = categories_of(column, spec)
        order = list(spec.ordered.get(column.name) or column.order or categories)
        unknown = [category for category in categories if category not in order]
        if unknown:
            raise column.error(
                f"expected one of the ordered categories {', '.join(order)}, found {unknown[0]!r} "
                f"in row {column.row_of(unknown[0])}",
                "list all of them in order, or {categorical}",
            )
        return ColumnSchema(column.name, self.name, tuple(order))

    def of_codes(self, schema: ColumnSchema, codes: np.ndarray) -> list[Column]:
        thresholds = enumerate(self.categories_of(schema), start=1)
        return [
            Column(name, Kind.BOOLEAN, codes >= at, schema.name, words, is_threshold=True)
            for at, (name, words, _) in thresholds
        ]

    def categories_of(self, schema: ColumnSchema) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        for at, category in enumerate(schema.categories[1:], start=1):
            yield f"{schema.name} >= {category}", f"at least {category}", schema.categories[at:]
