"""Where words for a person go."""

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

NO_EDGE = 10_000  # columns, more than any line has


_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}
_VISIBLE = {code: text for code, text in _CONTROLS.items() if chr(code) != "\n"}


def visible(text: str) -> str:
    """The text with what would steer a terminal written out: a name cannot colour or clear it."""
    return text.translate(_VISIBLE)


class PlainConsole(Console):
    """Prints every text as it is: brackets are brackets, `:x:` is no picture."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(visible(text), **options)


def console() -> Console:
    """Nothing is broken or cut where there is no terminal, however long a path is."""
    here = PlainConsole()
    return here if here.is_terminal else PlainConsole(width=NO_EDGE)


def styled(*parts: str | tuple[str, str]) -> Text:
    """One line of texts, each as it is or with a style."""
    made = Text()
    for part in parts:
        text, style = (part, "") if isinstance(part, str) else part
        made.append(visible(text), style)
    return made


def table(headings: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> Table:
    """A table without lines, of the columns in which there is anything; a heading that begins with
    > is over numbers, and what is too wide for the last column goes on in the next line."""
    used = [n for n in range(len(headings)) if any(row[n] for row in rows)]
    made = Table(box=None, pad_edge=False, header_style="bold", show_header=any(headings))
    for n in used:
        is_number = headings[n].startswith(">")
        made.add_column(
            headings[n].removeprefix(">"),
            justify="right" if is_number else "left",
            no_wrap=is_number,
            overflow="fold" if n == len(headings) - 1 else "ellipsis",
        )
    for row in rows:
        made.add_row(*(row[n] for n in used))
    return made


def configure_stdio() -> None:
    """Let standard output take every name of a file, whatever its bytes or the encoding here."""
    codecs.register_error("as_it_is", _as_it_is)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by who started this command
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="as_it_is")


def _as_it_is(error: UnicodeError) -> tuple[bytes, int]:
    """Bytes that were no text come out as those bytes, all else that cannot be said as \\uXXXX."""
    assert isinstance(error, UnicodeEncodeError)
    wrong = error.object[error.start : error.end]
    return b"".join(
        bytes([ord(c) - 0xDC00]) if 0xDC80 <= ord(c) <= 0xDCFF else c.encode("ascii", _ESCAPED)
        for c in wrong
    ), error.end


_ESCAPED = "backslashreplace"


class LiveDisplay:
    """Something that is drawn again and again on a terminal, and not at all elsewhere."""

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
