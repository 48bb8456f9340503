"""The columns of `status`, in its table and in `--json`."""

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

LONGEST_REASON = 80  # characters of a reason in a table


def coloured(state: FoldState, text: str = "") -> Text:
    return styled((text or state.value, state.colour))


def is_long(reason: str) -> bool:
    return len(reason) > LONGEST_REASON or "\n" in reason


@dataclass(frozen=True, slots=True)
class StatusColumn:
    """One column of `status`."""

    key: str  # in `--json`
    value: Callable[[FoldStatus], Any]
    heading: str = ""  # in the table; empty: only in `--json`
    cell: Callable[[Any], str | Text] = str  # text of a value that is not None


COLUMNS = (
    StatusColumn("dataset", lambda status: status.ref.id.dataset, "dataset"),
    StatusColumn("method", lambda status: status.ref.id.method, "method"),
    StatusColumn("variant", lambda status: status.ref.id.variant, "variant"),
    StatusColumn("fold", lambda status: _fold(status), ">fold"),
    StatusColumn(
        "state", lambda status: status.state.value, "state", lambda text: coloured(FoldState(text))
    ),
    StatusColumn("done", lambda status: status.is_done),
    StatusColumn("failed", lambda status: status.is_failed),
    StatusColumn("length", lambda status: _length(status), ">length"),
    StatusColumn("best_validation", lambda status: _validation(status), ">validation", percent),
    StatusColumn("measure", lambda status: status.result.measure if status.result else None),
    StatusColumn("test_accuracy", lambda status: _test(status), ">test", percent),
    StatusColumn(
        "balanced_accuracy",
        lambda status: status.final and status.final.confusion.balanced_accuracy,
        ">balanced",
        percent,
    ),
    StatusColumn(
        "majority",
        lambda status: status.final and status.final.confusion.majority,
        ">majority",
        percent,
    ),
    StatusColumn("proof", lambda status: status.proof and status.proof.value, "proof"),
    StatusColumn("elapsed_s", lambda status: status.elapsed_s, ">elapsed", clock),
    StatusColumn("progress", lambda status: None if status.final else status.files.scan.progress),
    StatusColumn("left_s", lambda status: None if status.final else status.files.scan.left_s),
    StatusColumn("unchanged_since", lambda status: states.unchanged_since(status.files.scan)),
    StatusColumn("job_id", lambda status: status.files.job_id, "job"),
    StatusColumn(
        "reason",
        lambda status: status.reason,
        "reason",
        lambda text: styled("see below" if is_long(text) else text),
    ),
    StatusColumn("warnings", lambda status: list(status.warnings)),
    StatusColumn("folder", lambda status: str(status.ref.paths.folder)),
)


def _fold(status: FoldStatus) -> int | str:
    return status.ref.id.part if status.ref.id.fold == ALL else status.ref.id.fold


def _test(status: FoldStatus) -> float | None:
    """The accuracy on held-out rows; None for a `fit` without cross-validation."""
    return (
        status.final.accuracy.test if status.final and status.final.rows.get("test") != 0 else None
    )


def _length(status: FoldStatus) -> int | None:
    return status.final.length_bound if status.final else status.files.scan.length


def _validation(status: FoldStatus) -> float | None:
    return status.final.accuracy.validation if status.final else status.files.scan.best_validation


def to_dict(status: FoldStatus) -> dict[str, Any]:
    """Plain values for `--json`."""
    return {column.key: column.value(status) for column in COLUMNS}


def fold_rows(statuses: Iterable[FoldStatus]) -> Table:
    """One row per fold."""
    shown = [column for column in COLUMNS if column.heading]
    rows = [[_cell(column, column.value(status)) for column in shown] for status in statuses]
    return table([column.heading for column in shown[len(GROUP) :]], rows)


def _cell(column: StatusColumn, value: Any) -> str | Text:
    return "" if value is None else column.cell(value)


GROUP = ("dataset", "method", "variant")
LONGEST_TABLE = 500  # rows: nobody reads more, and each takes a millisecond


def table(headings: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> Table:
    """A table that begins with GROUP; folds without a variant are `plain` if others have one."""
    shown = rows[:LONGEST_TABLE]
    if any(row[2] for row in rows):
        shown = [(*row[:2], row[2] or PLAIN, *row[3:]) for row in shown]
    grid = terminal.table((*GROUP, *headings), shown)
    if more := len(rows) - len(shown):
        grid.caption = f"and {more:,} more rows; dataset=... or method=... selects folds"
        grid.caption_justify = "left"
    return grid
