"""Submit a job that begins when those of a sweep have ended: it collects, and notifies the user."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from fsm_hpc.cluster import schedulers, study_lock
from fsm_hpc.cluster.node import afterwards
from fsm_hpc.cluster.schedulers.base import Batch, UnclearError
from fsm_hpc.cluster.submit import transaction
from fsm_hpc.cluster.submit.plan import Decision
from fsm_hpc.cluster.watch.states import fold_states
from fsm_hpc.errors import UserError
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import StudyPaths

_ADDRESS = re.compile(r"[^\s@;|&]+@[^\s@;|&]+")


@dataclass(frozen=True, slots=True)
class Afterwards:
    """What is done when all jobs of a sweep have ended."""

    commands: tuple[str, ...] = ()  # collect, report
    notify: str | None = None  # an address for mail, or a shell command

    @property
    def mail_user(self) -> str | None:
        return self.notify if self.notify and _ADDRESS.fullmatch(self.notify) else None

    @property
    def shell(self) -> str | None:
        return None if self.mail_user else self.notify

    def __bool__(self) -> bool:
        return bool(self.commands or self.notify)

    def __str__(self) -> str:
        return ", then ".join([*self.commands, *([f"notify {self.notify}"] if self.notify else [])])


NOTHING = Afterwards()


def here(follow_up: Afterwards, decisions: Sequence[Decision]) -> int:
    """Do it in this process, where the folds ran here."""
    if follow_up.mail_user:
        print(f"--notify: no mail is sent to {follow_up.mail_user}, as only schedulers send mail")
    return afterwards.work(follow_up.commands, _studies(decisions), follow_up.shell)


def send(follow_up: Afterwards, config: Config, decisions: Sequence[Decision]) -> str:
    """Submit the job; its id."""
    after = _live_jobs(decisions)
    study = decisions[0].ref.paths.study
    output = transaction.output_folder(StudyPaths(study.root))
    arguments = (follow_up.commands, _studies(decisions), follow_up.shell)
    name = transaction.new_job_name(study, "after")
    batch = Batch(_small(follow_up, config), output, name, afterwards.work, arguments, after=after)
    try:
        return schedulers.of(config).submit(batch, partial(study_lock.ensure_held, study))
    except UnclearError as error:
        raise UserError(
            f"the jobs are submitted, except that of --after and --notify: {error}; "
            "`collect` works at any time"
        ) from None


def _small(follow_up: Afterwards, config: Config) -> Config:
    """One core for an hour, for a job that waits for nothing but the jobs of the sweep."""
    given = config.cluster.options or {}
    options = {key: value for key, value in given.items() if key not in ("hold", "dependency")}
    mail: dict[str, Any] = (
        {"mail_user": follow_up.mail_user, "mail_type": "END,FAIL"} if follow_up.mail_user else {}
    )
    return transaction.of_one_core(config, hours=1.0, options=options, **mail)


def _studies(decisions: Sequence[Decision]) -> list[tuple[str, str]]:
    roots = dict.fromkeys(decision.ref.paths.study.root.absolute() for decision in decisions)
    return [(str(root.parent), root.name) for root in roots]


def _live_jobs(decisions: Sequence[Decision]) -> tuple[str, ...]:
    """Arrays with folds of the sweep that have not ended, also those that an earlier one sent."""
    statuses, _ = fold_states([decision.ref for decision in decisions])
    kind = decisions[0].config.cluster.scheduler
    live = [
        files.job_id
        for files in (status.files for status in statuses if status.is_live)
        if files.job_id and (files.submission is None or files.submission.kind == kind)
    ]
    return tuple(dict.fromkeys(job.split("_")[0] for job in live))
