"""Jobs on SLURM."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import count, takewhile
from pathlib import Path

from fsm_hpc.cluster.schedulers import slurm_commands, slurm_script, slurm_site
from fsm_hpc.cluster.schedulers.base import (
    Batch,
    Check,
    JobEnvironment,
    JobRecord,
    JobReport,
    Scheduler,
    SiteLimits,
)
from fsm_hpc.study.config import Config

# the number of cores of a task, and of a job on this node
_CORES = ("SLURM_CPUS_PER_TASK", "SRUN_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE")


class Slurm(Scheduler):
    """Uses the commands of SLURM; submitit writes the job script."""

    name = "slurm"
    title = "SLURM"
    settle_s = 15.0
    end_reason = re.compile(
        r"(?:slurmstepd|srun|slurmd): error: (?:\*\*\* )?(.*DUE TO [A-Z ]*[A-Z])"
    )
    memory_error = re.compile(rb"oom-kill event|Out Of Memory|Exceeded job memory limit|oom_kill")

    def is_available(self) -> bool:
        return slurm_commands.is_installed()

    def submit(self, batch: Batch, before: Callable[[], None] = lambda: None) -> str:
        return slurm_script.submit(batch, before)

    def report(self, jobs: Collection[JobRecord]) -> JobReport:
        return slurm_commands.query([job.id for job in jobs])

    def find(self, names: Collection[str]) -> dict[str, str] | None:
        return slurm_commands.named(names)

    def cancel(self, jobs: Sequence[JobRecord]) -> dict[str, str]:
        unconfirmed = slurm_commands.cancel([job.id for job in jobs])
        return dict.fromkeys(unconfirmed, "SLURM did not confirm; try again")

    def requeue(self, job_id: str) -> bool:
        return slurm_commands.run("scontrol", "requeue", job_id, time_limit_s=20) is not None

    def warn(self, job_id: str) -> bool:
        return slurm_commands.run("scancel", "--signal=USR2", job_id) is not None

    def environment(self) -> JobEnvironment | None:
        array, task = (os.environ.get(f"SLURM_ARRAY_{n}_ID") for n in ("JOB", "TASK"))
        job_id = f"{array}_{task}" if array and task else os.environ.get("SLURM_JOB_ID")
        if job_id is None:
            return None
        return JobEnvironment(
            job_id,
            restart=_number("SLURM_RESTART_COUNT", 0),
            task=_number("SLURM_ARRAY_TASK_ID", 0),
            cores=min((n for name in _CORES if (n := _number(name, 0))), default=None),
            rank=_number("SLURM_PROCID", 0),
            tasks=_number("SLURM_STEP_NUM_TASKS", 1),
            step=os.environ.get("SLURM_STEP_ID", "0"),
            address=os.environ.get("SLURM_LAUNCH_NODE_IPADDR", ""),
        )

    def limits(self, config: Config) -> SiteLimits:
        return SiteLimits(max_array_size=slurm_commands.max_array_size())

    def checks(self, config: Config) -> Iterator[Check]:
        return slurm_site.checks(config)

    def outputs(self, job: JobRecord) -> list[Path]:
        if job.output is None:
            return []
        of_ranks = (job.output / f"{job.id}_{rank}_log.out" for rank in count())
        return list(takewhile(Path.exists, of_ranks))

    def usage(self, job_ids: Collection[str]) -> dict[str, tuple[float, float]] | None:
        return slurm_commands.usage(job_ids)


def _number(variable: str, default: int) -> int:
    text = os.environ.get(variable, "")
    return int(text) if text.isdigit() else default


SCHEDULER = Slurm
