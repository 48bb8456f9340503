"""Send a job that waits for those of a sweep: it collects, and tells the user."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fsm_hpc.cluster import study_lock
from fsm_hpc.cluster.node import afterwards
from fsm_hpc.cluster.submit import sbatch
from fsm_hpc.cluster.submit.plan import Decision
from fsm_hpc.cluster.submit.sbatch import Request, UnclearError
from fsm_hpc.cluster.watch.verdict import look
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


def here(chores: Afterwards, decisions: Sequence[Decision]) -> int:
    """Do it in this process, where the folds ran here."""
    if chores.mail_user:
        print(f"--notify: SLURM sends mail; a run here sends none to {chores.mail_user}")
    return afterwards.work(chores.commands, _studies(decisions), chores.shell)


def send(chores: Afterwards, config: Config, decisions: Sequence[Decision]) -> str:
    """Submit the job; its id."""
    ids = _live_jobs(decisions)
    study = decisions[0].ref.paths.study
    output = sbatch.output_folder(StudyPaths(study.root))
    arguments = (chores.commands, _studies(decisions), chores.shell)
    name = sbatch.new_name(study, "after")
    request = Request(_small(chores, config, ids), output, name, afterwards.work, arguments)
    try:
        return sbatch.send(request, partial(study_lock.ensure_held, study))
    except UnclearError as error:
        raise UserError(
            f"the jobs are submitted, but not the one of --after and --notify: {error}; "
            "`collect` works at any moment"
        ) from None


def _small(chores: Afterwards, config: Config, ids: Sequence[str]) -> Config:
    """One core for an hour, when the others have ended."""
    options = dict(config.cluster.sbatch or {})
    options.pop("hold", None)
    if ids:
        options["dependency"] = f"afterany:{':'.join(ids)}"
    mail: dict[str, Any] = (
        {"mail_user": chores.mail_user, "mail_type": "END,FAIL"} if chores.mail_user else {}
    )
    small = replace(
        config.cluster, cpus=1, mem_gb=4.0, timeout_h=1.0, signal_delay_s=60, sbatch=options, **mail
    )
    return replace(config, cluster=small)


def _studies(decisions: Sequence[Decision]) -> list[tuple[str, str]]:
    roots = dict.fromkeys(decision.ref.paths.study.root.absolute() for decision in decisions)
    return [(str(root.parent), root.name) for root in roots]


def _live_jobs(decisions: Sequence[Decision]) -> list[str]:
    """Arrays with folds of the sweep that have not ended, also those that an earlier one sent."""
    verdicts, _ = look([decision.ref for decision in decisions])
    live = [one.job_id for one in verdicts if one.is_live and one.job_id]
    return list(dict.fromkeys(job.split("_")[0] for job in live if job[:1].isdigit()))
