"""Core-hours: what a sweep has been given and has used by SLURM's count, and what it may need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from fsm_hpc.cluster import slurm
from fsm_hpc.cluster.watch.verdict import FoldVerdict
from fsm_hpc.system.numbers import counted

MOST_ARRAYS = 300  # that SLURM's accounts are asked about


@dataclass(frozen=True, slots=True)
class Expected:
    """What folds without a final result may take, going by finished folds like them."""

    core_hours: float
    folds: int  # that this is said of
    others: int  # of whose dataset and method no fold has ended


def expected(all_: Sequence[FoldVerdict], open_: Sequence[FoldVerdict]) -> Expected:
    """The mean of the finished folds of the same dataset and method, for every open one."""
    hours: dict[tuple[str, str], list[float]] = {}
    for one in all_:
        if one.result is not None:
            threads = one.result.provenance.get("threads") or 1
            spent = one.result.seconds.total * threads / 3600
            hours.setdefault(one.ref.id[:2], []).append(spent)
    known = [fmean(hours[one.ref.id[:2]]) for one in open_ if one.ref.id[:2] in hours]
    return Expected(sum(known), len(known), len(open_) - len(known))


@dataclass(frozen=True, slots=True)
class Spent:
    """What SLURM has set aside for jobs, and what they made of it."""

    allocated_h: float
    used_h: float  # 0 where SLURM has not counted: it does so some time after a job's end, or never


def spent(verdicts: Iterable[FoldVerdict]) -> Spent | None:
    """SLURM's own count over all jobs and their restarts; None where there are none, or too many
    to ask about, or its accounts do not answer."""
    jobs = {job for one in verdicts for job in _jobs(one) if job[:1].isdigit()}
    if not jobs or len({job.split("_")[0] for job in jobs}) > MOST_ARRAYS:
        return None
    usage = slurm.usage(jobs)
    if usage is None:
        return None
    return Spent(*(sum(part) / 3600 for part in zip(*usage.values(), strict=True)))


def _jobs(one: FoldVerdict) -> list[str]:
    done = one.result.provenance.get("job_ids", []) if one.result else []
    return [*map(str, done), *([one.job_id] if one.job_id else [])]


def told(verdicts: Sequence[FoldVerdict]) -> str:
    """A line for `status`; empty where there is nothing to tell."""
    found = spent(verdicts)
    more = expected(verdicts, [one for one in verdicts if not one.is_done])
    parts = []
    if found is not None:
        used = f"{_hours(found.used_h)} used of " if found.used_h else ""
        not_counted = "" if used else " (what was used SLURM has not counted yet)"
        parts.append(f"{used}{_hours(found.allocated_h)} allocated{not_counted}")
    if more.folds:
        parts.append(f"about {_hours(more.core_hours)} more for {counted(more.folds, 'open fold')}")
    return f"core-hours: {', '.join(parts)}" if parts else ""


def _hours(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"
