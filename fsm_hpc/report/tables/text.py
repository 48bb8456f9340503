"""Write a table as Markdown, as plain text, and as CSV."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

from fsm_hpc.report.tables.tabular import Heading, Line, Math, Table, show_number
from fsm_hpc.system import cells


@dataclass(frozen=True, slots=True)
class _Marks:
    """The mark-up of a text format."""

    text: Callable[[str], str]
    formula: Callable[[str], str]
    best: str
    note: str
    end_of_line: str = ""


_MARKDOWN = {character: "\\" + character for character in "\\`*_{}[]#|~$"} | {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    "^": "&#94;",
}


def markdown_text(text: str) -> str:
    """Text that Markdown shows as it is."""
    return "".join(_MARKDOWN.get(character, character) for character in text)


def _markdown_formula(text: str) -> str:
    runs = re.findall("`+", text)
    fence = "`" * (max(map(len, runs), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return fence + pad + text.replace("|", "\\|") + pad + fence


_IN_MARKDOWN = _Marks(markdown_text, _markdown_formula, "**{}**", "<sup>{}</sup>", "  ")
_IN_TERMINAL = _Marks(str, str, "*{}", "[{}]")


def to_markdown(table: Table) -> str:
    """The table with its caption and notes, aligned."""
    rows, widths = _cells(table, _IN_MARKDOWN)
    ruler = [
        "-" * width if column.is_text else "-" * (width - 1) + ":"
        for width, column in zip(widths, table.columns, strict=True)
    ]
    body = [f"| {' | '.join(_padded(row, widths, table.columns))} |" for row in rows]
    body.insert(1, f"| {' | '.join(ruler)} |")
    caption = f"**{markdown_text(table.caption)}**"
    return _joined(caption, "", *body, *_below(table, _IN_MARKDOWN))


def to_terminal(table: Table) -> str:
    """The table as plain text; the best of a row has an asterisk."""
    rows, widths = _cells(table, _IN_TERMINAL)
    body = ["  ".join(_padded(row, widths, table.columns)).rstrip() for row in rows]
    body.insert(1, "  ".join("-" * width for width in widths))
    has_best = any(table.best(line) for line in table.lines)
    caption = table.caption + (" (*: best of a row)" if has_best else "")
    return _joined(caption, *body, *_below(table, _IN_TERMINAL))


def _cells(table: Table, style: _Marks) -> tuple[list[list[str]], list[int]]:
    """All cells as text, the header first, and the width of each column."""
    rows = [[style.text(column.label) for column in table.columns]]
    rows += [_line(table, line, style) for line in table.lines]
    return rows, [max(3, *(len(row[n]) for row in rows)) for n in range(len(table.columns))]


def _padded(row: Sequence[str], widths: Sequence[int], columns: Sequence[Heading]) -> list[str]:
    return [
        text.ljust(width) if column.is_text else text.rjust(width)
        for text, width, column in zip(row, widths, columns, strict=True)
    ]


def _line(table: Table, line: Line, style: _Marks) -> list[str]:
    best = table.best(line)
    return [_cell(table, line, number, best, style) for number in range(len(table.columns))]


def _cell(table: Table, line: Line, number: int, best: set[int], style: _Marks) -> str:
    cell = line.cells[number]
    mark = style.note.format(table.notes[cell.note]) if cell.note else ""
    if cell.content is None:
        return "–" + mark
    if cell.value is None:
        return _piece(cell.content, style) + mark  # type: ignore[arg-type]
    text = show_number(cell.value, table.columns[number], line.is_difference)
    text = style.best.format(text) if number in best else text
    if cell.deviation is not None:
        text += f" ± {show_number(cell.deviation, table.columns[number])}"
    return text + mark


def _piece(piece: str | Math, style: _Marks) -> str:
    if isinstance(piece, Math):
        return style.formula(piece.text)
    return style.text(re.sub(r"\s+", " ", piece))


def _below(table: Table, style: _Marks) -> list[str]:
    """Remarks and notes after an empty line."""
    lines = ["".join(_piece(piece, style) for piece in remark) for remark in table.remarks]
    lines += [f"{style.note.format(m)} {style.text(text)}" for text, m in table.notes.items()]
    return ["", f"{style.end_of_line}\n".join(lines)] if lines else []


def to_csv(table: Table) -> str:
    """The table as CSV, with additional columns for deviations and notes."""
    spreads = [
        any(line.cells[number].deviation is not None for line in table.lines)
        for number in range(len(table.columns))
    ]
    header = [
        [column.label, f"{column.label} std"][: 1 + spread]
        for column, spread in zip(table.columns, spreads, strict=True)
    ]
    lines = (_csv_line(table.columns, line, spreads) for line in table.lines)
    return cells.write([*chain(*header), "notes"], lines)


def _csv_line(columns: Sequence[Heading], line: Line, spreads: Sequence[bool]) -> list[str]:
    values = [
        [_plain(cell.content), _plain(cell.deviation)][: 1 + spread]
        for cell, spread in zip(line.cells, spreads, strict=True)
    ]
    notes = [
        f"{column.label}: {cell.note}"
        for column, cell in zip(columns, line.cells, strict=True)
        if cell.note
    ]
    return [*chain(*values), "; ".join(notes)]


def _plain(content: str | Math | float | None) -> str:
    if content is None:
        return ""
    if isinstance(content, Math):
        return content.text
    return content if isinstance(content, str) else f"{round(content, 4):.10g}"


def _joined(*lines: str) -> str:
    return "\n".join(lines) + "\n"
