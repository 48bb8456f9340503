"""A rule fitted as a job: seen, fenced and gone on with like a fold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsm_hpc.cluster import arrays, submissions
from fsm_hpc.cluster.attempts import AttemptEnd
from fsm_hpc.cluster.node.joblog import Log
from fsm_hpc.cluster.node.supervisor import Supervisor, begin_attempt
from fsm_hpc.errors import UserError
from fsm_hpc.models import card, fit, model
from fsm_hpc.models.fit import Steps
from fsm_hpc.models.model import Model
from fsm_hpc.models.progress import FoldProgress
from fsm_hpc.models.tasks import rule_paths
from fsm_hpc.study.config import Config
from fsm_hpc.study.run import configured_solver
from fsm_hpc.system import files

if TYPE_CHECKING:
    from fsm_hpc.search.solvers.nodes.team import Team


class FitSupervisor(Supervisor):
    """Watches over one attempt at a rule."""

    made: Model | None = None
    keeps_best = False  # when it is stopped, instead of leaving the rest to a later job
    started: float | None = None  # when the command began, where it read the table itself

    def fold(self, config: Config, helpers: Team | None) -> Model | None:  # type: ignore[override]
        self.log(f"starts: {config.id.dataset}, {self.size(config)}")
        steps = Steps(self.begin, self.watch, self.warn)
        told = (self.stop, steps, self.may_write, self.history)
        more = (helpers, self.started, self.keeps_best)
        made = fit.fit(config, *told, configured_solver, *more)
        if made is None or not self.may_write():
            return None
        paths = rule_paths(config)
        model.quarantine_outdated(paths.model, made.settings, self.warn)
        model.save(paths.model, made)
        files.write_atomically(paths.card, card.page(made))
        self.made = made
        return made

    def begin(self, part: str) -> None:
        self.lengths_told = 0
        self.log(part)


class Here(FitSupervisor):
    """In the process of the command itself, with progress."""

    follows_parent = False
    keeps_best = True

    def __init__(self, config: Config, shown: FoldProgress, started: float | None = None) -> None:
        paths = rule_paths(config)
        super().__init__(submissions.submit_here(paths, config), paths)
        self.log = Log(paths.log, self.attempt, is_told=False)
        self.shown = shown
        self.started = started

    def result(self) -> Model | None:
        """The rule; None when it was stopped."""
        end = self.run()
        if end is AttemptEnd.SUPERSEDED:
            raise UserError(f"another run has taken {self.paths.folder} over")
        return self.made

    def warn(self, text: str) -> None:
        super().warn(text)
        self.shown.say(text)

    def begin(self, part: str) -> None:
        super().begin(part)
        self.shown.begin(part)

    def watch(self, state: Any) -> None:
        super().watch(state)
        self.shown.watch(state)


def work_in_array(output: str) -> str:
    """Fit one submitted rule; this is what submitit calls on a node. Returns how it ended."""
    with arrays.reason_in_output():
        members = arrays.members_here(Path(output))
        if not members:
            print("this job was withdrawn before it began: nothing to do")
            return AttemptEnd.SUPERSEDED.value
        ((_, submission),) = members
        paths = rule_paths(submission.config_then)
        return begin_attempt(FitSupervisor, submission, paths).value
