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
from fsm_hpc.cluster.watch.verdict import FoldVerdict, Verdict
from fsm_hpc.system.terminal import clock, number_ranges, percent

if TYPE_CHECKING:  # plan loads numpy, which `status` does without
    from fsm_hpc.cluster.submit.plan import Array, Decision

COLOURS = {
    Verdict.DONE: "green",
    Verdict.UNPROVED: "yellow",
    Verdict.TIMEOUT: "yellow",
    Verdict.OUT_OF_MEMORY: "red",
    Verdict.RUNNING: "cyan",
    Verdict.QUEUED: "blue",
    Verdict.UNKNOWN: "magenta",
    Verdict.PARTIAL: "yellow",
    Verdict.LOST: "red",
    Verdict.CANCELLED: "yellow",
    Verdict.FAILED: "red",
    Verdict.CHANGED: "yellow",
    Verdict.MISSING: "dim",
}
MOST_ROWS = 100  # of folds one by one; above that only what is not done, and sums


def decisions(console: Console, made: Sequence[Decision], verb: str) -> None:
    """What is submitted and skipped, and why, one row for folds that share a fate."""
    groups: dict[tuple[str, str, bool, str], list[int]] = {}
    for one in made:
        key = (one.ref.id.dataset, one.ref.id.method, one.is_submitted, one.why)
        groups.setdefault(key, []).append(one.ref.id.fold)
    table = _table("dataset", "method", "folds", "", "why")
    for (dataset, method, is_submitted, why), folds in groups.items():
        word = f"[green]{verb}[/green]" if is_submitted else "[dim]skipped[/dim]"
        table.add_row(dataset, method, number_ranges(folds), word, escape(why))
    console.print(table)


def layout(console: Console, arrays: Sequence[Array]) -> None:
    """The arrays of a plan, with what they may cost at most."""
    table = _table("array", "jobs", "at a time", "cores", "memory", "time limit", "core-hours")
    for number, array in enumerate(arrays, 1):
        cluster = array.folds[0].config.cluster
        table.add_row(
            str(number),
            str(len(array.folds)),
            str(array.at_a_time),
            str(cluster.cpus),
            f"{cluster.mem_gb:g} GB",
            f"{cluster.timeout_h:g} h",
            f"{array.core_hours:,.0f}",
        )
    console.print(table)
    total = sum(array.core_hours for array in arrays)
    console.print(f"at most {total:,.0f} core-hours, if every job runs to its first time limit")


def folds(console: Console, verdicts: Sequence[FoldVerdict]) -> None:
    """One row per fold, or only those that are not done when there are many."""
    shown = list(verdicts)
    if len(shown) > MOST_ROWS:
        shown = [one for one in shown if one.verdict is not Verdict.DONE]
    if shown and len(shown) <= MOST_ROWS:
        console.print(fold_table(shown))
    elif shown:
        console.print(group_table(shown))
    console.print(sums(verdicts), highlight=False)


def overview(verdicts: Sequence[FoldVerdict], height: int) -> Group:
    """As much as a terminal holds: folds one by one, or in groups, and the sums."""
    rows = fold_table(verdicts) if len(verdicts) + 3 < height else group_table(verdicts)
    return Group(rows, Text.from_markup(sums(verdicts)))


def fold_table(verdicts: Iterable[FoldVerdict]) -> Table:
    """One row per fold."""
    measured = ("validation", "test", "balanced", "majority")
    table = _table("dataset", "method", "fold", "state", "length", *measured, "elapsed", "job")
    table.add_column("why", overflow="fold")
    for one in verdicts:
        warnings = "".join(f" [yellow]{escape(text)}[/yellow]" for text in one.warnings)
        table.add_row(
            one.ref.id.dataset,
            one.ref.id.method,
            str(one.ref.id.fold),
            _coloured(one.verdict),
            "" if one.length is None else str(one.length),
            *map(_percent, (one.best_validation, one.test_accuracy)),
            *map(_percent, (one.balanced_accuracy, one.majority)),
            "" if one.elapsed_s is None else clock(one.elapsed_s),
            one.job_id or "",
            escape(one.why) + warnings,
        )
    return table


def group_table(verdicts: Iterable[FoldVerdict]) -> Table:
    """Folds that share dataset, method and verdict in one row."""
    groups: dict[tuple[str, str, Verdict], list[int]] = {}
    for one in verdicts:
        key = (one.ref.id.dataset, one.ref.id.method, one.verdict)
        groups.setdefault(key, []).append(one.ref.id.fold)
    table = _table("dataset", "method", "state", "count", "folds")
    for (dataset, method, verdict), members in groups.items():
        row = dataset, method, _coloured(verdict), str(len(members)), number_ranges(members)
        table.add_row(*row)
    return table


def sums(verdicts: Sequence[FoldVerdict]) -> str:
    """`350 folds: 300 done, 50 running`."""
    if not verdicts:
        return "no folds of that kind"
    counts = Counter(one.verdict for one in verdicts)
    parts = [f"[{COLOURS[s]}]{counts[s]} {s.value}[/{COLOURS[s]}]" for s in Verdict if counts[s]]
    return f"{len(verdicts)} folds: {', '.join(parts)}"


def silence(console: Console, hints: Hints) -> None:
    """Say which of SLURM's commands did not answer."""
    if hints.silent:
        names = " and ".join(dict.fromkeys(hints.silent))
        console.print(f"[magenta]{names} did not answer; what depends on it is said as unknown[/]")


def _percent(share: float | None) -> str:
    return "" if share is None else percent(share)


def _coloured(verdict: Verdict) -> str:
    return f"[{COLOURS[verdict]}]{verdict.value}[/{COLOURS[verdict]}]"


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    numbers = {"fold", "length", "elapsed", "jobs", "cores", "count"}
    numbers |= {"validation", "test", "balanced", "majority"}
    for heading in headings:
        table.add_column(heading, justify="right" if heading in numbers else "left")
    return table
