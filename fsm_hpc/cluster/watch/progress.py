"""Progress of many folds at once, read from their files."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table

from fsm_hpc.cluster.watch import show
from fsm_hpc.cluster.watch.fold_files import FoldRef
from fsm_hpc.cluster.watch.states import FoldState, FoldStatus, fold_states
from fsm_hpc.system.terminal import LiveDisplay

EVERY_S = 1.0
PLAIN_EVERY_S = 5.0  # where there is no terminal, and then only when something has changed
MOST_ROWS = 30


class SweepProgress(LiveDisplay):
    """One display for a sweep: a bar, and a row for every fold that runs or has trouble."""

    def __init__(self, console: Console, folds: Sequence[FoldRef]) -> None:
        super().__init__(console, auto_refresh=False, transient=True)
        self._folds = list(folds)
        self._looked_at = 0.0
        self._printed = ""
        self.statuses: list[FoldStatus] = []

    def refresh(self, every_s: float = EVERY_S) -> None:
        """Look again when it is time to."""
        pause_s = every_s if self.console.is_terminal else max(every_s, PLAIN_EVERY_S)
        if time.monotonic() - self._looked_at < pause_s:
            return
        self.statuses, _ = fold_states(self._folds)
        self._looked_at = time.monotonic()
        if self.console.is_terminal:
            self.live.update(self._render(), refresh=True)
        else:
            self._print_sums()

    def _print_sums(self) -> None:
        line = show.sums(self.statuses)
        if line.plain != self._printed:
            self._printed = line.plain
            self.console.print(line)

    def _render(self) -> RenderableType:
        done = sum(status.is_done for status in self.statuses)
        bar = Table.grid(padding=(0, 1))
        bar.add_row(
            ProgressBar(total=len(self.statuses), completed=done, width=40),
            show.sums(self.statuses),
        )
        active = [
            status
            for status in self.statuses
            if status.state is FoldState.RUNNING or status.is_failed
        ]
        return Group(show.fold_table(active[:MOST_ROWS]), bar) if active else bar
