"""The columns of `status`: what is shown of a fold in a table, and what `--json` has of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

from fsm_hpc.cluster.watch import states
from fsm_hpc.cluster.watch.states import FoldState, FoldStatus
from fsm_hpc.study.fold_id import ALL, PLAIN
from fsm_hpc.system import terminal
from fsm_hpc.system.numbers import clock, percent
from fsm_hpc.system.terminal import styled

COLOURS = {
    FoldState.DONE: "green",
    FoldState.OUT_OF_MEMORY: "red",
    FoldState.RUNNING: "cyan",
    FoldState.QUEUED: "blue",
    FoldState.UNKNOWN: "magenta",
    FoldState.LOST: "red",
    FoldState.FAILED: "red",
    FoldState.MISSING: "dim",
}
LONGEST_REASON = 80  # letters of a reason in a table


def coloured(state: FoldState, text: str = "") -> Text:
    return styled((text or state.value, COLOURS.get(state, "yellow")))


def is_long(reason: str) -> bool:
    return len(reason) > LONGEST_REASON or "\n" in reason


@dataclass(frozen=True, slots=True)
class StatusColumn:
    """One fact of a fold."""

    key: str  # in `--json`
    value: Callable[[FoldStatus], Any]
    heading: str = ""  # in the table; without one it is in `--json` only
    cell: Callable[[Any], str | Text] = str  # of a value that is there


COLUMNS = (
    StatusColumn("dataset", lambda one: one.ref.id.dataset, "dataset"),
    StatusColumn("method", lambda one: one.ref.id.method, "method"),
    StatusColumn("variant", lambda one: one.ref.id.variant, "variant"),
    StatusColumn("fold", lambda one: _fold(one), ">fold"),
    StatusColumn(
        "state", lambda one: one.state.value, "state", lambda text: coloured(FoldState(text))
    ),
    StatusColumn("done", lambda one: one.is_done),
    StatusColumn("failed", lambda one: one.is_failed),
    StatusColumn("length", lambda one: _length(one), ">length"),
    StatusColumn("best_validation", lambda one: _validation(one), ">validation", percent),
    StatusColumn("measure", lambda one: one.result.measure if one.result else None),
    StatusColumn("test_accuracy", lambda one: _test(one), ">test", percent),
    StatusColumn(
        "balanced_accuracy",
        lambda one: one.final and one.final.confusion.balanced_accuracy,
        ">balanced",
        percent,
    ),
    StatusColumn(
        "majority", lambda one: one.final and one.final.confusion.majority, ">majority", percent
    ),
    StatusColumn("proof", lambda one: one.proof and one.proof.value, "proof"),
    StatusColumn("elapsed_s", lambda one: one.elapsed_s, ">elapsed", clock),
    StatusColumn("progress", lambda one: None if one.final else one.files.scan.progress),
    StatusColumn("left_s", lambda one: None if one.final else one.files.scan.left_s),
    StatusColumn("unchanged_since", lambda one: states.unchanged_since(one.files.scan)),
    StatusColumn("job_id", lambda one: one.files.job_id, "job"),
    StatusColumn(
        "reason",
        lambda one: one.reason,
        "reason",
        lambda text: styled("see below" if is_long(text) else text),
    ),
    StatusColumn("warnings", lambda one: list(one.warnings)),
    StatusColumn("folder", lambda one: str(one.ref.paths.folder)),
)


def _fold(one: FoldStatus) -> int | str:
    return one.ref.id.part if one.ref.id.fold == ALL else one.ref.id.fold


def _test(one: FoldStatus) -> float | None:
    """None also of a `fit` without cross-validation."""
    return one.final.accuracy.test if one.final and one.final.rows.get("test") != 0 else None


def _length(one: FoldStatus) -> int | None:
    return one.final.length_bound if one.final else one.files.scan.length


def _validation(one: FoldStatus) -> float | None:
    return one.final.accuracy.validation if one.final else one.files.scan.best_validation


def to_dict(one: FoldStatus) -> dict[str, Any]:
    """Plain values for `--json`."""
    return {column.key: column.value(one) for column in COLUMNS}


def fold_rows(statuses: Iterable[FoldStatus]) -> Table:
    """One row per fold."""
    shown = [column for column in COLUMNS if column.heading]
    rows = [[_cell(column, column.value(one)) for column in shown] for one in statuses]
    return table([column.heading for column in shown[len(PLACE) :]], rows)


def _cell(column: StatusColumn, value: Any) -> str | Text:
    return "" if value is None else column.cell(value)


PLACE = ("dataset", "method", "variant")


def table(headings: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> Table:
    """A table that begins with PLACE; folds without a variant are `plain` where others have one."""
    if any(row[2] for row in rows):
        rows = [(*row[:2], row[2] or PLAIN, *row[3:]) for row in rows]
    return terminal.table((*PLACE, *headings), rows)
