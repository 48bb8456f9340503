"""Core-hours: what a sweep has been given and has used, and what it may need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from fsm_hpc.cluster import schedulers
from fsm_hpc.cluster.watch.states import FoldStatus
from fsm_hpc.system.numbers import counted


@dataclass(frozen=True, slots=True)
class Expected:
    """What folds without a final result may take, and what that is based on."""

    core_hours: float
    folds: int  # that this is said of
    others: int  # of whose dataset and method no fold has ended
    done: int  # folds that have ended, of the dataset and method of one of them

    @property
    def basis(self) -> str:
        """In words."""
        same = counted(self.done, "done fold")
        return f"from {same} of the same dataset and method, and the time that open ones have had"


def expected(all_: Sequence[FoldStatus], open_: Sequence[FoldStatus]) -> Expected:
    """The hours of all folds of a dataset and method, for each of them that is done.

    The mean of the done ones alone is too small: the quick folds are done first. Those that are
    open have had their time without an end, which counts as well.
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
    """Core-hours for each end that has come."""
    cores = fmean(map(_cores, done))
    had = sum(_core_hours(status, cores) for status in open_)
    return (sum(_core_hours(status, cores) for status in done) + had) / len(done)


def _cores(status: FoldStatus) -> int:
    provenance = status.result.provenance if status.result else {}
    return int(provenance.get("nodes") or 1) * int(provenance.get("threads") or 1)


def _core_hours(status: FoldStatus, cores: float) -> float:
    """What it was searched for, as its row shows it; `cores`: where its own are not known."""
    if status.result is not None:
        return status.result.seconds.total * _cores(status) / 3600
    return (status.elapsed_s or 0.0) * cores / 3600


def told(statuses: Sequence[FoldStatus]) -> str:
    """A line for `status` on the folds that it shows; empty where there is nothing to tell."""
    return "; ".join(filter(None, (_counted(statuses), *_of_rows(statuses))))


def _counted(statuses: Sequence[FoldStatus]) -> str:
    """The scheduler's own count over all jobs and their restarts; empty where there is none."""
    jobs = {job for status in statuses for job in _jobs(status)}
    usage = next(filter(None, (site.usage(jobs) for site in schedulers.available())), None)
    if not usage:
        return ""
    allocated_h, used_h = (sum(part) / 3600 for part in zip(*usage.values(), strict=True))
    if not used_h:  # that may come some time after a job's end, or never
        return f"core-hours: {_hours(allocated_h)} allocated (what was used is not counted yet)"
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
        unknown = f"; nothing to go by for {more.others}" if more.others else ""
        yield f"about {_hours(more.core_hours)} more for {open_} ({more.basis}{unknown})"


def _hours(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"
