"""Columns of truth values: true and false, yes and no, 1 and 0."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds import texts
from fsm_hpc.data.kinds.base import ColumnKind, ColumnSchema, Reading
from fsm_hpc.data.kinds.texts import TRUE
from fsm_hpc.data.raw import RawColumn
from fsm_hpc.data.spec import DatasetSpec

_FALSE = ("false", "no", "n", "f", "off", "0", "0.0")


class Boolean(ColumnKind):
    name = KindName.BOOLEAN

    def fits(self, column: RawColumn) -> bool:
        if column.is_text:
            return texts.is_truth(column.first_texts(50))
        values = column.values
        is_number = values.dtype.kind in "iuf"
        return values.dtype.kind == "b" or (
            is_number and bool(np.isin(values[~column.missing], (0, 1)).all())
        )

    def schema(self, column: RawColumn, spec: DatasetSpec) -> ColumnSchema:
        """`true_values` hold, the one other value does not."""
        if not column.is_text and column.values.dtype.kind == "b":
            return ColumnSchema(column.name, self.name)
        distinct = column.as_text().texts
        stated = {texts.match(value, distinct) for value in spec.true_values} - {None}
        is_clear = len(stated) == 1 and len(distinct) <= 2
        if not stated and texts.is_truth(distinct):
            stated, is_clear = {value for value in distinct if texts.means_true(value)}, True
        if not is_clear and not (spec.true_values and not stated and len(distinct) == 1):
            shown = ", ".join(texts.in_order(distinct)[:5])
            raise column.error(
                f"expected two values, true and false, found {len(distinct)}: {shown}",
                "{true}, or {categorical} or {numeric}",
            )
        true, false = ([v for v in distinct if (v in stated) is truth] for truth in (True, False))
        return ColumnSchema(column.name, self.name, (), tuple(sorted(true)), tuple(sorted(false)))

    def columns(self, schema: ColumnSchema, column: RawColumn, reading: Reading) -> list[Column]:
        if not column.is_text and column.values.dtype.kind == "b":
            return [Column(schema.name, Kind.BOOLEAN, column.values & ~column.missing)]
        column = column.as_text()
        known = [_truth(schema, text) for text in column.texts]
        bad = [text for text, truth in zip(column.texts, known, strict=True) if truth is None]
        _note_bad(schema, bad, reading)
        truths = column.spread(np.array(known, dtype=bool), False)
        return [Column(schema.name, Kind.BOOLEAN, truths & ~column.missing)]

    def categories_of(self, schema: ColumnSchema) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        yield schema.name, "true", schema.true_values


def _truth(schema: ColumnSchema, text: str) -> bool | None:
    """The truth value of a text, by the words of the fitted table or of other sources."""
    whole = text.removesuffix(".0")  # pandas writes 1 so in a column with missing values
    if {text, whole} & {*schema.true_values, *schema.false_values}:
        return bool({text, whole} & set(schema.true_values))
    if text.casefold() in _stored_words(schema):
        return text.casefold() in TRUE
    return None


def _stored_words(schema: ColumnSchema) -> tuple[str, ...]:
    """Other words for true and false, which exported rules accept, too: true or 1 for yes."""
    words = (*schema.true_values, *schema.false_values)
    if not words:
        return (*TRUE, *_FALSE)
    numbers = () if any(map(str.isdecimal, words)) else ("1", "1.0", "0", "0.0")
    return ("true", "false", *numbers)


def _note_bad(schema: ColumnSchema, values: Sequence[str], reading: Reading) -> None:
    """A word is an error; a number other than 0 and 1 is an unknown value."""
    words = (*schema.true_values, *schema.false_values)
    are_numbers = bool(words) and texts.are_codes(words)
    unknown = [value for value in values if are_numbers and texts.are_codes([value])]
    reading.note_unknown(schema.name, unknown, "false")
    bad = [value for value in values if value not in unknown]
    expected = f"one of {', '.join(words)}" if schema.true_values else ", ".join(words)
    reading.note_bad(schema.name, expected or "true or false", bad)
