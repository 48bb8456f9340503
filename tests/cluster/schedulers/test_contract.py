"""What every scheduler has to do, tried on all of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.cluster.schedulers.base import Batch, Grade, JobRecord, JobState, Scheduler
from fsm_hpc.errors import UserError
from fsm_hpc.study.compose import compose
from fsm_hpc.study.config import Config
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.system import process_identity
from tests.cluster.schedulers import tasks

Wait = Callable[[Callable[[], object]], None]


@pytest.fixture
def config(scheduler: Scheduler) -> Config:
    size = ["cluster.cpus=1", "cluster.mem_gb=1", "cluster.timeout_h=0.2"]
    return compose(["dataset=hepatitis", "method=median", f"cluster={scheduler.name}", *size])


@pytest.fixture
def batch(scheduler: Scheduler, config: Config, tmp_path: Path) -> Batch:
    output = tmp_path / "output"
    output.mkdir()
    name = f"fsm-{tmp_path.name}"
    return Batch(config, output, name, tasks.describe, (scheduler.name, output), at_a_time=2)


def described(batch: Batch) -> dict[int, dict[str, Any]]:
    """What the tasks wrote of their last start."""
    found = [json.loads(path.read_text()) for path in sorted(batch.output.glob("?-?.json"))]
    return {values["task"]: values for values in found}


def record(batch: Batch, job_id: str, task: int = 0) -> JobRecord:
    """The job as files of a fold would describe it."""
    begun = described(batch).get(task)
    return JobRecord(
        job_id,
        batch.output,
        FoldId("hepatitis", "median", 0),
        process=begun["process"] if begun else process_identity.of(),
        has_begun=begun is not None,
    )


def test_a_batch_runs_every_task_under_an_id_of_its_own(
    scheduler: Scheduler, batch: Batch, wait: Wait
) -> None:
    job_id = scheduler.submit(replace(batch, count=3))
    wait(lambda: len(described(batch)) == 3)
    assert {values["job_id"] for values in described(batch).values()} == {
        f"{job_id}_{task}" for task in range(3)
    }


def test_a_single_job_has_the_id_of_the_batch(
    scheduler: Scheduler, batch: Batch, wait: Wait
) -> None:
    job_id = scheduler.submit(batch)
    wait(lambda: described(batch))
    assert described(batch)[0]["job_id"] == job_id
    assert described(batch)[0]["restart"] == 0


def test_a_job_is_live_until_it_has_ended(scheduler: Scheduler, batch: Batch, wait: Wait) -> None:
    job_id = scheduler.submit(replace(batch, task=tasks.stay))
    assert scheduler.report([record(batch, job_id)]).jobs[job_id].is_live
    wait(lambda: described(batch))
    wait(lambda: scheduler.report([record(batch, job_id)]).jobs[job_id].state is JobState.RUNNING)
    assert scheduler.cancel([record(batch, job_id)]) == {}
    wait(lambda: not scheduler.report([record(batch, job_id)]).jobs[job_id].is_live)


def test_a_job_that_nobody_submitted_is_not_live(scheduler: Scheduler) -> None:
    status = scheduler.report([JobRecord("999999")]).jobs.get("999999")
    assert status is None or not status.is_live


def test_a_requeued_job_starts_again_and_knows_it(
    scheduler: Scheduler, batch: Batch, wait: Wait
) -> None:
    scheduler.submit(replace(batch, task=tasks.requeue))
    wait(lambda: described(batch).get(0, {}).get("restart") == 1)


def test_the_warning_before_a_time_limit_reaches_the_job(
    scheduler: Scheduler, batch: Batch, wait: Wait
) -> None:
    job_id = scheduler.submit(replace(batch, task=tasks.note_warning))
    wait(lambda: described(batch))
    assert scheduler.warn(job_id)
    wait((batch.output / "warned").exists)


def test_a_job_is_found_by_its_name_where_it_outlives_the_command(
    scheduler: Scheduler, batch: Batch, wait: Wait
) -> None:
    job_id = scheduler.submit(replace(batch, count=2))
    known = {} if scheduler.ends_with_command else {batch.name: job_id}
    wait(lambda: scheduler.find([batch.name, "fsm-nobody"]) == known)


def test_what_a_job_prints_is_in_its_outputs(
    scheduler: Scheduler, batch: Batch, wait: Wait
) -> None:
    job_id = scheduler.submit(replace(batch, count=2))
    wait(lambda: len(described(batch)) == 2)
    printed = scheduler.outputs(record(batch, f"{job_id}_1", 1))
    wait(lambda: any("task 1 was here" in path.read_text() for path in printed))
    assert not any("task 0" in path.read_text() for path in printed)


def test_nothing_is_submitted_where_the_last_moment_says_no(
    scheduler: Scheduler, batch: Batch
) -> None:
    def refuse() -> None:
        raise UserError("not any more")

    with pytest.raises(UserError, match="not any more"):
        scheduler.submit(batch, refuse)
    assert not scheduler.find([batch.name])
    assert not scheduler.is_working()


def test_outside_of_a_job_there_is_no_environment(scheduler: Scheduler) -> None:
    assert scheduler.environment() is None


def test_a_site_has_limits_and_no_failed_check(scheduler: Scheduler, config: Config) -> None:
    assert scheduler.is_available()
    assert scheduler.limits(config).max_array_size >= 1
    assert scheduler.limits(config).max_parallel >= 1
    assert all(check.grade is not Grade.FAILED for check in scheduler.checks(config))


def test_jobs_that_end_with_the_command_are_ended_by_it(
    scheduler: Scheduler, batch: Batch, wait: Wait
) -> None:
    job_id = scheduler.submit(replace(batch, task=tasks.stay))
    wait(lambda: described(batch))
    scheduler.close()
    is_live = scheduler.report([record(batch, job_id)]).jobs[job_id].is_live
    assert is_live is not scheduler.ends_with_command
    scheduler.cancel([record(batch, job_id)])
