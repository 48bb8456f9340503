"""What a site allows, held against what a job asks for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from fsm_hpc.cluster import slurm
from fsm_hpc.study.config import Config


class Grade(Enum):
    """How a check went."""

    OK = "ok"
    WARNING = "warning"  # jobs run, but something is missing
    FAILED = "failed"  # jobs would be lost


@dataclass(frozen=True, slots=True)
class Check:
    """One line of `doctor`."""

    name: str
    grade: Grade
    text: str


def accounting() -> Check:
    """Whether sacct answers."""
    if slurm.run("sacct", "-n", "-X", "-o", "JobID") is not None:
        return Check("sacct", Grade.OK, "answers")
    text = "does not answer: ends of old jobs are told from files alone"
    return Check("sacct", Grade.WARNING, text)


def arrays(config: Config) -> Check:
    """How large an array may be."""
    size = slurm.max_array_size()
    text = f"up to {size} jobs each, {config.cluster.max_parallel} at a time"
    return Check("arrays", Grade.OK if size > 1 else Grade.WARNING, text)


def partition(config: Config) -> Check:
    """Whether some node of the partition could hold a job of this size and length."""
    cluster = config.cluster
    which = ("-p", cluster.partition) if cluster.partition else ()
    listed = slurm.run("sinfo", "-h", *which, "-o", "%P|%c|%m|%l") or ""
    rows = [line.split("|") for line in listed.splitlines()]
    if cluster.partition is None:
        rows = [row for row in rows if row[0].endswith("*")] or rows
    if not rows:
        return Check("partition", Grade.FAILED, f"there is no partition {cluster.partition}")
    name = rows[0][0].rstrip("*")
    cpus, memory_mb = (max(_number(row[column]) for row in rows) for column in (1, 2))
    limit_h = max(_hours(row[3]) for row in rows)
    problems = [
        f"{what}: asked for {asked:g}, at most {most:g}"
        for what, asked, most in (
            ("cores", cluster.cpus, cpus),
            ("memory in GB", cluster.mem_gb, memory_mb / 1024),
            ("hours", cluster.timeout_h, limit_h),
        )
        if asked > most
    ]
    if problems:
        return Check("partition", Grade.FAILED, f"{name}: {'; '.join(problems)}")
    text = f"{name}: nodes of {cpus:g} cores, {memory_mb / 1024:.0f} GB, limit {limit_h:g} h"
    return Check("partition", Grade.OK, text)


def _number(text: str) -> float:
    digits = text.rstrip("+")
    return float(digits) if digits.isdigit() else 0.0


def _hours(text: str) -> float:
    """SLURM's `days-hours:minutes:seconds`."""
    if text in ("infinite", "UNLIMITED"):
        return float("inf")
    days, _, rest = text.rpartition("-")
    parts = [int(part) for part in rest.split(":") if part.isdigit()]
    if days and len(parts) < 3:
        parts = [*parts, 0, 0][:3]
    seconds = sum(part * 60.0**power for power, part in enumerate(reversed(parts)))
    return int(days or 0) * 24 + seconds / 3600
