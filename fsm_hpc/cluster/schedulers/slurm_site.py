"""Compare the limits of a SLURM site with the resources that a job requests."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from fsm_hpc.cluster.schedulers import slurm_commands as slurm
from fsm_hpc.cluster.schedulers.base import Check, Grade
from fsm_hpc.study.config import Config
from fsm_hpc.system.numbers import counted


def checks(config: Config) -> Iterator[Check]:
    """The checks of the site for `doctor`; only one if the controller does not answer."""
    version = (slurm.run("sinfo", "--version") or "").strip()
    answer = slurm.run("squeue", "-h", "-u", str(os.getuid()), "-o", "%T")
    if answer is None:
        yield Check("slurmctld", Grade.FAILED, f"{version}: squeue did not answer in time")
        return
    yield Check("slurmctld", Grade.OK, f"{version}, {counted(len(answer.split()), 'job')} of yours")
    yield accounting()
    yield arrays(config)
    yield partition(config)
    if config.nodes > 1:
        yield nodes(config)


def accounting() -> Check:
    """Whether sacct answers."""
    if slurm.run("sacct", "-n", "-X", "-o", "JobID") is not None:
        return Check("sacct", Grade.OK, "answers")
    text = "does not answer: how old jobs ended is known from files only"
    return Check("sacct", Grade.WARNING, text)


def arrays(config: Config) -> Check:
    """The largest size of an array."""
    size = slurm.max_array_size()
    text = f"up to {counted(size, 'job')} each, {config.cluster.max_parallel} at a time"
    return Check("arrays", Grade.OK if size > 1 else Grade.WARNING, text)


def partition(config: Config) -> Check:
    """Whether some node of each partition has the cores, memory and time for a job."""
    requested = config.cluster.partition
    rows = _of_partition(requested, "%P|%c|%m|%l", _PARTITION)
    if rows is None:
        return Check("partition", Grade.WARNING, "sinfo gave no usable answer")
    groups: dict[str, list[list[str]]] = {}
    for row in rows:
        groups.setdefault(row[0].rstrip("*"), []).append(row)
    unknown = [n for n in requested.split(",") if n not in groups] if requested else []
    if unknown or not groups:
        return Check("partition", Grade.FAILED, f"partition {', '.join(unknown)} does not exist")
    checks = [_one_partition(config, name, group) for name, group in groups.items()]
    grades = {check.grade for check in checks}
    grade = grades.pop() if len(grades) == 1 else Grade.WARNING  # jobs run in some of them
    return Check("partition", grade, "; or ".join(check.text for check in checks))


def _one_partition(config: Config, name: str, rows: list[list[str]]) -> Check:
    cluster = config.cluster
    cpus, memory_mb = (max(_number(row[column]) for row in rows) for column in (1, 2))
    limit_h = max(_hours(row[3]) for row in rows)
    problems = [
        f"{resource}: {requested:g} requested, at most {most:g} available"
        for resource, requested, most in (
            ("cores", cluster.cpus, cpus),
            ("memory in GB", cluster.mem_gb, memory_mb / 1024),
            ("hours", cluster.timeout_h, limit_h),
        )
        if requested > most
    ]
    if problems:
        return Check("partition", Grade.FAILED, f"{name}: {'; '.join(problems)}")
    text = f"{name}: nodes of {cpus:g} cores, {memory_mb / 1024:.0f} GB, limit {limit_h:g} h"
    return Check("partition", Grade.OK, text)


def nodes(config: Config) -> Check:
    """Whether the partition has as many nodes as one fold requests."""
    rows = _of_partition(config.cluster.partition, "%P|%D", _NODES)
    if rows is None:
        return Check("nodes", Grade.WARNING, "sinfo gave no usable answer")
    most, requested = sum(_number(row[1]) for row in rows), config.nodes
    text = f"{requested} requested, at most {most:g} available"
    return Check("nodes", Grade.FAILED if requested > most else Grade.OK, text)


def _of_partition(name: str | None, fields: str, line: re.Pattern[str]) -> list[list[str]] | None:
    """The lines of sinfo about a partition; without a name, about the default partition.

    None if some line has another form.
    """
    which = ("-p", name) if name else ()
    listed = slurm.run("sinfo", "-h", *which, "-o", fields) or ""
    if not slurm.all_lines_match(listed, line):
        return None
    rows = [row.split("|") for row in slurm.matching_lines(listed, line)]
    if name is None:
        rows = [row for row in rows if row[0].endswith("*")] or rows
    return rows


_PARTITION = re.compile(r"[^|]+(\|[^|]*){3}")
_NODES = re.compile(r"[^|]+\|[^|]*")


def _number(text: str) -> float:
    digits = text.rstrip("+")
    return float(digits) if digits.isdigit() else 0.0


def _hours(text: str) -> float:
    """Hours from `days-hours:minutes:seconds`."""
    if text in ("infinite", "UNLIMITED"):
        return float("inf")
    days, _, rest = text.rpartition("-")
    parts = [int(part) for part in rest.split(":") if part.isdigit()]
    if days and len(parts) < 3:
        parts = [*parts, 0, 0][:3]
    seconds = sum(part * 60.0**power for power, part in enumerate(reversed(parts)))
    return int(days or 0) * 24 + seconds / 3600
