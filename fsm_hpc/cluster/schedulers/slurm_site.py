"""What a site with SLURM allows, held against what a job asks for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from fsm_hpc.cluster.schedulers import slurm_commands as slurm
from fsm_hpc.cluster.schedulers.base import Check, Grade
from fsm_hpc.study.config import Config
from fsm_hpc.system.numbers import counted


def checks(config: Config) -> Iterator[Check]:
    """What `doctor` tells of the site; nothing more where the controller does not answer."""
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
    text = "does not answer: ends of old jobs are told from files alone"
    return Check("sacct", Grade.WARNING, text)


def arrays(config: Config) -> Check:
    """How large an array may be."""
    size = slurm.max_array_size()
    text = f"up to {counted(size, 'job')} each, {config.cluster.max_parallel} at a time"
    return Check("arrays", Grade.OK if size > 1 else Grade.WARNING, text)


def partition(config: Config) -> Check:
    """Whether some node of each partition could hold a job of this size and length."""
    asked = config.cluster.partition
    rows = _of_partition(asked, "%P|%c|%m|%l", _PARTITION)
    if rows is None:
        return Check("partition", Grade.WARNING, "the answer of sinfo is not understood")
    groups: dict[str, list[list[str]]] = {}
    for row in rows:
        groups.setdefault(row[0].rstrip("*"), []).append(row)
    unknown = [name for name in asked.split(",") if name not in groups] if asked else []
    if unknown or not groups:
        return Check("partition", Grade.FAILED, f"there is no partition {', '.join(unknown)}")
    checks = [_one_partition(config, name, group) for name, group in groups.items()]
    grades = {check.grade for check in checks}
    grade = grades.pop() if len(grades) == 1 else Grade.WARNING  # jobs run in some of them
    return Check("partition", grade, "; or ".join(check.text for check in checks))


def _one_partition(config: Config, name: str, rows: list[list[str]]) -> Check:
    cluster = config.cluster
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


def nodes(config: Config) -> Check:
    """Whether the partition has as many nodes as one fold is to be searched on."""
    rows = _of_partition(config.cluster.partition, "%P|%D", _NODES)
    if rows is None:
        return Check("nodes", Grade.WARNING, "the answer of sinfo is not understood")
    most, asked = sum(_number(row[1]) for row in rows), config.nodes
    text = f"asked for {asked}, at most {most:g}" if asked > most else f"{asked} search a fold"
    return Check("nodes", Grade.FAILED if asked > most else Grade.OK, text)


def _of_partition(name: str | None, fields: str, line: re.Pattern[str]) -> list[list[str]] | None:
    """What sinfo says of a partition's groups of nodes; without a name, of the default one.

    None where its answer is not of such lines.
    """
    which = ("-p", name) if name else ()
    listed = slurm.run("sinfo", "-h", *which, "-o", fields) or ""
    if not slurm.is_whole(listed, line):
        return None
    rows = [row.split("|") for row in slurm.understood(listed, line)]
    if name is None:
        rows = [row for row in rows if row[0].endswith("*")] or rows
    return rows


_PARTITION = re.compile(r"[^|]+(\|[^|]*){3}")
_NODES = re.compile(r"[^|]+\|[^|]*")


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
