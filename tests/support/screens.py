"""Consoles that write to memory: one that is a file, one that is a terminal."""

from __future__ import annotations

import io
import re

from rich.console import Console

from fsm_hpc.system.terminal import PlainConsole

SHOW_CURSOR, HIDE_CURSOR = "\x1b[?25h", "\x1b[?25l"


def screen(is_terminal: bool, width: int = 150) -> Console:
    return PlainConsole(file=io.StringIO(), force_terminal=is_terminal, width=width)


def said(console: Console) -> str:
    """All that was written, control codes included."""
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def lines_of(console: Console) -> list[str]:
    """What a person reads, line by line, in the order in which it was written."""
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", said(console))
    return [line.strip() for line in re.split(r"[\r\n]+", text) if line.strip()]
