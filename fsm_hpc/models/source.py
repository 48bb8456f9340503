"""A column as a rule knows it: read it from a file or a DataFrame the way it was when fitted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data.columns import Column, Kind, gap, one_hot
from fsm_hpc.data.dataset import Dataset
from fsm_hpc.data.kinds import RawKind
from fsm_hpc.errors import UserError
from fsm_hpc.models.exact import EXPECTED, inexact
from fsm_hpc.models.refused import refuse_array
from fsm_hpc.system.numbers import counted

_TRUE = ("true", "yes", "y", "t", "on", "1", "1.0")
_FALSE = ("false", "no", "n", "f", "off", "0", "0.0")
SHOWN = 3  # values in a message
FINITE = "a finite number"
_WHOLE = re.compile(r"0|-?[1-9][0-9]*")


@dataclass(frozen=True, slots=True)
class Source:
    """A column of the table: numbers, truth values, or one of these categories."""

    name: str
    kind: RawKind
    categories: tuple[str, ...] = ()
    true_values: tuple[str, ...] = ()  # how the file says true, and false
    false_values: tuple[str, ...] = ()
    place: int | None = None  # in the array or DataFrame that it was fitted on
    keeps_missing: bool = False  # whether a missing value says something: no comparison holds

    @property
    def one_hot_names(self) -> tuple[str, ...]:
        """What formulas call it, or its categories."""
        if self.kind is not RawKind.CATEGORICAL:
            return (self.name,)
        return tuple(f"{self.name}_{category}" for category in self.categories)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that a formula about it may name."""
        return (*self.one_hot_names, self.name) if self.keeps_missing else self.one_hot_names

    def columns(self, values: Any, reading: Reading) -> list[Column]:
        """The one-hot columns of these values; what cannot be read is noted, and counts as gaps."""
        if not self.keeps_missing:
            return self._columns(values, reading)
        own = Reading(reading.rows)
        made = self._columns(values, own)
        reading.notes += own.unknowns
        reading.problems += own.problems
        if self.kind is RawKind.NUMERIC and own.gaps.any():
            known = made[0].values.astype(np.float64)
            made = [replace(made[0], values=np.where(own.gaps, np.nan, known))]
        return [*made, gap(self.name, own.gaps)]

    def _columns(self, values: Any, reading: Reading) -> list[Column]:
        values = np.asarray(values)
        refuse_array(f"column {self.name!r}", values)
        if self.kind is RawKind.NUMERIC:
            if (found := inexact(values)) is not None:
                reading.bad(self.name, EXPECTED, [found])
            return [Column(self.name, Kind.NUMERIC, self._numbers(values, reading))]
        if self.kind is RawKind.BOOLEAN:
            return [Column(self.name, Kind.BOOLEAN, self._truths(values, reading))]
        return list(one_hot(self.name, self.categories, self._texts(values, reading)))

    def _numbers(self, values: NDArray[Any], reading: Reading) -> NDArray[Any]:
        if values.dtype.kind in "iuf":
            if values.dtype.kind == "f":
                values = values.astype(np.float64)  # float32 would round the threshold instead
                reading.bad(self.name, FINITE, values[np.isinf(values)][:SHOWN].tolist())
                reading.gap(self.name, np.isnan(values))
            return values
        if values.dtype.kind == "b":
            raise UserError(f"column {self.name!r}: expected numbers, found true or false")
        keys, distinct = _distinct(values)
        numbers = {key: _number(value) for key, value in distinct.items()}
        bad = [distinct[key] for key, number in numbers.items() if number != number]
        reading.bad(self.name, FINITE, [v for v in bad if not is_missing(v)])
        out = np.array([numbers[key] for key in keys], dtype=np.float64)
        reading.gap(self.name, np.isnan(out))
        return np.where(np.isnan(out), 0.0, out)

    def _truths(self, values: NDArray[Any], reading: Reading) -> NDArray[np.bool_]:
        if values.dtype.kind == "b":
            return values
        known: dict[Any, bool] = {}
        bad = []
        keys, distinct = _distinct(values)
        for key, value in distinct.items():
            text = str(value)
            whole = text.removesuffix(".0")  # what pandas makes of 1 in a column with gaps
            if {text, whole} & {*self.true_values, *self.false_values}:
                known[key] = bool({text, whole} & set(self.true_values))
            elif text.casefold() in self._stored_words:
                known[key] = text.casefold() in _TRUE
            elif not is_missing(value):
                bad.append(value)
        words = ", ".join((*self.true_values, *self.false_values)) or "true or false"
        reading.bad(self.name, f"one of {words}" if self.true_values else words, bad)
        reading.gap(self.name, np.array([key not in known for key in keys], dtype=bool))
        return np.array([known.get(key, False) for key in keys], dtype=bool)

    @property
    def _stored_words(self) -> tuple[str, ...]:
        """Other words for true and false, as exported rules take them: yes stored as true or 1."""
        words = (*self.true_values, *self.false_values)
        if not words:
            return (*_TRUE, *_FALSE)
        numbers = () if any(map(str.isdecimal, words)) else ("1", "1.0", "0", "0.0")
        return ("true", "false", *numbers)

    @property
    def _spellings(self) -> dict[str, str]:
        """Each category by its own text, and as other sources store it where that is clear."""
        found = [(spelling, word) for word in self.categories for spelling in stored(word)]
        taken = Counter([*self.categories, *(spelling for spelling, _ in found)])
        clear = {spelling: word for spelling, word in found if taken[spelling] == 1}
        return clear | {word: word for word in self.categories}

    def _texts(self, values: NDArray[Any], reading: Reading) -> NDArray[Any]:
        """Values as the categories are written: 1.0 is the category 1, where there is no 1.0."""
        texts: dict[Any, str] = {}
        keys, distinct = _distinct(values)
        spellings = self._spellings
        for key, value in distinct.items():
            if not is_missing(value):
                text = str(value)
                spelling = text if isinstance(value, str) else text.lower()
                texts[key] = text if text in self.categories else spellings.get(spelling, text)
        new = [text for text in texts.values() if text not in self.categories]
        reading.unknown(self.name, new)
        reading.gap(self.name, np.array([key not in texts for key in keys], dtype=bool))
        return np.array([texts.get(key) for key in keys], dtype=object)  # a gap is no category


@dataclass(slots=True)
class Reading:
    """What was noticed while the columns of a table were read, each problem once, by name."""

    rows: int
    gaps: NDArray[np.bool_] = field(init=False)  # rows that have no value where one is needed
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    unknowns: list[str] = field(default_factory=list)  # the notes that are of new categories

    def __post_init__(self) -> None:
        self.gaps = np.zeros(self.rows, dtype=bool)

    def gap(self, name: str, where: NDArray[np.bool_] | None) -> None:
        if where is not None and where.any():
            self.gaps |= where
            self.notes.append(f"column {name!r}: no value in {counted(int(where.sum()), 'row')}")

    def bad(self, name: str, expected: str, found: list[Any]) -> None:
        if found:
            self.problems.append(f"column {name!r}: expected {expected}, found {_shown(found)}")

    def unknown(self, name: str, found: list[str]) -> None:
        if found:
            self.unknowns.append(
                f"column {name!r}: {_shown(found)} was not there when the rule was fitted, and "
                "counts as none of its categories"
            )
            self.notes.append(self.unknowns[-1])


def stored(word: str) -> Iterator[str]:
    """What becomes of a word in another source: a number of 1 or 1.0, a truth value of True."""
    if _WHOLE.fullmatch(word):
        yield f"{word}.0"
    elif _WHOLE.fullmatch(word.removesuffix(".0")):
        yield word.removesuffix(".0")
    elif word.lower() in ("true", "false") and word != word.lower():
        yield word.lower()


def of_dataset(dataset: Dataset, used: set[str]) -> Iterator[Source]:
    """The columns of the file that a formula over these one-hot columns needs."""
    for name, kind in dataset.kinds:
        mine = [c for c in dataset.columns if (c.source or c.name) == name]
        known = {name} if dataset.keeps_missing else set()
        if used & {*known, *(column.name for column in mine)}:
            categories = tuple(str(c.category) for c in mine if c.category is not None)
            words = dataset.truth_words.get(name, ((), ()))
            yield Source(name, kind, categories, *words, keeps_missing=dataset.keeps_missing)


def _distinct(values: NDArray[Any]) -> tuple[list[Any], dict[Any, Any]]:
    """A key for each cell, and the values by key: 1, 1.0 and True are equal, but not the same."""
    listed = values.tolist()
    keys = listed if values.dtype.kind in "US" else [_key(value) for value in listed]
    return keys, dict(zip(keys, listed, strict=True))


def _key(value: Any) -> Any:
    if type(value) is str:
        return value
    try:
        hash(value)
    except TypeError:  # a list in a cell
        return type(value), repr(value)
    return type(value), value


def _number(value: Any) -> float:
    """What a cell says, NaN where that is no finite number; only Python reads 1_000 as one."""
    if isinstance(value, (bool, complex)) or (isinstance(value, str) and "_" in value):
        return np.nan
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan
    return number if np.isfinite(number) else np.nan


def is_missing(value: Any) -> bool:
    """Only null is: None, NaN, NaT, NA. A text is a value, the empty one too."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA is neither equal nor unequal
        return True
    except (ArithmeticError, ValueError):  # a signaling NaN; an array in a cell
        return False


def _shown(values: list[Any]) -> str:
    said = ", ".join(repr(value) for value in values[:SHOWN])
    return said + (f" and {len(values) - SHOWN} more" if len(values) > SHOWN else "")
