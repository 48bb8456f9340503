"""A table as it was read: columns of numbers, truth values, dates or texts, with missing cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data.decimal_sign import DecimalSign, Numbers, read_numbers
from fsm_hpc.data.errors import ColumnError
from fsm_hpc.data.kind_name import KindName

Rows = NDArray[np.int64]
_BATCH = 1000


@dataclass(frozen=True)
class RawColumn:
    """One column: a value for each row, or texts and a code for each row.

    The texts are distinct, except in a column of decimal numbers that hardly repeat.
    """

    name: str
    values: Any  # by row: array of numbers, truth values or dates; or Arrow array of texts
    missing: NDArray[np.bool_]  # by row
    codes: NDArray[np.int32] | None = None  # by row: index of its text, -1 if missing
    is_typed: bool = True  # False: the source has text only, so kinds are inferred from text
    declared: KindName | None = None  # the kind that the source states
    order: tuple[str, ...] = ()  # of categories, if the source states one
    row_numbers: Rows | None = None  # in the file, from 1; None: 1, 2, ...
    path: Path | None = None
    sign: DecimalSign | None = DecimalSign.POINT  # None: the file is contradictory
    is_readable: bool = True  # False: its values cannot be used
    floats: NDArray[np.float64] | None = None  # the texts as Arrow reads them, where known

    @property
    def rows(self) -> int:
        return len(self.missing)

    @property
    def is_text(self) -> bool:
        return self.codes is not None

    @cached_property
    def texts(self) -> list[str]:
        """The distinct texts, in the order of their first rows."""
        return list(self.as_text().values.to_pylist())

    def texts_at(self, indices: Sequence[int] | NDArray[Any]) -> list[str]:
        """Some of the distinct texts, without a list of them all."""
        return list(self.values.take(np.asarray(indices, dtype=np.int64)).to_pylist())

    def first_texts(self, count: int) -> list[str]:
        """The first distinct texts, without a list of them all."""
        if self.is_text:
            return list(self.values[:count].to_pylist())
        import pandas as pd

        return _as_texts(pd.unique(self.values[~self.missing])[:count])

    def each_text(self) -> Iterator[str]:
        """The distinct texts in batches, for a search that may stop early."""
        for start in range(0, len(self.values), _BATCH):
            yield from self.values[start : start + _BATCH].to_pylist()

    def text_by_row(self) -> NDArray[Any]:
        """The text of each row; an empty one where it is missing."""
        column = self.as_text()
        return column.spread(np.array(column.texts, dtype=object), "")

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """The number of rows that have each text."""
        assert self.codes is not None
        return np.bincount(self.codes[~self.missing], minlength=len(self.values))

    @cached_property
    def numbers(self) -> Numbers | None:
        """The distinct texts as numbers by its decimal sign; None if one of them is no number."""
        return read_numbers(self.values, self.sign, self.floats)

    def as_text(self) -> RawColumn:
        """The same column with its values as text: 1, 2.5, True, 2021-03-04."""
        if self.is_text:
            return self
        import pandas as pd

        codes, distinct = pd.factorize(self.values)
        codes = np.where(self.missing, -1, codes).astype(np.int32)
        return replace(self, values=text_array(_as_texts(distinct)), codes=codes)._used_only()

    def take(self, rows: Rows) -> RawColumn:
        """These rows in their order, with the texts that occur in them."""
        if len(rows) == self.rows:
            return self
        numbers = rows + 1 if self.row_numbers is None else self.row_numbers[rows]
        kept = replace(self, missing=self.missing[rows], row_numbers=numbers)
        if self.codes is None:
            return replace(kept, values=self.values[rows])
        return replace(kept, codes=self.codes[rows])._used_only()

    def known(self) -> RawColumn:
        """The rows that have a value."""
        return self.take(np.flatnonzero(~self.missing))

    def without(self, texts: Sequence[int] | NDArray[Any]) -> RawColumn:
        """The same column with the texts at these indices as missing values."""
        if not len(texts) or self.codes is None:
            return self
        is_removed = np.zeros(len(self.values) + 1, dtype=bool)
        is_removed[np.asarray(texts)] = True
        missing = self.missing | is_removed[self.codes]
        codes = np.where(missing, -1, self.codes)
        return replace(self, codes=codes, missing=missing)._used_only()

    def spread(self, values: NDArray[Any], fill: Any) -> NDArray[Any]:
        """A value for each text -> a value for each row; `fill` where it is missing."""
        return np.append(values, np.array([fill], dtype=values.dtype))[self.codes]

    def row_of(self, cell: Any) -> int:
        """The number of the first row with this cell."""
        if not isinstance(cell, str):
            return self.row_number(int(np.argmax(self.values == cell)))
        column = self.as_text()
        return self.row_number(int(np.argmax(column.codes == column.texts.index(cell))))

    def row_number(self, at: int) -> int:
        """The number of a row in the file, from 1."""
        return at + 1 if self.row_numbers is None else int(self.row_numbers[at])

    def error(self, finding: str, remedy: str) -> ColumnError:
        return ColumnError(self.path, self.name, finding, remedy)

    def _used_only(self) -> RawColumn:
        """Without texts that no row has."""
        is_used = self.counts > 0
        if is_used.all():
            return self
        import pyarrow

        codes = np.append(np.cumsum(is_used) - 1, -1).astype(np.int32)
        values = self.values.filter(pyarrow.array(is_used))
        floats = None if self.floats is None else self.floats[is_used]
        return replace(self, values=values, codes=codes[self.codes], floats=floats)


def normalized_names(header: Sequence[str]) -> list[str]:
    """Column names on one line; columns without a name are numbered."""
    return [" ".join(name.split()) or f"column_{at}" for at, name in enumerate(header, start=1)]


def _as_texts(values: NDArray[Any]) -> list[str]:
    """Dates without a time of day where all are at midnight."""
    if values.dtype.kind == "M":
        days = np.asarray(values).astype("M8[D]")
        values = days if (days == values).all() else np.asarray(values)
        return list(map(str, values))
    return list(map(str, values.tolist()))


def text_array(texts: Sequence[str | None]) -> Any:
    """An Arrow array; lone surrogates, which no file can contain, are replaced."""
    import pyarrow

    try:
        return pyarrow.array(texts, pyarrow.string(), from_pandas=True)  # NaN is null, too
    except UnicodeEncodeError:
        known = [text if isinstance(text, str) else None for text in texts]
        safe = [text and text.encode("utf-8", "replace").decode() for text in known]
        return pyarrow.array(safe, pyarrow.string())


def text_column(name: str, cells: Iterable[str | None], is_typed: bool = False) -> RawColumn:
    """A column of text cells; None is a missing value."""
    return coded_column(name, text_array(list(cells)), is_typed)


def coded_column(name: str, texts: Any, is_typed: bool = False) -> RawColumn:
    """A column of an Arrow array of texts, in one chunk or several."""
    encoded = texts.dictionary_encode()
    if hasattr(encoded, "num_chunks"):
        encoded = encoded.chunk(0) if encoded.num_chunks == 1 else encoded.combine_chunks()
    codes = np.asarray(encoded.indices.fill_null(-1)).astype(np.int32, copy=False)
    return RawColumn(name, encoded.dictionary, codes < 0, codes, is_typed)


def uncoded_column(
    name: str, texts: Any, missing: NDArray[np.bool_], floats: NDArray[np.float64]
) -> RawColumn:
    """The column with one text, which is a decimal number, for each row that has one."""
    codes = np.where(missing, -1, np.cumsum(~missing) - 1).astype(np.int32)
    return RawColumn(name, texts, missing, codes, is_typed=False, floats=floats)


@dataclass(frozen=True)
class Sheet:
    """Header and columns of a file, before the names are checked."""

    header: list[str]
    columns: list[RawColumn]
    notes: tuple[str, ...] = ()
    has_other_rows: bool = False  # that do not fit the header
    may_have_commas: bool = True  # whether a cell can contain a decimal comma
    native: Any = None  # the Arrow table that it was made of


@dataclass(frozen=True)
class RawTable:
    """Columns in the order of the file, with notes and problems of reading it."""

    path: Path
    columns: Mapping[str, RawColumn]
    rows: int
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    may_have_commas: bool = True  # whether a cell can contain a decimal comma
    native: Any = None  # the Arrow table that it was made of
