"""Write a table in Markdown, for people, and in CSV, for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from itertools import chain

from fsm_hpc.tabular import Column, Line, Math, Table, show_number

_MARKDOWN = {character: "\\" + character for character in "\\`*_{}[]#|~$"} | {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    "^": "&#94;",
}


def markdown_text(text: str) -> str:
    """Text that Markdown shows as it is."""
    return "".join(_MARKDOWN.get(character, character) for character in " ".join(text.split()))


def to_markdown(table: Table) -> str:
    """The table with its caption and notes, aligned to be read as plain text too."""
    rows = [[markdown_text(column.label) for column in table.columns]]
    rows += [_markdown_line(table, line) for line in table.lines]
    widths = [max(3, *(len(row[n]) for row in rows)) for n in range(len(table.columns))]
    ruler = [
        "-" * width if column.is_text else "-" * (width - 1) + ":"
        for width, column in zip(widths, table.columns, strict=True)
    ]
    body = [_markdown_row(row, widths, table.columns) for row in rows]
    body.insert(1, "| " + " | ".join(ruler) + " |")
    below = _markdown_notes(table)
    return _joined(f"**{markdown_text(table.caption)}**", "", *body, *below)


def _markdown_row(row: Sequence[str], widths: Sequence[int], columns: Sequence[Column]) -> str:
    padded = [
        text.ljust(width) if column.is_text else text.rjust(width)
        for text, width, column in zip(row, widths, columns, strict=True)
    ]
    return "| " + " | ".join(padded) + " |"


def _markdown_line(table: Table, line: Line) -> list[str]:
    best = table.best(line)
    return [_markdown_cell(table, line, number, best) for number in range(len(table.columns))]


def _markdown_cell(table: Table, line: Line, number: int, best: set[int]) -> str:
    cell = line.cells[number]
    mark = f"<sup>{table.notes[cell.note]}</sup>" if cell.note else ""
    if cell.content is None:
        return "–" + mark
    if cell.value is None:
        return _markdown_piece(cell.content) + mark  # type: ignore[arg-type]
    text = show_number(cell.value, table.columns[number], line.is_difference)
    text = f"**{text}**" if number in best else text
    if cell.deviation is not None:
        text += f" ± {show_number(cell.deviation, table.columns[number])}"
    return text + mark


def _markdown_piece(piece: str | Math) -> str:
    if not isinstance(piece, Math):
        return markdown_text(piece)
    fence = "`" * (_longest_run(piece.text, "`") + 1)
    pad = " " if piece.text.startswith("`") or piece.text.endswith("`") else ""
    return fence + pad + piece.text.replace("|", "\\|") + pad + fence


def _longest_run(text: str, character: str) -> int:
    longest = run = 0
    for found in text:
        run = run + 1 if found == character else 0
        longest = max(longest, run)
    return longest


def _markdown_notes(table: Table) -> list[str]:
    lines = ["".join(_markdown_remark(p) for p in remark) for remark in table.remarks]
    lines += [f"<sup>{mark}</sup> {markdown_text(text)}" for text, mark in table.notes.items()]
    return ["", "  \n".join(lines)] if lines else []


def _markdown_remark(piece: str | Math) -> str:
    if isinstance(piece, Math):
        return _markdown_piece(piece)
    before, after = (" " if piece[:1] == " " else ""), (" " if piece[-1:] == " " else "")
    return before + markdown_text(piece) + after


def to_csv(table: Table) -> str:
    """Plain numbers; deviations and notes have columns of their own."""
    spreads = [
        any(line.cells[number].deviation is not None for line in table.lines)
        for number in range(len(table.columns))
    ]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    header = [
        [column.label, f"{column.label} std"][: 1 + spread]
        for column, spread in zip(table.columns, spreads, strict=True)
    ]
    writer.writerow([*chain(*header), "notes"])
    for line in table.lines:
        values = [
            [_plain(cell.content), _plain(cell.deviation)][: 1 + spread]
            for cell, spread in zip(line.cells, spreads, strict=True)
        ]
        notes = [
            f"{column.label}: {cell.note}"
            for column, cell in zip(table.columns, line.cells, strict=True)
            if cell.note
        ]
        writer.writerow([*chain(*values), "; ".join(notes)])
    return stream.getvalue()


def _plain(content: str | Math | float | None) -> str:
    if content is None:
        return ""
    if isinstance(content, Math):
        return content.text
    return content if isinstance(content, str) else f"{round(content, 4):.10g}"


def _joined(*lines: str) -> str:
    return "\n".join(lines) + "\n"
