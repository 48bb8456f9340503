"""Words for a person: where they go, and how numbers are said in them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich.console import Console

if TYPE_CHECKING:
    from typing_extensions import Self

NO_EDGE = 10_000  # columns, more than any line has


def console(markup: bool = True) -> Console:
    """Nothing is broken or cut where there is no terminal, however long a path is."""
    here = Console(highlight=False, markup=markup)
    return here if here.is_terminal else Console(highlight=False, markup=markup, width=NO_EDGE)


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


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def clock(seconds: float) -> str:
    """`1:02:03`."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def number_ranges(numbers: Iterable[int]) -> str:
    """`0-3, 7, 8`: in order, runs of three or more drawn together."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [
        f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(str(n) for n in run) for run in runs
    ]
    return ", ".join(parts)
