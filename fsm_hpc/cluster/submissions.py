"""A submitted fold: its settings and code at that time, on disk."""

from __future__ import annotations

import os
import secrets
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

import fsm_hpc
from fsm_hpc.cluster import generations
from fsm_hpc.cluster.schedulers.local import Local, job_id_of_process
from fsm_hpc.errors import UserError
from fsm_hpc.study import provenance
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.study.saved_config import of_any_version
from fsm_hpc.system import files, process_identity, serialization
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.process_identity import Identity
from fsm_hpc.system.value_types import Count, Moment

FORMAT = 3
# must not look like an option of a command; schedulers check ids again
JobId = Annotated[str, Meta(pattern=r"^\w[^\s\0]{0,254}\Z")]
FoldsInJob = Annotated[int, Meta(ge=1, le=10**6)]


@dataclass(frozen=True, slots=True)
class Submission:
    """One submission of a fold; a newer one replaces it.

    An array records those of its folds. A run in the foreground writes submission.json, as version
    0.2 did for every fold.
    """

    token: Annotated[str, Meta(pattern=r"^[\w-]{1,64}\Z")]
    kind: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,63}\Z")]  # the name of the scheduler
    config: dict[str, Any]
    code: dict[str, str | None]
    output: Annotated[str, Meta(pattern=r"^[^\0]*\Z")]  # the folder of the job's script and output
    submitted_at: Moment
    job_id: JobId | None = None  # None until the scheduler has answered
    cancelled_at: Moment | None = None
    table: str | None = None  # digest of the table at that time
    generation: Count = 0  # the newest submission of a fold has the largest number
    folds_in_job: FoldsInJob = 1  # how many folds share its job
    process: Identity = ""  # of the command that submitted it, which runs local jobs
    heartbeat: Annotated[str, Meta(pattern=r"^[^/\0]{0,255}\Z")] = ""  # of version 0.2

    @property
    def config_then(self) -> Config:
        return of_any_version(self.config)


def code_now() -> dict[str, str | None]:
    """The version of the code, which a queued job compares when it starts."""
    return {
        "version": fsm_hpc.__version__,
        "commit": provenance.code_commit(),
        "digest": provenance.code_digest(),
    }


def new_submission(config: Config, kind: str, output: str = "", generation: int = 0) -> Submission:
    return Submission(
        token=secrets.token_hex(8),
        kind=kind,
        config=absolute(config).to_dict(),
        code=code_now(),
        output=output,
        submitted_at=time.time(),
        generation=generation,
        process=process_identity.of(),
    )


def submit_here(paths: FoldPaths, config: Config) -> Submission:
    """Submit a fold to this process."""
    generation = max(generations.next_of(paths), generations.next_of_study(paths.study))
    submission = new_submission(config, Local.name, generation=generation)
    submission = replace(submission, job_id=job_id_of_process())
    save(paths, submission)
    return submission


def absolute(config: Config) -> Config:
    """The config with paths that mean the same in every folder."""
    return replace(
        config,
        results_dir=config.results_dir.absolute(),
        data_dir=config.data_dir.absolute() if config.data_dir else None,
        dataset=replace(
            config.dataset,
            path=config.dataset.own_path,
            labels=config.dataset.labels and str(Path(config.dataset.labels).absolute()),
        ),
    )


def save(paths: FoldPaths, submission: Submission) -> None:
    files.quarantine_if_invalid(paths.submission, lambda _: read(paths))
    serialization.write(paths.submission, FORMAT, submission)


def read(paths: FoldPaths) -> Submission | None:
    """The submission.json of a fold, with a usable config; None where there is none."""
    name = FoldPaths.submission.name
    if not os.path.lexists(f"{paths.folder}/{name}"):  # of most folds, which an array records
        return None
    submission = serialization.load(Submission, paths.submission, FORMAT)
    if submission is None:
        return None
    try:
        fold = submission.config_then.id
    except UserError as error:
        by = submission.code.get("version")
        raise UnreadableError(f"{name} has no config of this version ({by}): {error}") from None
    expected = paths.id  # None of a rule of version 0.2
    if expected is not None and fold._replace(variant=expected.variant) != expected:
        raise UnreadableError(f"{name} is of another fold: {fold}")
    return submission


def load(paths: FoldPaths) -> Submission | None:
    """The submission.json of a fold; None also where it is damaged."""
    try:
        return read(paths)
    except UnreadableError as error:
        if error.is_newer:
            raise
        return None
