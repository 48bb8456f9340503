"""Columns of categories: a Boolean column for each, `job_services`."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.data.decimal_sign import are_numbers
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds import texts
from fsm_hpc.data.kinds.base import ColumnKind, ColumnSchema, Reading
from fsm_hpc.data.kinds.numeric import is_infinite, refuse_infinity, refuse_other_sign
from fsm_hpc.data.raw import RawColumn
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.system.numbers import counted

_MANY = 9  # categories; fewer may be grades such as A1, 10k
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})([T ].*)?"
    r"|\d{1,2}[ -][A-Za-z]{3,9}[ -]\d{2,4}|[A-Za-z]{3,9} \d{1,2},? \d{4}"
    r"|(-?\d+ days?,? )?\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
)
_WITH_UNIT = re.compile(r"[-+]?([$€£]\s?\d[\d.,]*|\d[\d.,]*\s?([^\W\d_]{1,4}|[%°€$£]))")


class Categorical(ColumnKind):
    name = KindName.CATEGORICAL

    def fits(self, column: RawColumn) -> bool:
        """Always; raise an error for texts that look like dates or malformed numbers."""
        if not column.is_text and column.values.dtype.kind == "M":
            shown = column.first_texts(1)[0]
            raise column.error(
                f"expected numbers, text or true/false, found dates or times ({shown})",
                "{drop}, or, if these are categories, {categorical}",
            )
        if not texts.looks_like_codes(column.texts):
            _refuse_dates(column)
            if not column.is_typed:
                _refuse_numbers(column)
        return True

    def schema(self, column: RawColumn, spec: DatasetSpec) -> ColumnSchema:
        return ColumnSchema(column.name, self.name, tuple(categories_of(column, spec)))

    def columns(self, schema: ColumnSchema, column: RawColumn, reading: Reading) -> list[Column]:
        spellings = spellings_of(schema.categories)
        if not column.is_text and column.values.dtype.kind == "b":
            spellings = {word.capitalize(): word for word in spellings.values()} | spellings
        is_time = not column.is_text and column.values.dtype.kind == "M"
        column = column.as_text()
        index = {category: at for at, category in enumerate(schema.categories)}
        codes = [index.get(spellings.get(text, text), -1) for text in column.texts]
        new = [text for text, code in zip(column.texts, codes, strict=True) if code < 0]
        if is_time and len(new) == len(codes):
            reading.note_bad(schema.name, "one of its categories", new)
        reading.note_unknown(schema.name, new, "none of its categories")
        return self.of_codes(schema, column.spread(np.array(codes, dtype=np.int64), -1))

    def of_codes(self, schema: ColumnSchema, codes: np.ndarray) -> list[Column]:
        """The Boolean columns, from the index of each row's category; -1 is none of them."""
        return [
            Column(name, Kind.BOOLEAN, codes == at, schema.name, category)
            for at, (name, category, _) in enumerate(self.categories_of(schema))
        ]

    def categories_of(self, schema: ColumnSchema) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        for category in schema.categories:
            yield f"{schema.name}_{category}", category, (category,)

    def doubts(self, column: RawColumn, columns: Sequence[Column]) -> Iterator[str]:
        distinct = column.as_text().texts
        if len(distinct) == column.rows > _MANY:
            yield f"{column.name} has another value in every row; if it is an id, {{drop}}"
        if len(distinct) > _MANY and _have_units(distinct):
            yield (
                f"warning: {column.name} counts as {len(distinct)} categories, as {distinct[0]!r} "
                "is no number; if it is one with a unit, remove the unit from the column"
            )
        for group in _groups_by_case(distinct):
            yield f"{column.name}: {' and '.join(group)} count as different categories"


def categories_of(column: RawColumn, spec: DatasetSpec) -> list[str]:
    """The sorted categories of a column; raise an error if there are too many."""
    categories = texts.in_order(column.as_text().texts)
    if len(categories) > spec.max_categories:
        most = counted(spec.max_categories, "category", "categories")
        count = f"{len(categories)} different ones in {counted(column.rows, 'row')}"
        is_id = " (each once: an id or free text)" if len(categories) == column.rows else ""
        has_unit = _have_units(categories[:1])
        hint = "; if these are numbers with a unit, remove the unit" if has_unit else ""
        raise column.error(
            f"expected at most {most}, found {count}{is_id}", f"{{drop}} or {{fewer}}{hint}"
        )
    return categories


def spellings_of(categories: Sequence[str]) -> dict[str, str]:
    """Each category by its own text, and by that of other sources if it is unambiguous."""
    pairs = [(spelling, word) for word in categories for spelling in texts.stored(word)]
    counts = Counter([*categories, *(spelling for spelling, _ in pairs)])
    unique = {spelling: word for spelling, word in pairs if counts[spelling] == 1}
    return unique | {word: word for word in categories}


def _refuse_dates(column: RawColumn) -> None:
    """Raise an error for dates in other formats, unless the settings declare categories."""
    distinct = column.texts
    if distinct and all(_DATE.fullmatch(text) for text in distinct):
        raise column.error(
            f"expected numbers or categories, found dates or times as text ({distinct[0]!r})",
            "{dates}, {drop}, or, if these are categories, {categorical}",
        )


def _refuse_numbers(column: RawColumn) -> None:
    """A few words among numbers are mistakes or unknown missing values, not categories."""
    distinct = column.texts
    infinite = list(filter(is_infinite, distinct))
    if are_numbers(text for text in distinct if text not in infinite):
        refuse_infinity(column, infinite)
    refuse_other_sign(column)
    words = [at for at, text in enumerate(distinct) if not are_numbers((text,))]
    cells = int(column.counts[words].sum())
    if cells * 2 < column.rows:
        first = distinct[words[0]]
        raise column.error(
            f"expected numbers, found {first!r} in row {column.row_of(first)} (numbers in "
            f"{column.rows - cells} of {column.rows} rows)",
            "if it means missing, {missing}; if these are categories, {categorical}",
        )


def _have_units(values: Iterable[str]) -> bool:
    """Whether all of them look like a number with a unit, such as `67 %`."""
    return all(map(_WITH_UNIT.fullmatch, values))


def _groups_by_case(values: Iterable[str]) -> list[tuple[str, ...]]:
    """Groups of categories that differ only in upper and lower case."""
    groups: dict[str, list[str]] = defaultdict(list)
    for value in values:
        groups[value.casefold()].append(value)
    return [tuple(group) for group in groups.values() if len(group) > 1]
