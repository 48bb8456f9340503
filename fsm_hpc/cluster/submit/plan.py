"""Decide for every job of a sweep whether it is submitted, and say why."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from fsm_hpc.cluster import slurm
from fsm_hpc.cluster.records import load_submission
from fsm_hpc.cluster.slurm import Hints
from fsm_hpc.cluster.watch import evidence
from fsm_hpc.cluster.watch.evidence import Target
from fsm_hpc.cluster.watch.states import FoldStatus, State, look
from fsm_hpc.errors import UserError
from fsm_hpc.study import job, result
from fsm_hpc.study.config import Config


@dataclass(frozen=True, slots=True)
class Decision:
    """One job of the sweep: submitted or not, and why."""

    config: Config
    status: FoldStatus
    is_submitted: bool
    why: str

    @property
    def target(self) -> Target:
        return self.status.target


@dataclass(frozen=True, slots=True)
class Array:
    """Jobs that go to SLURM in one piece."""

    jobs: tuple[Decision, ...]
    at_a_time: int

    @property
    def core_hours(self) -> float:
        """At most, for one attempt each."""
        clusters = [decision.config.cluster for decision in self.jobs]
        return sum(cluster.cpus * cluster.timeout_h for cluster in clusters)


def decide(jobs: Sequence[Config]) -> tuple[list[Decision], Hints]:
    """What a submission of these jobs would do; mistakes in the data show here."""
    if not jobs:
        raise UserError("these words name no job")
    statuses, hints = look([_with_data(target) for target in evidence.of_jobs(jobs)])
    return [_decide(config, s) for config, s in zip(jobs, statuses, strict=True)], hints


def ensure_free(config: Config) -> None:
    """A fold that a job works on, or will, is not taken from it by a run in the foreground.

    Of an unknown one it may be: if the job is alive after all, it finds out and gives way.
    """
    (status,), _ = look(evidence.of_jobs([config]))
    if status.state in (State.RUNNING, State.QUEUED):
        raise UserError(
            f"{config.job_name} is {status.state.value} as job {status.job_id}; `python -m fsm_hpc "
            "status` shows it, `cancel` ends it, and study=NAME keeps another run apart"
        )


def _with_data(target: Target) -> Target:
    config = target.config
    assert config is not None
    data = job.load_dataset(config.dataset, config.data_dir, config.allow_changed_data)
    return replace(target, data_digest=data.digest)


def _decide(config: Config, status: FoldStatus) -> Decision:
    word, why = status.state.value, status.why
    told = f"{word}: {why}" if why else word
    if status.is_live:
        return Decision(config, status, False, told + _other_settings(config, status))
    if status.state is State.CHANGED:
        job.refuse_other_table(config, status.target.data_digest or "")
    if status.state is State.CHANGED or not status.is_done:
        return Decision(config, status, True, told)
    done = result.load(status.target.paths.result) if status.state is not State.DONE else None
    more = job.unfinished_business(config, done) if done is not None else None
    if more is not None:
        return Decision(config, status, True, f"{word}: {more}")
    advice = "" if status.state is State.DONE else f"; {_advice(status)}"
    return Decision(config, status, False, told + advice)


def _advice(status: FoldStatus) -> str:
    if status.state is State.OUT_OF_MEMORY:
        return "more cluster.mem_gb goes on"
    return "a larger scan.budget_h or final.budget_h goes on"


def _other_settings(config: Config, status: FoldStatus) -> str:
    """A live job that computes something else than what is asked for."""
    submission = load_submission(status.target.paths)
    if submission is None:
        return ""
    then = result.settings_that_matter(submission.config_then, "")
    changed = result.differences(then, result.settings_that_matter(config, ""))
    return f" (with other settings, cancel it first: {', '.join(changed)})" if changed else ""


def lay_out(decisions: Sequence[Decision], max_array_size: int) -> list[Array]:
    """The jobs as arrays of equal resources, none larger than the site allows."""
    groups: dict[str, list[Decision]] = {}
    for decision in decisions:
        if decision.is_submitted:
            key = json.dumps(asdict(decision.config.cluster), sort_keys=True)
            groups.setdefault(key, []).append(decision)
    return [array for group in groups.values() for array in _split(group, max_array_size)]


def _split(group: list[Decision], size: int) -> list[Array]:
    parts = [group[start : start + size] for start in range(0, len(group), size)]
    # the throttle is for all of them together
    at_a_time = max(1, group[0].config.cluster.max_parallel // len(parts))
    return [Array(tuple(part), min(at_a_time, len(part))) for part in parts]


def kind_of(config: Config) -> str:
    """slurm or local."""
    kind = config.cluster.kind
    if kind == "slurm" and not slurm.is_here():
        raise UserError("cluster=slurm, but there is no sbatch here; cluster=local runs here")
    return ("slurm" if slurm.is_here() else "local") if kind == "auto" else kind


def to_dict(decisions: Sequence[Decision], arrays: Sequence[Array]) -> dict[str, Any]:
    """Plain values for `--json`."""
    return {
        "jobs": [
            d.status.to_dict() | {"submit": d.is_submitted, "reason": d.why} for d in decisions
        ],
        "arrays": [
            {"jobs": len(a.jobs), "at_a_time": a.at_a_time, "core_hours": a.core_hours}
            for a in arrays
        ],
    }
