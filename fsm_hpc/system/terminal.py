"""Print text and tables to the terminal."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from typing_extensions import Self

UNLIMITED = 10_000  # columns


_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}
_VISIBLE = {code: text for code, text in _CONTROLS.items() if chr(code) != "\n"}


def visible(text: str) -> str:
    """The text with control characters escaped, so that names cannot control the terminal."""
    return text.translate(_VISIBLE)


class PlainConsole(Console):
    """A console without markup, emoji and highlighting."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(visible(text), **options)


def console() -> Console:
    """The console; does not wrap lines if the output is not a terminal."""
    console = PlainConsole()
    return console if console.is_terminal else PlainConsole(width=UNLIMITED)


def styled(*parts: str | tuple[str, str]) -> Text:
    """One line of texts, each plain or with a style."""
    line = Text()
    for part in parts:
        text, style = (part, "") if isinstance(part, str) else part
        line.append(visible(text), style)
    return line


def table(headings: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> Table:
    """A table without borders and without empty columns. A heading that starts with > marks a
    column of numbers; the last column wraps."""
    used = [n for n in range(len(headings)) if any(row[n] for row in rows)]
    grid = Table(box=None, pad_edge=False, header_style="bold", show_header=any(headings))
    for n in used:
        is_number = headings[n].startswith(">")
        grid.add_column(
            headings[n].removeprefix(">"),
            justify="right" if is_number else "left",
            no_wrap=is_number,
            overflow="fold" if n == len(headings) - 1 else "ellipsis",
        )
    for row in rows:
        grid.add_row(*(row[n] for n in used))
    return grid


def configure_stdio() -> None:
    """Let standard output print every file name, in any encoding."""
    codecs.register_error(_ANY_NAME, _encoded)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the parent process
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ANY_NAME)


def _encoded(error: UnicodeError) -> tuple[bytes, int]:
    """Bytes that are no text unchanged, other characters as \\uXXXX."""
    assert isinstance(error, UnicodeEncodeError)
    wrong = error.object[error.start : error.end]
    return b"".join(
        bytes([ord(c) - 0xDC00]) if 0xDC80 <= ord(c) <= 0xDCFF else c.encode("ascii", _ESCAPED)
        for c in wrong
    ), error.end


_ESCAPED = "backslashreplace"
_ANY_NAME = "fsm_hpc.any_name"  # error handler of standard output


class LiveDisplay:
    """A display that is updated on a terminal, and not shown elsewhere."""

    def __init__(self, console: Console, **options: Any) -> None:
        from rich.live import Live

        self.console = console
        self.live = Live(console=console, **options)

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.console.is_terminal:
            self.live.stop()
