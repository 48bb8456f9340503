"""A fold in the process of the command itself: seen, fenced and resumed like any job."""

from __future__ import annotations

from dataclasses import replace

from fsm_hpc.cluster import submissions
from fsm_hpc.cluster.attempts import AttemptEnd
from fsm_hpc.cluster.node import cores
from fsm_hpc.cluster.node.joblog import Log
from fsm_hpc.cluster.node.supervisor import Supervisor
from fsm_hpc.errors import UserError
from fsm_hpc.models.progress import FoldProgress
from fsm_hpc.search.scan import ScanState
from fsm_hpc.study import fold, result
from fsm_hpc.study.config import Config
from fsm_hpc.study.result import FoldResult


class Foreground(Supervisor):
    """Watches over an attempt that a person watches too."""

    follows_parent = False
    keeps_best = True

    def __init__(
        self, config: Config, shown: FoldProgress | None = None, started: float | None = None
    ) -> None:
        paths = fold.fold_paths(config)
        super().__init__(submissions.submit_here(paths, config), paths)
        self.log = Log(paths.log, self.attempt, is_told=False)
        self.shown, self.started = shown, started

    def result(self) -> FoldResult | None:
        """Run to the end; None when it was stopped."""
        end = self.run()
        fold_id = self.submission.config_then.id
        if end is AttemptEnd.SUPERSEDED:
            raise UserError(f"another run has taken over {fold_id}; `status` shows it")
        return result.load(self.paths.result, fold_id) if end is AttemptEnd.FINISHED else None

    def config_here(self) -> Config:
        """The unchanged config: the command may use the whole machine."""
        config = self.submission.config_then
        if few := cores.too_many_threads(config):
            self.warn(few)
        return replace(config, solver=replace(config.solver, threads=fold.threads(config)))

    def warn(self, text: str) -> None:
        super().warn(text)
        if self.shown is not None:
            self.shown.say(text)

    def begin(self, part: str) -> None:
        super().begin(part)
        if self.shown is not None:
            self.shown.begin(part)

    def watch(self, state: ScanState) -> None:
        super().watch(state)
        if self.shown is not None:
            self.shown.watch(state)

    def watch_trial(self, count: int, best: float) -> None:
        super().watch_trial(count, best)
        if self.shown is not None:
            self.shown.on_trial(count, best)
