"""Hand jobs to SLURM through submitit, and leave."""

from __future__ import annotations

import io
import math
import os
import secrets
import shlex
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from fsm_hpc.cluster import slurm, submissions
from fsm_hpc.cluster.node import begin, fitting, supervise
from fsm_hpc.cluster.submit.plan import Array, Decision, lay_out
from fsm_hpc.errors import UserError
from fsm_hpc.models.fit import out_folder
from fsm_hpc.study.config import ClusterKind, ClusterSettings, Config
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.study.fold import load_dataset
from fsm_hpc.system import files


@dataclass(frozen=True, slots=True)
class Submitted:
    """One array that SLURM has accepted."""

    array: Array
    job_ids: tuple[str, ...]


def to_slurm(decisions: Sequence[Decision]) -> Iterator[Submitted]:
    """Submit what is to be submitted, array by array."""
    for array in lay_out(decisions, slurm.max_array_size()):
        yield _submit_array(array)


def _submit_array(array: Array) -> Submitted:
    first = array.folds[0].config
    output = _output_folder(first)
    made = [
        submissions.new_submission(d.config, ClusterKind.SLURM, str(output)) for d in array.folds
    ]
    for decision, submission in zip(array.folds, made, strict=True):
        submissions.save(decision.ref.paths, submission)
    try:
        ids = _sbatch(first, output, supervise.work, [(asdict(s),) for s in made], array.at_a_time)
    except UserError:
        for decision in array.folds:
            decision.ref.paths.submission.unlink(missing_ok=True)
        raise
    for decision, submission, job_id in zip(array.folds, made, ids, strict=True):
        submissions.save(decision.ref.paths, replace(submission, job_id=job_id))
    return Submitted(array, tuple(ids))


def _sbatch(
    config: Config,
    output: Path,
    task: Callable[..., Any],
    arguments: list[tuple[Any, ...]],
    at_a_time: int,
) -> list[str]:
    import submitit

    with _outside_of_any_job():
        executor = submitit.SlurmExecutor(
            folder=output, max_num_timeout=0, python=python_command(config.cluster)
        )
        executor.update_parameters(**parameters(config, at_a_time))
        try:
            with redirect_stderr(io.StringIO()), executor.batch():  # said once, by us
                jobs = [executor.submit(task, *values) for values in arguments]
            return [job.job_id for job in jobs]
        except (submitit.core.utils.FailedJobError, OSError) as error:
            raise UserError(
                f"sbatch refused {len(arguments)} jobs: {_why(error)}; `python -m fsm_hpc doctor` "
                "checks the site, cluster=local runs them here"
            ) from None


def send(config: Config, output: Path, task: Callable[..., Any], *values: Any) -> str:
    """Submit a single call of a function; its job id."""
    return _sbatch(config, output, task, [values], 1)[0]


def send_fit(config: Config) -> tuple[str, Path]:
    """Submit a rule to be fitted as one job; its id, and where the rule will be."""
    load_dataset(config.dataset, config.data_dir, config.allow_changed_data)  # mistakes show now
    out = out_folder(config)
    paths, output = FoldPaths(out), _output_folder(config)
    before = submissions.load(paths)
    submission = submissions.new_submission(
        replace(config, out=out.absolute()), ClusterKind.SLURM, str(output)
    )
    submissions.save(paths, submission)
    try:
        job_id = send(config, output, fitting.work, asdict(submission))
    except UserError:
        if before is None:
            paths.submission.unlink(missing_ok=True)
        else:
            submissions.save(paths, before)
        raise
    submissions.save(paths, replace(submission, job_id=job_id))
    return job_id, out


def parameters(config: Config, at_a_time: int) -> dict[str, Any]:
    """submitit's parameters for a job of this config."""
    cluster = config.cluster
    chosen = {
        name: getattr(cluster, name)
        for name in ("partition", "account", "qos", "constraint", "mail_user", "mail_type")
    }
    return {
        "job_name": f"fsm-{config.study}",
        "time": math.ceil(cluster.timeout_h * 60),
        "nodes": 1,
        "ntasks_per_node": 1,
        "cpus_per_task": cluster.cpus,
        "mem": f"{math.ceil(cluster.mem_gb * 1024)}MB",
        "signal_delay_s": cluster.signal_delay_s,
        "array_parallelism": at_a_time,
        "stderr_to_stdout": True,
        "wckey": None,  # submitit's own would be refused where wckeys are enforced
        "setup": setup_lines(cluster),
        "additional_parameters": {"requeue": True, **(cluster.sbatch or {})},
        **{name: value for name, value in chosen.items() if value is not None},
    }


def setup_lines(cluster: ClusterSettings) -> list[str]:
    """Shell lines before the job: cores for srun, the code of a checkout, then the user's own."""
    # srun does not inherit --cpus-per-task from SLURM 22.05 on
    lines = ['export SRUN_CPUS_PER_TASK="$SLURM_CPUS_PER_TASK"']
    root = files.SOURCE
    if root != Path(sysconfig.get_paths()["purelib"]):
        lines.append(f'export PYTHONPATH={shlex.quote(str(root))}"${{PYTHONPATH:+:$PYTHONPATH}}"')
    return [*lines, *cluster.setup]


def python_command(cluster: ClusterSettings) -> str:
    """What starts Python on a node, with SIGUSR2 held back until the job is ready for it."""
    python = cluster.python or shlex.quote(sys.executable)
    return f"{python} {shlex.quote(str(Path(begin.__file__).absolute()))}"


def _output_folder(config: Config) -> Path:
    study = StudyPaths((config.results_dir / config.study).absolute())
    folder = study.submissions / f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
    folder.mkdir(parents=True)
    return folder


@contextmanager
def _outside_of_any_job() -> Iterator[None]:
    """Submitting from inside a job must not hand on that job's own limits."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("SLURM_", "SLURMD_", "SRUN_")) and name != "SLURM_CONF"
    }
    if "SLURM_JOB_ID" not in inherited:
        inherited = {}
    for name in inherited:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(inherited)


def _why(error: Exception) -> str:
    lines = [line.removeprefix("sbatch: error: ").strip() for line in str(error).splitlines()]
    return "; ".join(lines) or type(error).__name__
