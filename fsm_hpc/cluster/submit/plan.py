"""Decide for every fold of a sweep whether it is submitted, and say why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fsm_hpc.cluster import schedulers
from fsm_hpc.cluster.schedulers.base import JobReport, SiteLimits
from fsm_hpc.cluster.submit import packing
from fsm_hpc.cluster.submit.packing import ArrayTask
from fsm_hpc.cluster.watch import columns, cost, fold_files
from fsm_hpc.cluster.watch.cost import Expected
from fsm_hpc.cluster.watch.fold_files import FoldRef
from fsm_hpc.cluster.watch.states import FoldState, FoldStatus, fold_states
from fsm_hpc.data.dataset import Dataset
from fsm_hpc.data.folds import refuse_too_few_rows
from fsm_hpc.errors import UserError
from fsm_hpc.models.tasks import model_paths
from fsm_hpc.search.solvers.nodes import contact
from fsm_hpc.study import fingerprint, fold, resources, variants
from fsm_hpc.study.config import Config, OncePerJob
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold_id import ALL
from fsm_hpc.system.files import OUTDATED
from fsm_hpc.system.machine import gc_paused


@dataclass(frozen=True, slots=True)
class Decision:
    """One fold of the sweep: submitted or not, and why."""

    config: Config
    status: FoldStatus
    is_submitted: bool
    reason: str

    @property
    def ref(self) -> FoldRef:
        return self.status.ref


@dataclass(frozen=True, slots=True)
class Array:
    """Jobs that go to a scheduler in one piece."""

    tasks: tuple[ArrayTask, ...]
    at_a_time: int
    after: tuple[int, ...] = ()  # positions of arrays that have to end before it begins

    @property
    def folds(self) -> tuple[Decision, ...]:
        return tuple(decision for task in self.tasks for decision in task.folds)

    @property
    def config(self) -> Config:
        """What each job is given."""
        return self.tasks[0].config

    @property
    def core_hours(self) -> float:
        """At most, for one attempt each."""
        return sum(task.core_hours for task in self.tasks)


@gc_paused()
def decide(configs: Sequence[Config]) -> tuple[list[Decision], list[JobReport]]:
    """What a submission of these folds would do; mistakes in the data show here."""
    if not configs:
        raise UserError("these overrides name no fold")
    adapted = schedulers.of(configs[0]).adapted
    configs = list(map(adapted, refuse(configs)))
    for config in configs:
        if config.nodes > 1 and config.cluster.python is None:
            contact.ensure_installed()
    table = OncePerJob(fold.load_table)
    refs = [_with_data(ref, table) for ref in fold_files.of_sweep(configs)]
    statuses, reports = fold_states(refs)
    return [_decide(*pair) for pair in zip(configs, statuses, strict=True)], reports


def refuse(configs: Sequence[Config]) -> list[Config]:
    """Every fold once. Refuses two jobs for one folder, and jobs that would be requeued for ever
    and never get on."""
    clusters = {id(config.cluster): config.cluster for config in configs}
    reasons = list(map(resources.time_limit_error, clusters.values()))
    if any(reasons) and schedulers.of(configs[0]).has_time_limit:
        raise UserError(next(filter(None, reasons)))
    return variants.without_duplicates(configs)


def ensure_free(config: Config) -> None:
    """A fold that a job works on, or will, is not taken from it by a run in the foreground.

    Of an unknown one it may be: if the job is alive after all, it finds out and gives way.
    """
    (status,), _ = fold_states(fold_files.of_sweep([config]))
    if status.state in (FoldState.RUNNING, FoldState.QUEUED):
        raise UserError(
            f"{config.id} is {status.state.value} as job {status.files.job_id}; `python -m fsm_hpc "
            "status` shows it, `cancel` ends it, and study=NAME keeps another run apart"
        )


def _with_data(ref: FoldRef, table: Callable[[Config], Dataset]) -> FoldRef:
    config = ref.config
    assert config is not None
    data = table(config)
    refuse_too_few_rows(data.rows, config.folds)
    return replace(ref, data_digest=data.digest)


def _decide(config: Config, status: FoldStatus) -> Decision:
    """Whether a fold is submitted; never one with files that a newer version wrote."""
    decision = _by_state(config, status)
    if not decision.is_submitted:
        return decision
    # of a fold with a result the other files may not have been read
    newer = fold_files.newer_files(status.ref) if status.result else status.files.newer
    return replace(decision, is_submitted=False, reason=newer) if newer else decision


def _by_state(config: Config, status: FoldStatus) -> Decision:
    word = status.state.value
    text = f"{word}: {status.reason}" if status.reason else word
    if status.is_live:
        return Decision(config, status, False, text + _other_settings(config, status))
    if status.state is FoldState.CHANGED:
        fold.refuse_other_table(config, status.ref.data_digest or "")
        text = f"{text}; the result is kept as result.{OUTDATED}-*.json"
    if status.result is None or not status.is_done:
        return Decision(config, status, True, text)
    if config.fold == ALL and not (model := model_paths(config).model).exists():
        return Decision(config, status, True, f"{word}, but {model} is missing")
    if status.state is FoldState.DONE:
        return Decision(config, status, False, text)
    more = fold.reason_to_continue(config, status.result)
    if more is not None:
        return Decision(config, status, True, f"{word}: {more}")
    return Decision(config, status, False, f"{text}; {_advice(status)}")


def _advice(status: FoldStatus) -> str:
    if status.state is FoldState.OUT_OF_MEMORY:
        return "a larger cluster.mem_gb continues it"
    if status.ref.id.fold == ALL:
        return "a larger fit.budget_h continues it"
    return "a larger scan.budget_h or final.budget_h continues it"


def _other_settings(config: Config, status: FoldStatus) -> str:
    """A live job that computes something else than what is asked for."""
    if status.files.submission is None:
        return ""
    try:
        then = fingerprint.settings_that_matter(status.files.submission.config_then, "")
    except UserError:  # of another version
        return ""
    changed = fingerprint.differences(then, fingerprint.settings_that_matter(config, ""))
    return f" (with other settings, cancel it first: {', '.join(changed)})" if changed else ""


def lay_out(decisions: Sequence[Decision], limits: SiteLimits | None = None) -> list[Array]:
    """The jobs as arrays of one study and equal resources, none larger than the site allows;
    together they run no more jobs at a time than `cluster.max_parallel`."""
    limits = limits or site_limits(decisions)
    groups: dict[tuple[StudyPaths, int, str], list[ArrayTask]] = {}
    for task in packing.tasks(decisions, limits):
        key = task.folds[0].ref.paths.study, task.config.nodes, repr(task.config.cluster)
        groups.setdefault(key, []).append(task)
    most = max((group[0].config.cluster.max_parallel for group in groups.values()), default=1)
    parts: list[Array] = []
    for group in groups.values():
        parts += _split(group, limits.max_array_size, len(parts))
    return _share(parts, min(most, limits.max_parallel))


def site_limits(decisions: Sequence[Decision]) -> SiteLimits:
    config = decisions[0].config
    return schedulers.of(config).limits(config)


def _split(group: list[ArrayTask], size: int, first: int) -> list[Array]:
    """Parts of a group, which by `cluster.by` may have a smaller limit of its own; `first`: the
    position of the first of them among all arrays."""
    parts = [group[start : start + size] for start in range(0, len(group), size)]
    most = group[0].config.cluster.max_parallel
    at_a_time = max(1, most // len(parts))
    return [
        Array(tuple(part), min(at_a_time, len(part)), _before(number, most, first))
        for number, part in enumerate(parts)
    ]


def _before(number: int, most: int, first: int = 0) -> tuple[int, ...]:
    """The array that has to end first, so that no more than so many run at once."""
    return (first + number - most,) if number >= most else ()


def _share(parts: list[Array], most: int) -> list[Array]:
    """The arrays with what each may run at a time, so many jobs in all; where there are more arrays
    than that, each runs one, and some wait for others to end."""
    jobs = [1] * len(parts)
    for _ in range(most - len(parts)):
        open_ = [n for n, array in enumerate(parts) if jobs[n] < array.at_a_time]
        if not open_:
            break
        jobs[max(open_, key=lambda n: len(parts[n].tasks) / jobs[n])] += 1
    return [
        replace(array, at_a_time=count, after=tuple({*array.after, *_before(number, most)}))
        for number, (array, count) in enumerate(zip(parts, jobs, strict=True))
    ]


def expected(decisions: Sequence[Decision]) -> Expected:
    """What the folds to be submitted may take, going by those of the sweep that have ended."""
    submitted = [d.status for d in decisions if d.is_submitted]
    return cost.expected([d.status for d in decisions], submitted)


def to_dict(decisions: Sequence[Decision], arrays: Sequence[Array]) -> dict[str, Any]:
    """Plain values for `--json`."""
    likely = expected(decisions)
    return {
        "expected_core_hours": likely.core_hours if likely.folds else None,
        "jobs": [
            columns.to_dict(d.status) | {"submit": d.is_submitted, "reason": d.reason}
            for d in decisions
        ],
        "arrays": [
            {
                "jobs": len(a.tasks),
                "folds": len(a.folds),
                "at_a_time": a.at_a_time,
                "after": list(a.after),
                "nodes": a.config.nodes,
                "core_hours": a.core_hours,
            }
            for a in arrays
        ],
    }
