"""Tables of folds for a person to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from fsm_hpc.cluster.schedulers.base import JobReport
from fsm_hpc.cluster.watch.fold_files import FoldRef
from fsm_hpc.cluster.watch.rules import RuleStatus
from fsm_hpc.cluster.watch.states import FoldState, FoldStatus
from fsm_hpc.study.fold_id import PLAIN, FoldId
from fsm_hpc.system.numbers import clock, counted, number_ranges, percent
from fsm_hpc.system.terminal import styled

if TYPE_CHECKING:  # plan loads numpy, which `status` does without
    from fsm_hpc.cluster.submit.plan import Array, Decision
    from fsm_hpc.cluster.watch.cost import Expected

COLOURS = {
    FoldState.DONE: "green",
    FoldState.UNPROVED: "yellow",
    FoldState.TIMEOUT: "yellow",
    FoldState.OUT_OF_MEMORY: "red",
    FoldState.RUNNING: "cyan",
    FoldState.QUEUED: "blue",
    FoldState.UNKNOWN: "magenta",
    FoldState.PARTIAL: "yellow",
    FoldState.LOST: "red",
    FoldState.CANCELLED: "yellow",
    FoldState.NEEDS_RESUME: "yellow",
    FoldState.FAILED: "red",
    FoldState.CHANGED: "yellow",
    FoldState.MISSING: "dim",
}
LONGEST_REASON = 80  # letters of a reason in a table
MOST_ROWS = 100  # of folds one by one; above that only what is not done, and sums


def decisions(console: Console, made: Sequence[Decision], verb: str) -> None:
    """What is submitted and skipped, and why, one row for folds that share a fate."""
    places = _Places(one.ref for one in made)
    groups: dict[tuple[FoldId, bool, str], list[int]] = {}
    for one in made:
        key = (_any_fold(one.ref), one.is_submitted, one.reason)
        groups.setdefault(key, []).append(one.ref.id.fold)
    table = _table(*places.headings, "folds", "", "reason")
    for (fold, is_submitted, reason), folds in groups.items():
        word = styled((verb, "green") if is_submitted else ("skipped", "dim"))
        table.add_row(*places.cells(fold), number_ranges(folds), word, reason)
    console.print(table)


class _Places:
    """The columns that say which folds a row is of; the variant where there is any."""

    def __init__(self, folds: Iterable[FoldRef]) -> None:
        self._has_variants = any(ref.id.variant for ref in folds)

    @property
    def headings(self) -> tuple[str, ...]:
        return ("dataset", "method", *(["variant"] if self._has_variants else []))

    def cells(self, fold: FoldId) -> tuple[str, ...]:
        variant = [fold.variant or PLAIN] if self._has_variants else []
        return (fold.dataset, fold.method, *variant)


def _any_fold(ref: FoldRef) -> FoldId:
    """What folds of one method and variant share."""
    return ref.id._replace(fold=0)


def layout(console: Console, arrays: Sequence[Array], likely: Expected) -> None:
    """The arrays of a plan, with what they may cost at most, and what is to be expected."""
    table = _table(
        *("array", "jobs", "folds", "at a time", "nodes", "cores", "memory", "time limit"),
        "core-hours",
    )
    for number, array in enumerate(arrays, 1):
        cluster = array.config.cluster
        table.add_row(
            str(number),
            str(len(array.tasks)),
            _folds(array),
            f"{array.at_a_time}{_after(array)}",
            str(array.config.nodes),
            str(cluster.cpus),
            f"{cluster.mem_gb:g} GB",
            f"{cluster.timeout_h:g} h",
            f"{array.core_hours:,.0f}",
        )
    console.print(table)
    total = sum(array.core_hours for array in arrays)
    console.print(f"requested: {total:,.0f} core-hours, if every job runs to its time limit")
    if likely.folds:
        rest = (
            f"; of {counted(likely.others, 'fold')} nothing is known yet" if likely.others else ""
        )
        console.print(
            f"expected {likely.core_hours:,.2f} core-hours for {counted(likely.folds, 'fold')}, "
            f"{likely.basis}{rest}"
        )


def _folds(array: Array) -> str:
    """`2000, 250 a job`."""
    most = max(len(task.folds) for task in array.tasks)
    return f"{len(array.folds)}{f', {most} a job' if most > 1 else ''}"


def _after(array: Array) -> str:
    """` after array 1`, where it waits for one."""
    return "".join(f" after array {position + 1}" for position in array.after)


def folds(console: Console, statuses: Sequence[FoldStatus]) -> None:
    """One row per fold, or only those that are not done when there are many."""
    shown = list(statuses)
    if len(shown) > MOST_ROWS:
        shown = [one for one in shown if one.state is not FoldState.DONE]
    if shown and len(shown) <= MOST_ROWS:
        console.print(fold_table(shown))
        for measure in sorted({one.result.measure for one in shown if one.result} - {"accuracy"}):
            console.print(f"validation is {measure} where that is the objective", style="dim")
    elif shown:
        console.print(group_table(shown))
    console.print(sums(statuses))


def rules(console: Console, statuses: Sequence[RuleStatus]) -> None:
    """Each rule in words, with what to expect of it, or why there is none."""
    for one in statuses:
        for line in _rule_lines(one):
            console.print(line, soft_wrap=True)


def _rule_lines(one: RuleStatus) -> Iterator[Text]:
    of = " ".join(part for part in (one.ref.id.dataset, one.ref.id.method) if part)
    job = f", job {one.job_id}" if one.job_id and one.is_live else ""
    reason = f": {one.reason}" if one.reason else ""
    state = (one.state.value, COLOURS[one.state])
    yield styled(f"rule of {of} ", state, f"{job}{reason}")
    if one.words:
        before = "before: " if one.is_live else ""
        yield styled(f"  {before}", (one.words, "bold"))
        yield styled(f"  {_expected(one)}")
    for warning in one.warnings:
        yield styled((f"  {warning}", "yellow"))
    yield styled(f"  in {one.ref.paths.folder}")


def _expected(one: RuleStatus) -> str:
    accuracy, balanced, majority = map(one.expected, ("accuracy", "balanced_accuracy", "majority"))
    beside = f"the more frequent answer alone: {_percent(majority)}"
    if accuracy is None:
        return f"no folds tell what to expect of it; {beside}"
    also = f"balanced {_percent(balanced)}, " if balanced is not None else ""
    return f"expect {_percent(accuracy)} on new rows ({also}{beside})"


def overview(rules_: Sequence[RuleStatus], statuses: Sequence[FoldStatus], height: int) -> Group:
    """As much as a terminal holds: rules, then folds one by one, or in groups, and the sums."""
    told = [line for one in rules_ for line in _rule_lines(one)]
    if rules_ and not statuses:
        return Group(*told)
    height -= len(told)
    rows = fold_table(statuses) if len(statuses) + 3 < height else group_table(statuses)
    return Group(*told, rows, sums(statuses))


def fold_table(statuses: Sequence[FoldStatus]) -> Group:
    """One row per fold, and below it the reasons that are too long for a column."""
    long: dict[str, dict[tuple[str, ...], list[int]]] = {}
    for one in statuses:
        if _is_long(one.reason):
            cells = long.setdefault(one.reason, {})
            cells.setdefault(one.ref.id.place, []).append(one.ref.id.fold)
    return Group(_fold_rows(statuses), *(Text(_reason(*item)) for item in long.items()))


def _is_long(reason: str) -> bool:
    return len(reason) > LONGEST_REASON or "\n" in reason


def _reason(reason: str, cells: Mapping[tuple[str, ...], list[int]]) -> str:
    """`bank pivot fold 1, 2: ...`, which for a table is each of its problems on a line."""
    told = [f"{' '.join(cell)} fold {number_ranges(folds)}" for cell, folds in cells.items()]
    return f"{'; '.join(told)}: {reason}"


def _fold_rows(statuses: Sequence[FoldStatus]) -> Table:
    places = _Places(one.ref for one in statuses)
    measured = ("validation", "test", "balanced", "majority")
    table = _table(*places.headings, "fold", "state", "length", *measured, "elapsed", "job")
    table.add_column("reason", overflow="fold")
    for one in statuses:
        warnings = [(f" {text}", "yellow") for text in one.warnings]
        table.add_row(
            *places.cells(one.ref.id),
            one.ref.id.part,
            _coloured(one.state),
            "" if one.length is None else str(one.length),
            *map(_percent, (one.best_validation, one.test_accuracy)),
            *map(_percent, (one.balanced_accuracy, one.majority)),
            "" if one.elapsed_s is None else clock(one.elapsed_s),
            one.job_id or "",
            styled("see below" if _is_long(one.reason) else one.reason, *warnings),
        )
    return table


def group_table(statuses: Sequence[FoldStatus]) -> Table:
    """Folds that share dataset, method, variant and state in one row."""
    places = _Places(one.ref for one in statuses)
    groups: dict[tuple[FoldId, FoldState], list[int]] = {}
    for one in statuses:
        groups.setdefault((_any_fold(one.ref), one.state), []).append(one.ref.id.fold)
    table = _table(*places.headings, "state", "count", "folds")
    for (fold, state), members in groups.items():
        row = _coloured(state), str(len(members)), number_ranges(members)
        table.add_row(*places.cells(fold), *row)
    return table


def sums(statuses: Sequence[FoldStatus]) -> Text:
    """`350 folds: 300 done, 50 running`."""
    if not statuses:
        return styled("no folds of that kind")
    counts = Counter(one.state for one in statuses)
    parts = [styled((f"{counts[s]} {s.value}", COLOURS[s])) for s in FoldState if counts[s]]
    return styled(f"{counted(len(statuses), 'fold')}: ") + Text(", ").join(parts)


def silence(console: Console, reports: Iterable[JobReport]) -> None:
    """Say which commands of a scheduler did not answer."""
    listed = list(reports)
    for text, names in (
        ("did not answer; what depends on it is said as unknown", [r.silent for r in listed]),
        ("gave an answer that is not understood; that is unknown", [r.garbled for r in listed]),
    ):
        found = dict.fromkeys(name for some in names for name in some)
        if found:
            console.print(f"{' and '.join(found)} {text}", style="magenta")


def _percent(share: float | None) -> str:
    return "" if share is None else percent(share)


def _coloured(state: FoldState) -> Text:
    return styled((state.value, COLOURS[state]))


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    numbers = {"fold", "length", "elapsed", "jobs", "folds", "cores", "count"}
    numbers |= {"validation", "test", "balanced", "majority"}
    for heading in headings:
        table.add_column(heading, justify="right" if heading in numbers else "left")
    return table
