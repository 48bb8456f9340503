"""Put short folds together, so that many share one job."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from fsm_hpc.cluster.schedulers.base import SiteLimits
from fsm_hpc.cluster.watch.states import FoldState
from fsm_hpc.search.method import Method
from fsm_hpc.search.solvers.names import SolverName
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold import load_table
from fsm_hpc.study.fold_id import ALL
from fsm_hpc.system.numbers import counted

if TYPE_CHECKING:
    from fsm_hpc.cluster.submit.plan import Decision

SHORT_S = 60.0  # of one core: a fold that is expected to take longer has a job of its own
JOB_S = 1800.0  # of one core, that the folds of one job are expected to take
CORE_S = 600.0  # below which a further core is not worth its start
FOLDS_IN_JOB = (100, 250)  # at least and at most, where there are as many
SPARE = 4  # times the expected duration are asked for; what is left then is requeued
AUTO = "auto"


@dataclass(frozen=True, slots=True)
class ArrayTask:
    """Folds that share one job, and what it is given."""

    folds: tuple[Decision, ...]
    config: Config
    expected_s: float | None  # of one core; None: nothing is known

    @property
    def core_hours(self) -> float:
        """Those that are asked for, of one attempt."""
        return self.config.nodes * self.config.cluster.cpus * self.config.cluster.timeout_h


def tasks(decisions: Sequence[Decision], limits: SiteLimits) -> list[ArrayTask]:
    """The folds to be submitted, job by job."""
    expected = Durations(decisions)
    alone: list[ArrayTask] = []
    groups: dict[tuple[StudyPaths, str], list[Decision]] = {}
    for decision in decisions:
        if decision.is_submitted:
            seconds = expected.seconds(decision)
            if may_share(decision, seconds):
                key = decision.ref.paths.study, repr(decision.config.cluster)
                groups.setdefault(key, []).append(decision)
            else:
                alone.append(ArrayTask((decision,), decision.config, seconds))
    packed = (task for group in groups.values() for task in _packed(group, expected, limits))
    return [*alone, *packed]


def may_share(decision: Decision, seconds: float | None) -> bool:
    """Whether a fold may share a job: it is short, and no suspect of having ended one."""
    config = decision.config
    asked, solver = config.cluster.folds_per_job, config.solver
    is_formula = config.method.name.finds_formula
    if asked == "1" or config.nodes > 1 or config.fold == ALL or decision.status.state in _SUSPECTS:
        return False
    if is_formula and solver.name is SolverName.CLINGO_DL:
        return False
    if is_formula and solver.name is SolverName.PORTFOLIO:
        return seconds is not None and seconds < (solver.head_start_s or 0.0) / 2
    return asked != AUTO or (seconds is not None and seconds <= SHORT_S)


_SUSPECTS = (FoldState.LOST, FoldState.OUT_OF_MEMORY, FoldState.FAILED)


class Durations:
    """What a fold is expected to take: as finished ones of its dataset and method, else by the
    size of its table."""

    def __init__(self, decisions: Sequence[Decision]) -> None:
        done: dict[tuple[str, str], list[float]] = {}
        for decision in decisions:
            found = decision.status.result
            if found is not None and not decision.is_submitted:
                cores = int(found.provenance.get("threads") or 1)
                done.setdefault(decision.ref.id[:2], []).append(found.seconds.total * cores)
        self._done = {place: fmean(seconds) for place, seconds in done.items()}

    def seconds(self, decision: Decision) -> float | None:
        """Seconds of one core; None where nothing is known."""
        known = self._done.get(decision.ref.id[:2])
        return by_table(decision.config) if known is None else known


def by_table(config: Config) -> float | None:
    """A rough estimate: the table's cells, and four times as long for each length above six."""
    method, longest = config.method.name, config.scan.max_length
    if not method.finds_formula or longest is None:
        return None
    dataset = load_table(config)
    cells = float(dataset.rows * len(dataset.columns))
    if method is Method.MEDIAN:  # one proposition for a column, not one for a threshold
        cells /= 4
    return float(0.05 * (cells / 1000) ** 1.5 * 4.0 ** max(0, longest - 6) * config.scan.splits)


def _packed(group: list[Decision], expected: Durations, limits: SiteLimits) -> list[ArrayTask]:
    """Jobs of equal size for folds that are asked for alike."""
    asked = group[0].config.cluster.folds_per_job
    seconds = [expected.seconds(decision) or 0.0 for decision in group]
    size = int(asked) if asked != AUTO else _size(group, max(seconds), limits)
    parts = [range(start, min(start + size, len(group))) for start in range(0, len(group), size)]
    sums = [sum(seconds[n] for n in part) for part in parts]
    config = group[0].config if asked != AUTO else _smaller(group[0].config, max(sums))
    folds = [replace(d, config=replace(d.config, cluster=config.cluster)) for d in group]
    return [
        ArrayTask(tuple(folds[n] for n in part), config, total)
        for part, total in zip(parts, sums, strict=True)
    ]


def _size(group: list[Decision], longest_s: float, limits: SiteLimits) -> int:
    fewest, most = FOLDS_IN_JOB
    even = math.ceil(len(group) / limits.max_parallel)
    in_time = int(JOB_S // max(longest_s, 1e-3))
    return max(1, min(most, in_time, max(even, 1 if limits.starts_quickly else fewest)))


def _smaller(config: Config, expected_s: float) -> Config:
    """As many cores as the folds keep busy, with their memory, for some times as long."""
    cluster = config.cluster
    cpus = max(1, min(cluster.cpus, math.ceil(expected_s / CORE_S)))
    hours = max(1, math.ceil(SPARE * expected_s / cpus / 3600))
    smaller = replace(
        cluster,
        cpus=cpus,
        mem_gb=cluster.mem_gb * cpus / cluster.cpus,
        timeout_h=min(cluster.timeout_h, float(hours)),
    )
    return replace(config, cluster=smaller)


def saving(decisions: Sequence[Decision], limits: SiteLimits) -> str:
    """What `plan` says of jobs that could be shared, and are not; empty where there are none."""
    others = [
        replace(d, config=replace(d.config, cluster=replace(d.config.cluster, folds_per_job=AUTO)))
        for d in decisions
    ]
    now, then = tasks(decisions, limits), tasks(others, limits)
    if len(then) >= len(now):
        return ""
    hours, fewer = (sum(task.core_hours for task in some) for some in (now, then))
    return (
        f"cluster.folds_per_job=auto would submit {counted(len(then), 'job')} instead of "
        f"{len(now)}, and request {fewer:,.0f} instead of {hours:,.0f} core-hours"
    )
