"""Core-hours that a sweep was allocated, has used and will probably need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from fsm_hpc.cluster import schedulers
from fsm_hpc.cluster.watch.states import FoldStatus
from fsm_hpc.system.numbers import counted


@dataclass(frozen=True, slots=True)
class Expected:
    """An estimate for folds without a final result, and its basis."""

    core_hours: float
    folds: int  # number of folds that the estimate covers
    others: int  # folds of datasets and methods without a finished fold
    done: int  # finished folds that the estimate uses

    @property
    def basis(self) -> str:
        """The basis of the estimate in words."""
        same = counted(self.done, "done fold")
        return f"from {same} of the same dataset and method, and the time used by open folds"


def expected(all_: Sequence[FoldStatus], open_: Sequence[FoldStatus]) -> Expected:
    """The core-hours of all folds of a dataset and method, divided by the number of done folds.

    The mean of the done folds alone is too small, because quick folds are done first. So the
    time that open folds have used counts as well.
    """
    open_ids = {status.ref.id for status in open_}
    done: dict[tuple[str, str], list[FoldStatus]] = {}
    for status in all_:
        if status.result is not None and status.ref.id not in open_ids:
            done.setdefault(status.ref.id[:2], []).append(status)
    groups: dict[tuple[str, str], list[FoldStatus]] = {}
    for status in open_:
        groups.setdefault(status.ref.id[:2], []).append(status)
    known = {place: (done[place], folds) for place, folds in groups.items() if place in done}
    return Expected(
        sum(len(folds) * _each(ended, folds) for ended, folds in known.values()),
        sum(len(folds) for _, folds in known.values()),
        sum(len(folds) for place, folds in groups.items() if place not in done),
        sum(len(ended) for ended, _ in known.values()),
    )


def _each(done: Sequence[FoldStatus], open_: Sequence[FoldStatus]) -> float:
    """Core-hours per finished fold."""
    cores = fmean(map(_cores, done))
    had = sum(_core_hours(status, cores) for status in open_)
    return (sum(_core_hours(status, cores) for status in done) + had) / len(done)


def _cores(status: FoldStatus) -> int:
    provenance = status.result.provenance if status.result else {}
    return int(provenance.get("nodes") or 1) * int(provenance.get("threads") or 1)


def _core_hours(status: FoldStatus, cores: float) -> float:
    """Elapsed time multiplied by cores; `cores` is used if those of the fold are unknown."""
    if status.result is not None:
        return status.result.seconds.total * _cores(status) / 3600
    return (status.elapsed_s or 0.0) * cores / 3600


def summary(statuses: Sequence[FoldStatus]) -> str:
    """The line of `status` about core-hours; empty without any information."""
    return "; ".join(filter(None, (_counted(statuses), *_of_rows(statuses))))


def _counted(statuses: Sequence[FoldStatus]) -> str:
    """Core-hours of all jobs and restarts from the scheduler; empty without accounting."""
    jobs = {job for status in statuses for job in _jobs(status)}
    usage = next(filter(None, (site.usage(jobs) for site in schedulers.available())), None)
    if not usage:
        return ""
    allocated_h, used_h = (sum(part) / 3600 for part in zip(*usage.values(), strict=True))
    if not used_h:  # it may appear some time after the job has ended, or never
        return f"core-hours: {_hours(allocated_h)} allocated (use is not recorded yet)"
    return f"core-hours: {_hours(used_h)} used of {_hours(allocated_h)} allocated"


def _jobs(status: FoldStatus) -> list[str]:
    ids = status.result.provenance.get("job_ids", []) if status.result else []
    return [*map(str, ids), *filter(None, [status.files.job_id])]


def _of_rows(statuses: Sequence[FoldStatus]) -> Iterator[str]:
    done = [status for status in statuses if status.is_done]
    if done:
        hours = sum(_core_hours(status, 1) for status in done)
        each = f", {_hours(hours / len(done))} each on average" if len(done) > 1 else ""
        folds = counted(len(done), "done fold")
        yield f"elapsed x cores of {folds}: {_hours(hours)} core-hours{each}"
    more = expected(statuses, [status for status in statuses if not status.is_done])
    if more.folds:
        open_ = counted(more.folds, "open fold")
        unknown = f"; no estimate for {more.others}" if more.others else ""
        yield f"about {_hours(more.core_hours)} more for {open_} ({more.basis}{unknown})"


def _hours(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"
