"""The names of the column kinds, as settings and model.json have them."""

from __future__ import annotations

from enum import Enum


class KindName(Enum):
    """What a column of a table holds."""

    NUMERIC = "numeric"
    BOOLEAN = "boolean"
    CATEGORICAL = "categorical"
    ORDERED = "ordered"
    DATE = "date"
