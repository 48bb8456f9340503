"""A fold handed to SLURM or to this machine: settings and code of that time, on disk."""

from __future__ import annotations

import os
import platform
import secrets
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

import fsm_hpc
from fsm_hpc.cluster import generations
from fsm_hpc.errors import UserError
from fsm_hpc.study import provenance
from fsm_hpc.study.config import ClusterKind, Config, of_any_version
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.system import files, process_identity, serialization
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.process_identity import Identity
from fsm_hpc.system.value_types import Count, Moment

FORMAT = 4
# an id that sbatch gave, or local/HOST/PID: nothing else reaches scancel, or is looked up
JobId = Annotated[str, Meta(pattern=r"^([0-9]{1,12}(_[0-9]{1,9})?|local/[^/\s]*/[0-9]{1,10})\Z")]


@dataclass(frozen=True, slots=True)
class Submission:
    """One fold handed to SLURM or to local processes; a newer one replaces it."""

    token: Annotated[str, Meta(pattern=r"^[\w-]{1,64}\Z")]
    kind: Annotated[str, Meta(pattern=r"^(slurm|local)\Z")]
    config: dict[str, Any]
    code: dict[str, str | None]
    output: Annotated[str, Meta(pattern=r"^[^\0]*\Z")]  # submitit's script, pickle and output
    submitted_at: Moment
    job_id: JobId | None = None  # None until sbatch has answered
    cancelled_at: Moment | None = None
    table: str | None = None  # digest of the table that was there
    generation: Count = 0  # of two submissions of a fold the one with the larger number is newer
    process: Identity = ""  # of a local one: the command that runs it, or starts what does
    # of a local one: the file of its study that the command touches while the fold waits
    heartbeat: Annotated[str, Meta(pattern=r"^[^/\0]{0,255}\Z")] = ""

    @property
    def is_local(self) -> bool:
        return self.kind == ClusterKind.LOCAL.value

    @property
    def config_then(self) -> Config:
        return of_any_version(self.config)


def code_now() -> dict[str, str | None]:
    """Which code this is: compared when a queued job starts."""
    return {
        "version": fsm_hpc.__version__,
        "commit": provenance.code_commit(),
        "digest": provenance.code_digest(),
    }


def new_submission(
    config: Config, kind: ClusterKind, output: str = "", table: str | None = None
) -> Submission:
    return Submission(
        token=secrets.token_hex(8),
        kind=kind.value,
        config=absolute(config).to_dict(),
        code=code_now(),
        output=output,
        submitted_at=time.time(),
        table=table,
    )


def submit_here(
    paths: FoldPaths, config: Config, table: str | None = None, heartbeat: str = ""
) -> Submission:
    """Hand a fold to this process, or to one that it starts."""
    made = new_submission(config, ClusterKind.LOCAL, table=table)
    submission = replace(
        made,
        job_id=job_id_here(is_local=True),
        generation=generations.next_of(paths),
        process=process_identity.of(),
        heartbeat=heartbeat,
    )
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
    files.make_room(paths.submission, lambda _: read(paths))
    serialization.write(paths.submission, FORMAT, submission)


def read(paths: FoldPaths) -> Submission | None:
    """The last submission, with a config that can be used; None where there is none."""
    name = paths.submission.name
    found = serialization.load(Submission, paths.submission, FORMAT)
    if found is None:
        return None
    try:
        fold = found.config_then.id
    except UserError as error:
        by = found.code.get("version")
        raise UnreadableError(f"{name} has no config of this version ({by}): {error}") from None
    here = paths.id  # None of a rule
    if here is not None and fold._replace(variant=here.variant) != here:
        raise UnreadableError(f"{name} is of another fold: {fold}")
    return found


def load(paths: FoldPaths) -> Submission | None:
    """The last submission; None also where it is damaged."""
    try:
        return read(paths)
    except UnreadableError as error:
        if error.is_newer:
            raise
        return None


def job_id_here(is_local: bool = False) -> str:
    """The id by which SLURM knows this process; local/HOST/PID elsewhere."""
    array, task = (os.environ.get(f"SLURM_ARRAY_{n}_ID") for n in ("JOB", "TASK"))
    if array and task and not is_local:
        return f"{array}_{task}"
    job_id = None if is_local else os.environ.get("SLURM_JOB_ID")
    return job_id or f"local/{platform.node()}/{os.getpid()}"
