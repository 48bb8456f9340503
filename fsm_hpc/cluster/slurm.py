"""Ask SLURM, each time with a time-out: its word is a hint, and no answer stays unknown."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

WAITING = frozenset(
    ["PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT"]
)
RUNNING = frozenset(["RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT"])
OUT_OF_MEMORY = "OUT_OF_MEMORY"
ASK_S = 10.0  # with slurmctld away every command blocks about 9 s; sacct takes its time too
CHUNK = 500  # ids on one command line


@dataclass(frozen=True, slots=True)
class Hint:
    """What SLURM says about a job."""

    state: str  # in SLURM's words
    reason: str = ""
    node: str = ""

    @property
    def is_waiting(self) -> bool:
        return self.state in WAITING

    @property
    def is_running(self) -> bool:
        return self.state in RUNNING

    @property
    def is_live(self) -> bool:
        return self.is_waiting or self.is_running


@dataclass(frozen=True, slots=True)
class Hints:
    """SLURM's answers by job id, and the commands that gave none."""

    jobs: dict[str, Hint] = field(default_factory=dict)
    silent: tuple[str, ...] = ()

    @property
    def queue_answered(self) -> bool:
        """Only then a job that is not listed has left the queue."""
        return "squeue" not in self.silent


def is_here() -> bool:
    """Whether jobs can be submitted from this machine."""
    return shutil.which("sbatch") is not None


def run(*command: str, time_limit_s: float = ASK_S) -> str | None:
    """The output of a SLURM command; None when it failed, is missing or was too slow."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=time_limit_s,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def ask(job_ids: Collection[str]) -> Hints:
    """What squeue says about my jobs, and sacct about those that have left the queue."""
    if not job_ids:
        return Hints()
    queue = run("squeue", "-h", "-r", "-t", "all", "-u", str(os.getuid()), "-o", "%i|%T|%r|%N")
    jobs = {} if queue is None else dict(_read_queue(queue))
    jobs = {job_id: jobs[job_id] for job_id in job_ids if job_id in jobs}
    silent = ["squeue"] if queue is None else []
    # squeue says FAILED where only a step was out of memory: sacct knows
    unsettled = [i for i in job_ids if i not in jobs or jobs[i].state == "FAILED"]
    for chunk in _chunks(sorted({job_id.split("_")[0] for job_id in unsettled})):
        told = run("sacct", "-n", "-P", "-j", ",".join(chunk), "-o", "JobID,State,NodeList")
        if told is None:
            silent.append("sacct")
            break
        asked = set(unsettled)
        jobs |= {job: hint for job, hint in _read_accounting(told).items() if job in asked}
    return Hints(jobs, tuple(silent))


def _read_queue(text: str) -> Iterator[tuple[str, Hint]]:
    for line in text.splitlines():
        job_id, state, reason, node = [*line.split("|"), "", "", ""][:4]
        yield job_id, Hint(state, "" if reason == "None" else reason, node)


def _read_accounting(text: str) -> dict[str, Hint]:
    jobs: dict[str, Hint] = {}
    for line in text.splitlines():
        name, state, node = [*line.split("|"), "", ""][:3]
        job, _, step = name.partition(".")
        word = state.split(" ")[0]  # "CANCELLED by 1000"
        if not step:
            jobs |= {job_id: Hint(word, "", node) for job_id in _expand(job)}
        elif word == OUT_OF_MEMORY and job in jobs:
            jobs[job] = Hint(OUT_OF_MEMORY, f"step {step}", node)
    return jobs


def _expand(job: str) -> list[str]:
    """`7_[1-3,5]` is four jobs."""
    match = re.fullmatch(r"(\d+)_\[([\d,-]+)(%\d+)?\]", job)
    if match is None:
        return [job]
    parts = [part.split("-") for part in match.group(2).split(",")]
    return [f"{match.group(1)}_{n}" for p in parts for n in range(int(p[0]), int(p[-1]) + 1)]


def max_array_size() -> int:
    """How many jobs an array may have here; SLURM's default when it does not tell."""
    answer = run("scontrol", "show", "config") or ""
    match = re.search(r"^MaxArraySize\s*=\s*(\d+)", answer, re.MULTILINE)
    # the limit is on the index, which starts at 0
    return max(1, int(match.group(1)) if match else 1000)


def requeue(job_id: str) -> bool:
    """Put a running job back into the queue; ends the calling process when it is that job."""
    return run("scontrol", "requeue", job_id, time_limit_s=20) is not None


def cancel(job_ids: Iterable[str]) -> list[str]:
    """End the jobs; returns the ids that SLURM did not confirm."""
    chunks = list(_chunks(list(job_ids)))
    return [i for chunk in chunks if run("scancel", *chunk, time_limit_s=30) is None for i in chunk]


def _chunks(items: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(items), CHUNK):
        yield items[start : start + CHUNK]
