"""Tables of folds for a person to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from fsm_hpc.cluster.slurm import Hints
from fsm_hpc.cluster.watch.states import FoldStatus, State

if TYPE_CHECKING:  # plan loads numpy, which `status` does without
    from fsm_hpc.cluster.submit.plan import Array, Decision

COLOURS = {
    State.DONE: "green",
    State.TIMEOUT: "yellow",
    State.OUT_OF_MEMORY: "red",
    State.RUNNING: "cyan",
    State.QUEUED: "blue",
    State.UNKNOWN: "magenta",
    State.PARTIAL: "yellow",
    State.LOST: "red",
    State.CANCELLED: "yellow",
    State.FAILED: "red",
    State.CHANGED: "yellow",
    State.MISSING: "dim",
}
MOST_ROWS = 100  # of folds one by one; above that only what is not done, and sums


def decisions(console: Console, made: Sequence[Decision], verb: str) -> None:
    """What is submitted and skipped, and why, one row for folds that share a fate."""
    groups: dict[tuple[str, str, bool, str], list[int]] = {}
    for one in made:
        key = (one.target.dataset, one.target.method, one.is_submitted, one.why)
        groups.setdefault(key, []).append(one.target.fold)
    table = _table("dataset", "method", "folds", "", "why")
    for (dataset, method, is_submitted, why), folds in groups.items():
        word = f"[green]{verb}[/green]" if is_submitted else "[dim]skipped[/dim]"
        table.add_row(dataset, method, ranges(folds), word, escape(why))
    console.print(table)


def layout(console: Console, arrays: Sequence[Array]) -> None:
    """The arrays of a plan, with what they may cost at most."""
    table = _table("array", "jobs", "at a time", "cores", "memory", "time limit", "core-hours")
    for number, array in enumerate(arrays, 1):
        cluster = array.jobs[0].config.cluster
        table.add_row(
            str(number),
            str(len(array.jobs)),
            str(array.at_a_time),
            str(cluster.cpus),
            f"{cluster.mem_gb:g} GB",
            f"{cluster.timeout_h:g} h",
            f"{array.core_hours:,.0f}",
        )
    console.print(table)
    total = sum(array.core_hours for array in arrays)
    console.print(f"at most {total:,.0f} core-hours, if every job runs to its first time limit")


def folds(console: Console, statuses: Sequence[FoldStatus]) -> None:
    """One row per fold, or only those that are not done when there are many."""
    shown = list(statuses)
    if len(shown) > MOST_ROWS:
        shown = [status for status in shown if status.state is not State.DONE]
    if shown and len(shown) <= MOST_ROWS:
        console.print(fold_table(shown))
    elif shown:
        console.print(group_table(shown))
    console.print(sums(statuses), highlight=False)


def overview(statuses: Sequence[FoldStatus], height: int) -> Group:
    """As much as a terminal holds: folds one by one, or in groups, and the sums."""
    rows = fold_table(statuses) if len(statuses) + 3 < height else group_table(statuses)
    return Group(rows, Text.from_markup(sums(statuses)))


def fold_table(statuses: Iterable[FoldStatus]) -> Table:
    """One row per fold."""
    table = _table("dataset", "method", "fold", "state", "length", "validation", "test", "elapsed")
    table.add_column("job")
    table.add_column("why", overflow="fold")
    for one in statuses:
        warnings = "".join(f" [yellow]{escape(text)}[/yellow]" for text in one.warnings)
        table.add_row(
            one.target.dataset,
            one.target.method,
            str(one.target.fold),
            _coloured(one.state),
            "" if one.length is None else str(one.length),
            "" if one.best_validation is None else percent(one.best_validation),
            "" if one.test_accuracy is None else percent(one.test_accuracy),
            "" if one.elapsed_s is None else clock(one.elapsed_s),
            one.job_id or "",
            escape(one.why) + warnings,
        )
    return table


def group_table(statuses: Iterable[FoldStatus]) -> Table:
    """Folds that share dataset, method and state in one row."""
    groups: dict[tuple[str, str, State], list[int]] = {}
    for one in statuses:
        key = (one.target.dataset, one.target.method, one.state)
        groups.setdefault(key, []).append(one.target.fold)
    table = _table("dataset", "method", "state", "count", "folds")
    for (dataset, method, state), members in groups.items():
        row = dataset, method, _coloured(state), str(len(members)), ranges(members)
        table.add_row(*row)
    return table


def sums(statuses: Sequence[FoldStatus]) -> str:
    """`350 folds: 300 done, 50 running`."""
    if not statuses:
        return "no folds of that kind"
    counts = Counter(status.state for status in statuses)
    parts = [f"[{COLOURS[s]}]{counts[s]} {s.value}[/{COLOURS[s]}]" for s in State if counts[s]]
    return f"{len(statuses)} folds: {', '.join(parts)}"


def silence(console: Console, hints: Hints) -> None:
    """Say which of SLURM's commands did not answer."""
    if hints.silent:
        names = " and ".join(dict.fromkeys(hints.silent))
        console.print(f"[magenta]{names} did not answer; what depends on it is said as unknown[/]")


def ranges(numbers: Iterable[int]) -> str:
    """`0-3,7`."""
    parts: list[list[int]] = []
    for number in sorted(set(numbers)):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _coloured(state: State) -> str:
    return f"[{COLOURS[state]}]{state.value}[/{COLOURS[state]}]"


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    numbers = {"fold", "length", "validation", "test", "elapsed", "jobs", "cores", "count"}
    for heading in headings:
        table.add_column(heading, justify="right" if heading in numbers else "left")
    return table
