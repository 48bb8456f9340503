"""Columns of dates: days for a solver, dates in formulas and in exported code."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds.base import ColumnKind, ColumnSchema, Reading
from fsm_hpc.data.kinds.writer import T, Writer
from fsm_hpc.data.raw import RawColumn
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.proposition import Proposition
from fsm_hpc.formulas.text import Threshold

_FIRST = datetime(1970, 1, 1)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]00:00(:00(\.0+)?)?)?")
_CELLS = {  # language -> the date of a cell, to be compared with `_literals`
    "sql": "SUBSTR({0}, 1, 10)",
    "python": "_date(row, {0})",
    "javascript": "date({0})",
    "excel": "IF(ISNUMBER({0}),{0},DATEVALUE(LEFT({0},10)))",
    "json": "{0}",
    "r": "date({0})",
}
_HELPERS = {
    "python": """

def _date(row, column):
    if _cell(row, column) is None:
        return ""  # no comparison holds
    text = str(row[column])[:10]
    parts = text.split("-")
    if [len(part) for part in parts] != [4, 2, 2] or not "".join(parts).isdigit():
        raise ValueError(f"column {column!r}: expected a date, found {row[column]!r}")
    return text
""",
    "javascript": r"""
  function date(column) {
    let value = cell(column);
    if (value === null) return "";  // no comparison holds
    if (value instanceof Date) {
      value = new Date(value.getTime() - value.getTimezoneOffset() * 60000).toISOString();
    }
    if (!/^\d{4}-\d{2}-\d{2}([T ]|$)/.test(value)) {
      throw new Error(`column "${column}": expected a date, found "${value}"`);
    }
    return value.slice(0, 10);
  }
""",
    "r": """\
  date <- function(column) {
    value <- cell(column)
    found <- as.Date(substr(as.character(value), 1, 10), format = "%Y-%m-%d")
    if (any(!is.na(value) & is.na(found))) stop("expected dates in ", sQuote(column))
    as.numeric(found)
  }
""",
}


class Day(Threshold):
    """Days since 1970-01-01, written as a date."""

    @staticmethod
    def parse(text: str) -> Day:
        return Day((datetime.fromisoformat(text) - _FIRST) / timedelta(days=1))

    def written(self) -> str:
        moment = _FIRST + timedelta(days=float(self))
        return moment.date().isoformat() if float(self).is_integer() else moment.isoformat()


class Date(ColumnKind):
    name = KindName.DATE

    def fits(self, column: RawColumn) -> bool:
        if not column.is_text:
            return bool(column.values.dtype.kind == "M")
        return not column.is_typed and all(map(_DATE.fullmatch, column.texts))

    def schema(self, column: RawColumn, spec: DatasetSpec) -> ColumnSchema:
        _, bad = _days(column)
        if bad:
            raise column.error(
                f"expected dates such as 2021-03-04, found {bad[0]!r} in row "
                f"{column.row_of(bad[0])}",
                "correct it, remove times of day, or {drop}",
            )
        return ColumnSchema(column.name, self.name)

    def columns(self, schema: ColumnSchema, column: RawColumn, reading: Reading) -> list[Column]:
        days, bad = _days(column)
        reading.note_bad(schema.name, "a date such as 2021-03-04", bad)
        return [Column(schema.name, Kind.NUMERIC, days, threshold=Day)]

    def condition(self, schema: ColumnSchema, proposition: Proposition, writer: Writer[T]) -> T:
        if writer.language in ("onnx", "pmml"):  # their engines get numbers of days
            return writer.number(proposition)
        if writer.language not in _CELLS:
            raise UserError(f"{proposition} cannot be exported to this format; choose another one")
        cell = _CELLS[writer.language].format(writer.cell(schema.name))
        low, high = Day(proposition.low), Day(proposition.high)
        return writer.compare(cell, proposition, (_literal(low, writer), _literal(high, writer)))

    def helpers(self, language: str) -> str:
        return _HELPERS.get(language, "")


def _days(column: RawColumn) -> tuple[NDArray[np.float64], list[str]]:
    """Days since 1970-01-01 by row, and values that are no dates."""
    if not column.is_text and column.values.dtype.kind == "M":
        days = column.values.astype("M8[D]")
        odd = ~column.missing & (days != column.values)
        return _numbers(days), [str(value) for value in column.values[odd][:3]]
    column = column.as_text()
    bad = [text for text in column.texts if not _is_date(text)]
    days = np.array(["NaT" if text in bad else text[:10] for text in column.texts], dtype="M8[D]")
    return column.spread(_numbers(days), 0.0), bad


def _numbers(days: NDArray[Any]) -> NDArray[np.float64]:
    return np.where(np.isnat(days), 0.0, days.astype(np.int64).astype(np.float64))


def _is_date(text: str) -> bool:
    try:
        return _DATE.fullmatch(text) is not None and bool(datetime.fromisoformat(text[:10]))
    except ValueError:  # 2021-02-30
        return False


def _literal(day: Day, writer: Writer[Any]) -> str:
    if writer.language == "r":
        return repr(float(day))
    if writer.language != "excel":
        return writer.text(day.written())
    whole = _FIRST + timedelta(days=float(np.floor(day)))
    part = float(day) - np.floor(day)
    return f"DATE({whole.year},{whole.month},{whole.day})" + (f"+{part}" if part else "")
