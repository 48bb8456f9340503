"""A fold handed to SLURM or to this machine: settings and code of that time, on disk."""

from __future__ import annotations

import os
import platform
import secrets
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import fsm_hpc
from fsm_hpc.study import provenance
from fsm_hpc.study.config import ClusterKind, Config, of_any_version
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.system import files


@dataclass(frozen=True, slots=True)
class Submission:
    """One fold handed to SLURM or to local processes; a newer one replaces it."""

    token: str
    kind: str
    config: dict[str, Any]
    code: dict[str, str | None]
    output: str  # folder where submitit keeps script, pickle and output
    submitted_at: float
    job_id: str | None = None  # None until sbatch has answered
    cancelled_at: float | None = None

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


def new_submission(config: Config, kind: ClusterKind, output: str = "") -> Submission:
    token = secrets.token_hex(8)
    return Submission(
        token, kind.value, absolute(config).to_dict(), code_now(), output, time.time()
    )


def submit_here(paths: FoldPaths, config: Config) -> Submission:
    """Hand a fold to this process, or to one that it starts."""
    made = new_submission(config, ClusterKind.LOCAL)
    submission = replace(made, job_id=job_id_here(is_local=True))
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
    files.write_json(paths.submission, asdict(submission))


def load(paths: FoldPaths) -> Submission | None:
    saved = files.read_json(paths.submission)
    try:
        return None if saved is None else Submission(**saved)
    except TypeError:  # written by another version
        return None


def job_id_here(is_local: bool = False) -> str:
    """The id by which SLURM knows this process; local/HOST/PID elsewhere."""
    array, task = (os.environ.get(f"SLURM_ARRAY_{n}_ID") for n in ("JOB", "TASK"))
    if array and task and not is_local:
        return f"{array}_{task}"
    job_id = None if is_local else os.environ.get("SLURM_JOB_ID")
    return job_id or f"local/{platform.node()}/{os.getpid()}"
