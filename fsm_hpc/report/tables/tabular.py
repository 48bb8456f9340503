"""A table as data: columns, cells with deviations, and notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, pstdev

Better = Callable[[Iterable[float]], float]  # max or min


@dataclass(frozen=True, slots=True)
class Heading:
    """A column; with `better`, the best number of each row is set in bold."""

    label: str
    better: Better | None = None
    digits: int = 1
    signed: bool = False  # differences: +0.3
    is_text: bool = False  # aligned to the left
    is_wide: bool = False  # long text, broken into lines


@dataclass(frozen=True, slots=True)
class Math:
    """A formula or a letter: for LaTeX and as plain text."""

    latex: str
    text: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A text, a formula, or a number with its deviation; a note is printed below the table."""

    content: str | Math | float | None = None
    deviation: float | None = None
    note: str = ""

    @property
    def value(self) -> float | None:
        is_number = isinstance(self.content, (int, float))
        return float(self.content) if is_number else None  # type: ignore[arg-type]


def mean_cell(values: Sequence[float], note: str = "", deviation: bool = False) -> Cell:
    """The mean of the values, with their deviation on request; empty without values."""
    if not values:
        return Cell(note=note)
    return Cell(fmean(values), pstdev(values) if deviation else None, note)


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table."""

    cells: tuple[Cell, ...]
    is_difference: bool = False  # numbers have a sign, and none is the best
    is_total: bool = False  # stays below the others when they are sorted
    opens_group: bool = False  # a line above it, or a label that is not repeated below


Remark = tuple[str | Math, ...]


@dataclass(frozen=True)
class Table:
    """A table with its caption; `remarks` are printed below it."""

    name: str
    caption: str
    columns: tuple[Heading, ...]
    lines: tuple[Line, ...]
    remarks: tuple[Remark, ...] = ()

    @cached_property
    def notes(self) -> dict[str, str]:
        """Every note with its letter, in the order of their cells."""
        texts = dict.fromkeys(c.note for line in self.lines for c in line.cells if c.note)
        return {text: _letter(number) for number, text in enumerate(texts)}

    def best(self, line: Line) -> set[int]:
        """The columns with the best number of a line, compared as they are printed."""
        if line.is_difference:
            return set()
        winners: set[int] = set()
        for better in {column.better for column in self.columns if column.better is not None}:
            shown = {
                number: round(cell.value, column.digits)
                for number, (column, cell) in enumerate(zip(self.columns, line.cells, strict=True))
                if column.better is better and cell.value is not None
            }
            if len(shown) > 1:
                best = better(shown.values())
                winners |= {number for number, value in shown.items() if value == best}
        return winners

    def is_repeated(self, index: int, column: int) -> bool:
        """Whether a label is the one above it, in the same group."""
        line = self.lines[index]
        above = self.lines[index - 1] if index else None
        return (
            above is not None
            and not line.opens_group
            and column == 0
            and line.cells[0].content == above.cells[0].content
        )


def show_number(value: float, column: Heading, signed: bool = False) -> str:
    """The digits that a column shows: 1234.5, +0.3."""
    sign = "+" if signed or column.signed else "-"
    text = f"{value:{sign}.{column.digits}f}"
    is_zero = not any(digit in text for digit in "123456789")
    return text.lstrip("+-") if is_zero else text


def _letter(number: int) -> str:
    """a, b, ... z, aa, ab, ..."""
    first, last = divmod(number, 26)
    return (_letter(first - 1) if first else "") + chr(ord("a") + last)
