"""The kinds of columns, each a module with all that is particular to it."""

from __future__ import annotations

from fsm_hpc.data.kinds.base import KINDS, ColumnKind, ColumnSchema, Reading
from fsm_hpc.data.kinds.boolean import Boolean
from fsm_hpc.data.kinds.categorical import Categorical
from fsm_hpc.data.kinds.date import Date
from fsm_hpc.data.kinds.numeric import Numeric
from fsm_hpc.data.kinds.ordered import Ordered
from fsm_hpc.data.raw import RawColumn
from fsm_hpc.data.spec import DatasetSpec

__all__ = ["KINDS", "ColumnSchema", "Reading", "schema_of"]

# in the order in which they are tried on a column that nobody gives a kind
for _kind in (Boolean(), Numeric(), Date(), Ordered(), Categorical()):
    KINDS[_kind.name] = _kind


def kind_of(column: RawColumn, spec: DatasetSpec) -> ColumnKind:
    """As the settings list it, else as its source states it, else as its values look."""
    listed = spec.kind_of(column.name)
    if listed is not None:
        return KINDS[listed]
    if column.declared is not None:
        return KINDS[column.declared]
    return next(kind for kind in KINDS.values() if kind.fits(column))


def schema_of(column: RawColumn, spec: DatasetSpec) -> ColumnSchema:
    """The schema of a column whose rows all have a value; what is wrong with it is raised."""
    return kind_of(column, spec).schema(column, spec)
