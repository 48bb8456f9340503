"""Print tables of folds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from fsm_hpc.cluster.schedulers.base import JobReport
from fsm_hpc.cluster.watch.columns import coloured, fold_rows, is_long, table
from fsm_hpc.cluster.watch.fold_files import FoldRef
from fsm_hpc.cluster.watch.states import FoldState, FoldStatus
from fsm_hpc.search.proof import ProofLevel
from fsm_hpc.study.fold_id import ALL, FoldId, fold_ranges
from fsm_hpc.system import terminal
from fsm_hpc.system.numbers import counted
from fsm_hpc.system.terminal import styled

if TYPE_CHECKING:  # plan imports numpy, which `status` does not need
    from fsm_hpc.cluster.submit.plan import Array, Decision
    from fsm_hpc.cluster.watch.cost import Expected

MOST_ROWS = 100  # above this number, only folds that are not done are listed


def decisions(console: Console, decided: Sequence[Decision], action: str) -> None:
    """Print which folds are submitted or skipped, with reasons; equal folds share a row."""
    groups: dict[tuple[FoldId, bool, str], list[int]] = {}
    for decision in decided:
        key = (_any_fold(decision.ref), decision.is_submitted, decision.reason)
        groups.setdefault(key, []).append(decision.ref.id.fold)
    words = {True: styled((action, "green")), False: styled(("skipped", "dim"))}
    rows = [
        (*_place(fold), fold_ranges(folds), words[is_submitted], reason)
        for (fold, is_submitted, reason), folds in groups.items()
    ]
    console.print(table((">folds", "", "reason"), rows))


def _place(fold: FoldId) -> tuple[str, str, str]:
    return fold.dataset, fold.method, fold.variant


def _any_fold(ref: FoldRef) -> FoldId:
    """The same id for all folds of a method and variant."""
    return ref.id._replace(fold=0)


def layout(console: Console, arrays: Sequence[Array], likely: Expected) -> None:
    """Print the arrays of a plan with their largest possible and expected core-hours."""
    headings = ("array", ">jobs", ">folds", "at a time", "nodes", ">cores", "memory", "time limit")
    rows = [
        (
            str(number),
            str(len(array.tasks)),
            _folds(array),
            f"{array.at_a_time}{_after(array)}",
            str(array.config.nodes),
            str(array.config.cluster.cpus),
            f"{array.config.cluster.mem_gb:g} GB",
            f"{array.config.cluster.timeout_h:g} h",
            f"{array.core_hours:,.0f}",
        )
        for number, array in enumerate(arrays, 1)
    ]
    console.print(terminal.table((*headings, ">core-hours"), rows))
    total = sum(array.core_hours for array in arrays)
    console.print(f"requested: {total:,.0f} core-hours, if every job runs to its time limit")
    if likely.folds:
        rest = f"; no estimate for {counted(likely.others, 'fold')}" if likely.others else ""
        console.print(
            f"expected: {likely.core_hours:,.2f} core-hours for {counted(likely.folds, 'fold')}, "
            f"{likely.basis}{rest}"
        )


def _folds(array: Array) -> str:
    """`2000, 250 per job`."""
    most = max(len(task.folds) for task in array.tasks)
    return f"{len(array.folds)}{f', {most} per job' if most > 1 else ''}"


def _after(array: Array) -> str:
    """` after array 1`, if it waits for one."""
    return "".join(f" after array {position + 1}" for position in array.after)


def folds(console: Console, statuses: Sequence[FoldStatus]) -> None:
    """Print one row per fold; of many folds, only those that are not done."""
    shown = list(statuses)
    if len(shown) > MOST_ROWS:
        shown = [status for status in shown if status.state is not FoldState.DONE]
    if shown and len(shown) <= MOST_ROWS:
        console.print(fold_table(shown))
        for measure in sorted(
            {status.result.measure for status in shown if status.result} - {"accuracy"}
        ):
            console.print(f"validation: {measure} for folds with that objective", style="dim")
    elif shown:
        console.print(group_table(shown))
    if (proofs := proof_table(statuses)) is not None:
        console.print(proofs)
    console.print(sums(statuses))


def overview(statuses: Sequence[FoldStatus], height: int) -> Group:
    """One row per fold if the terminal has enough lines, else one per group; and the counts."""
    rows = fold_table(statuses) if len(statuses) + 3 < height else group_table(statuses)
    return Group(rows, sums(statuses))


def fold_table(statuses: Sequence[FoldStatus]) -> Group:
    """One row per fold; below the table rules of `fit`, warnings and long reasons."""
    notes: dict[tuple[str, str], dict[tuple[str, ...], list[int]]] = {}
    for status in statuses:
        reasons = [(status.reason, "")] if is_long(status.reason) else []
        for note in (*reasons, *((text, "yellow") for text in status.warnings)):
            folds = notes.setdefault(note, {}).setdefault(status.ref.id.place, [])
            folds.append(status.ref.id.fold)
    lines = (
        styled((f"{_folds_of(places)}: {text}", style)) for (text, style), places in notes.items()
    )
    return Group(fold_rows(statuses), *_rules(statuses), *lines)


def _rules(statuses: Sequence[FoldStatus]) -> Iterator[Text]:
    """The rules of `fit` in words."""
    for status in statuses:
        if status.ref.id.fold == ALL and status.result is not None:
            yield styled(f"{status.ref.id}: ", (status.result.words or "", "bold"))


def _folds_of(places: dict[tuple[str, ...], list[int]]) -> str:
    """`bank pivot fold 1, 2`."""
    named = (f"{' '.join(place)} fold {fold_ranges(folds)}" for place, folds in places.items())
    return "; ".join(named)


def group_table(statuses: Sequence[FoldStatus]) -> Table:
    """Folds that share dataset, method, variant and state in one row."""
    groups: dict[tuple[FoldId, FoldState], list[int]] = {}
    for status in statuses:
        groups.setdefault((_any_fold(status.ref), status.state), []).append(status.ref.id.fold)
    rows = [
        (*_place(fold), coloured(state), str(len(folds)), fold_ranges(folds))
        for (fold, state), folds in groups.items()
    ]
    return table(("state", ">count", ">folds"), rows)


def proof_table(statuses: Sequence[FoldStatus]) -> Table | None:
    """The number of formulas with each proof level, by dataset and method."""
    counts: dict[tuple[str, str], Counter[ProofLevel]] = {}
    for status in statuses:
        if (proof := status.proof) is not None:
            counts.setdefault(status.ref.id[:2], Counter())[proof] += 1
    levels = [f">{level.value}" for level in ProofLevel]
    rows = [(*key, *(str(found[level]) for level in ProofLevel)) for key, found in counts.items()]
    return terminal.table(("dataset", "method", *levels), rows) if rows else None


def sums(statuses: Sequence[FoldStatus]) -> Text:
    """`350 folds: 300 done, 50 running`."""
    if not statuses:
        return styled("no folds match")
    counts = Counter(status.state for status in statuses)
    parts = [coloured(s, f"{counts[s]} {s.value}") for s in FoldState if counts[s]]
    return styled(f"{counted(len(statuses), 'fold')}: ") + Text(", ").join(parts)


def unresponsive_commands(console: Console, reports: Iterable[JobReport]) -> None:
    """Print the commands of schedulers that gave no usable answer."""
    listed = list(reports)
    for text, names in (
        ("did not answer; the state of some folds is unknown", [r.unanswered for r in listed]),
        ("gave no usable answer; the state of some folds is unknown", [r.garbled for r in listed]),
    ):
        commands = dict.fromkeys(name for part in names for name in part)
        if commands:
            console.print(f"{' and '.join(commands)} {text}", style="magenta")
