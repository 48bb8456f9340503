"""A table as it was read: columns of numbers, truth values, dates or texts, with missing cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data.decimal_sign import DecimalSign, Numbers, read_numbers
from fsm_hpc.data.errors import ColumnError
from fsm_hpc.data.kind_name import KindName

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class RawColumn:
    """One column: a value for each row, or texts that occur once each and a code for each row."""

    name: str
    values: Any  # array of numbers, truth values or days by row; Arrow array of different texts
    missing: NDArray[np.bool_]  # by row
    codes: NDArray[np.int32] | None = None  # of texts: place of each row's text, -1 if missing
    is_typed: bool = True  # False: its source had text only, so that rules of text apply
    declared: KindName | None = None  # the kind that its source states
    order: tuple[str, ...] = ()  # of categories, where its source states one
    row_numbers: Rows | None = None  # in the file, from 1; None: 1, 2, ...
    place: Path | None = None
    sign: DecimalSign | None = DecimalSign.POINT  # None: the file contradicts itself
    memo: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)  # of its values

    @property
    def rows(self) -> int:
        return len(self.missing)

    @property
    def is_text(self) -> bool:
        return self.codes is not None

    @property
    def texts(self) -> list[str]:
        """The different texts, in the order in which they occur."""
        if "texts" not in self.memo:
            self.memo["texts"] = self.as_text().values.to_pylist()
        return self.memo["texts"]  # type: ignore[no-any-return]

    def first_texts(self, count: int) -> list[str]:
        """Some of the different texts, without a list of them all."""
        if self.is_text:
            return list(self.values[:count].to_pylist())
        first = np.flatnonzero(~self.missing)[:1000]
        shown = self.take(first).texts[:count] if len(first) < self.rows else self.texts[:count]
        return shown if len(shown) == count else self.texts[:count]

    def each_text(self) -> Iterator[str]:
        """The different texts, a few at a time, for a search that may end with the first ones."""
        step = 1000
        for start in range(0, len(self.values), step):
            yield from self.values[start : start + step].to_pylist()

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many rows have each text."""
        assert self.codes is not None
        return np.bincount(self.codes[~self.missing], minlength=len(self.values))

    @property
    def numbers(self) -> Numbers | None:
        """The different texts as numbers by its sign; None where one of them is none."""
        key = f"numbers by {self.sign}"
        if key not in self.memo:
            self.memo[key] = read_numbers(self.values, self.sign)
        return self.memo[key]  # type: ignore[no-any-return]

    def as_text(self) -> RawColumn:
        """The same with its values as text: 1, 2.5, True, 2021-03-04."""
        if self.is_text:
            return self
        import pandas as pd

        codes, different = pd.factorize(self.values)
        is_time = different.dtype.kind == "M"
        listed = _dates(different) if is_time else different.tolist()
        texts = text_array(list(map(str, listed)))
        codes = np.where(self.missing, -1, codes).astype(np.int32)
        return used_only(replace(self, values=texts, codes=codes, memo={}))

    def take(self, rows: Rows) -> RawColumn:
        """These rows, with the texts that occur in them."""
        if len(rows) == self.rows and not self.missing.any():
            return self
        numbers = rows + 1 if self.row_numbers is None else self.row_numbers[rows]
        kept = replace(self, missing=self.missing[rows], row_numbers=numbers)
        if self.codes is None:
            return replace(kept, values=self.values[rows], memo={})
        return used_only(replace(kept, codes=self.codes[rows]))

    def known(self) -> RawColumn:
        """The rows that have a value."""
        return self.take(np.flatnonzero(~self.missing))

    def without(self, texts: Sequence[int] | NDArray[Any]) -> RawColumn:
        """The same with the texts of these places as missing values."""
        if not len(texts) or self.codes is None:
            return self
        lost = np.zeros(len(self.values) + 1, dtype=bool)
        lost[np.asarray(texts)] = True
        missing = self.missing | lost[self.codes]
        return used_only(replace(self, codes=np.where(missing, -1, self.codes), missing=missing))

    def spread(self, values: NDArray[Any], fill: Any) -> NDArray[Any]:
        """A value for each text as one for each row; `fill` where it is missing."""
        return np.append(values, np.array([fill], dtype=values.dtype))[self.codes]

    def row_of(self, text: str) -> int:
        """The number of the first row with this text."""
        column = self.as_text()
        return self.row_number(int(np.argmax(column.codes == column.texts.index(text))))

    def row_number(self, at: int) -> int:
        """What the file counts a row as."""
        return at + 1 if self.row_numbers is None else int(self.row_numbers[at])

    def error(self, finding: str, remedy: str) -> ColumnError:
        return ColumnError(self.place, self.name, finding, remedy)


def _dates(moments: NDArray[Any]) -> NDArray[Any]:
    """Without the time of day, where all are at midnight."""
    days = np.asarray(moments).astype("M8[D]")
    return days if (days == moments).all() else np.asarray(moments)


def used_only(column: RawColumn) -> RawColumn:
    """Without texts that no row has."""
    counts = column.counts
    if column.codes is None or counts.all():
        return column
    import pyarrow

    places = np.append(np.cumsum(counts > 0) - 1, -1).astype(np.int32)
    values = column.values.filter(pyarrow.array(counts > 0))
    return replace(column, values=values, codes=places[column.codes], memo={})


def text_array(texts: Sequence[str | None]) -> Any:
    """An Arrow array; a lone surrogate, which no file can hold, is replaced."""
    import pyarrow

    try:
        return pyarrow.array(texts, pyarrow.string())
    except UnicodeEncodeError:
        safe = [text and text.encode("utf-8", "replace").decode() for text in texts]
        return pyarrow.array(safe, pyarrow.string())


def text_column(name: str, cells: Iterable[str | None], is_typed: bool = False) -> RawColumn:
    """A column of cells of text; None is a missing one."""
    import pandas as pd

    listed = np.fromiter(cells, dtype=object)
    codes, different = pd.factorize(listed)
    made = text_array(list(map(str, different)))
    return RawColumn(name, made, codes < 0, codes.astype(np.int32), is_typed)


@dataclass(frozen=True)
class Sheet:
    """Header and columns of a file whose cells have no types, or each its own."""

    header: list[str]
    columns: list[RawColumn]
    notes: tuple[str, ...] = ()
    has_other_rows: bool = False  # which do not fit the header
    may_have_commas: bool = True  # whether a cell can hold a decimal comma


@dataclass(frozen=True)
class RawTable:
    """Columns in the order of the file, and what was noticed while it was read."""

    path: Path
    columns: Mapping[str, RawColumn]
    rows: int
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()  # what is wrong with it so far
    may_have_commas: bool = True  # whether a cell can hold a decimal comma
    unreadable: frozenset[str] = frozenset()  # columns that are of no use, as problems say
    native: Any = None  # the frame or Arrow table that it was made of
