"""Format numbers and durations as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

SPREAD = 3.0  # the remaining time is rarely wrong by a larger factor


def counted(number: int, one: str, many: str = "") -> str:
    """`1 fold`, `2 folds`."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def listed(names: Sequence[str], most: int = 20) -> str:
    """The first names and the number of the others: `a, b and 6998 others`."""
    left = len(names) - most
    shown = ", ".join(names[: max(1, most)])
    return f"{shown} and {counted(left, 'other')}" if left > 0 else shown


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def clock(seconds: float) -> str:
    """`1:02:03`."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def duration(seconds: float) -> str:
    """A rounded duration: `40 s`, `3 min`, `2.5 h`, `4 days`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    if seconds < 48 * 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86400:.0f} days"


def how_far(share: float, left_s: float | None) -> str:
    """Progress with an estimate: `43 % searched, 1 min to 9 min left`."""
    progress = f"{100 * share:.0f} % searched"
    if left_s is None:
        return progress
    return f"{progress}, {duration(left_s / SPREAD)} to {duration(left_s * SPREAD)} left"


def number_ranges(numbers: Iterable[int]) -> str:
    """Sorted numbers with ranges: `0-3, 7, 8`."""
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
