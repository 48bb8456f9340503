"""Where a fold stands, from every mix of files and hints."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fsm_hpc.cluster.records import Attempt, End, Submission
from fsm_hpc.cluster.watch.states import State, check_code, judge

from fsm_hpc.cluster import records
from fsm_hpc.cluster.slurm import Hint, Hints
from fsm_hpc.cluster.watch.evidence import Evidence, ScanFacts, Target
from fsm_hpc.study.files import FoldPaths

TARGET = Target("bank", "pivot", 0, FoldPaths(Path("nowhere")))
SCAN = ScanFacts(exists=True, length=4, best_validation=0.8, seconds=9.0)
SILENT = Hints(silent=("squeue", "sacct"))


def submission(**changes: Any) -> Submission:
    values: dict[str, Any] = {"job_id": "7_0", "submitted_at": time.time(), "kind": "slurm"}
    return Submission(token="t", config={}, code={}, output="nowhere", **{**values, **changes})


def attempt(end: End | None = None, **changes: Any) -> Attempt:
    values: dict[str, Any] = {"host": "n1", "pid": 1, "started_at": 0.0, "token": "t"}
    return Attempt(job_id="7_0", restart=0, end=end, **{**values, **changes})


def hints(state: str, reason: str = "") -> Hints:
    return Hints({"7_0": Hint(state, reason)})


def result(**changes: Any) -> dict[str, Any]:
    accuracy = {"train": 0.9, "validation": 0.8, "test": 0.7}
    values = {"stop_reason": "early_stopping", "proved": True, "formula": "p", "settings": {}}
    return {**values, "accuracy": accuracy, "seconds": {"total": 1.0}, **changes}


@pytest.mark.parametrize(
    ("last", "said", "expected"),
    [
        (None, hints("PENDING", "Priority"), State.QUEUED),
        (None, hints("RUNNING"), State.RUNNING),
        (None, hints("FAILED"), State.FAILED),
        (None, hints("CANCELLED"), State.CANCELLED),
        (None, SILENT, State.UNKNOWN),
        (None, Hints(), State.LOST),
        (attempt(), hints("RUNNING"), State.RUNNING),
        (attempt(), hints("COMPLETING"), State.RUNNING),
        (attempt(), hints("PENDING"), State.QUEUED),
        (attempt(), hints("NODE_FAIL"), State.LOST),
        (attempt(), hints("OUT_OF_MEMORY"), State.OUT_OF_MEMORY),
        (attempt(), hints("CANCELLED"), State.CANCELLED),
        (attempt(), hints("TIMEOUT"), State.LOST),
        (attempt(), SILENT, State.UNKNOWN),
        (attempt(), Hints(), State.LOST),
        (attempt(token="older"), hints("PENDING"), State.QUEUED),
        (attempt(End.TIMEOUT), hints("PENDING"), State.QUEUED),
        (attempt(End.TIMEOUT), SILENT, State.UNKNOWN),
        (attempt(End.TIMEOUT), Hints(), State.LOST),
        (attempt(End.PREEMPTED), hints("REQUEUED"), State.QUEUED),
        (attempt(End.STOPPED), hints("CANCELLED"), State.CANCELLED),
        (attempt(End.GAVE_UP), SILENT, State.FAILED),
        (attempt(End.ERROR), SILENT, State.FAILED),
        (attempt(End.BAD_INPUT), SILENT, State.FAILED),
        (attempt(End.OUT_OF_MEMORY), SILENT, State.OUT_OF_MEMORY),
    ],
)
def test_a_fold_without_a_result_is(last: Attempt | None, said: Hints, expected: State) -> None:
    assert judge(Evidence(TARGET, None, submission(), last, SCAN), said).state is expected


def test_no_answer_never_becomes_a_failure() -> None:
    for last in (None, attempt(), *(attempt(end) for end in (End.TIMEOUT, End.PREEMPTED))):
        status = judge(Evidence(TARGET, None, submission(), last, SCAN), SILENT)
        assert not status.is_failed
        assert check_code([status]) == 1


def test_a_result_is_done_whatever_slurm_says() -> None:
    found = Evidence(TARGET, result(), submission(), attempt(End.FINISHED), SCAN)
    assert judge(found, hints("NODE_FAIL")).state is State.DONE
    assert judge(found, SILENT).is_done


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"stop_reason": "timeout"}, State.TIMEOUT),
        ({"stop_reason": "out_of_memory"}, State.OUT_OF_MEMORY),
        ({"proved": False}, State.TIMEOUT),
        ({"proved": False, "formula": None}, State.DONE),
    ],
)
def test_a_result_says_what_it_lacks(changes: dict[str, Any], expected: State) -> None:
    status = judge(Evidence(TARGET, result(**changes)), Hints())
    assert status.state is expected
    assert check_code([status]) == 0


def test_a_resumed_fold_with_a_result_is_live_again() -> None:
    found = Evidence(TARGET, result(stop_reason="timeout"), submission(), attempt(), SCAN)
    assert judge(found, hints("RUNNING")).state is State.RUNNING
    assert judge(found, hints("CANCELLED")).state is State.TIMEOUT
    here = submission(kind="local", job_id=f"local/{platform.node()}/1")
    for pid, expected in ((os.getpid(), State.RUNNING), (2**22 + 1, State.TIMEOUT)):
        mine = attempt(host=platform.node(), pid=pid, started_at=time.time())
        again = Evidence(TARGET, result(stop_reason="timeout"), here, mine, SCAN)
        assert judge(again, Hints()).state is expected


def test_what_the_user_cancelled_is_cancelled_without_sacct() -> None:
    cancelled = submission(cancelled_at=1.0)
    assert judge(Evidence(TARGET, None, cancelled, attempt(), SCAN), Hints()).state is (
        State.CANCELLED
    )


def test_a_submission_that_sbatch_never_answered_is_missing_after_a_while() -> None:
    fresh = judge(Evidence(TARGET, None, submission(job_id=None)), Hints())
    old = judge(Evidence(TARGET, None, submission(job_id=None, submitted_at=0.0)), Hints())
    assert (fresh.state, old.state) == (State.QUEUED, State.MISSING)


def test_a_local_fold_whose_process_is_gone_is_lost() -> None:
    here = submission(kind="local", job_id=f"local/{platform.node()}/1")
    dead = attempt(host=platform.node(), pid=2**22 + 1)
    assert judge(Evidence(TARGET, None, here, dead, SCAN), Hints()).state is State.LOST


def test_a_local_fold_of_another_machine_is_unknown() -> None:
    away = submission(kind="local", job_id="local/elsewhere/1")
    status = judge(Evidence(TARGET, None, away, attempt(host="elsewhere"), SCAN), Hints())
    assert status.state is State.UNKNOWN


@pytest.mark.parametrize(("age_s", "expected"), [(60, State.UNKNOWN), (7200, State.LOST)])
def test_a_fold_of_another_machine_is_lost_without_a_sign_of_life(
    tmp_path: Path, age_s: float, expected: State
) -> None:
    target = Target("bank", "pivot", 0, FoldPaths(tmp_path))
    away = submission(kind="local", job_id="local/elsewhere/1")
    last = attempt(host="elsewhere")
    records.save_attempt(target.paths, last)
    os.utime(target.paths.attempt, (time.time() - age_s,) * 2)
    assert judge(Evidence(target, None, away, last, SCAN), Hints()).state is expected


@pytest.mark.parametrize(("since", "expected"), [(1e12, State.RUNNING), (0.0, State.LOST)])
def test_a_process_that_began_later_is_another_one(since: float, expected: State) -> None:
    """The id of a process that is gone is given to a new one, after a restart for instance."""
    here = submission(kind="local", job_id=f"local/{platform.node()}/{os.getpid()}")
    last = attempt(host=platform.node(), pid=os.getpid(), started_at=since)
    assert judge(Evidence(TARGET, None, here, last, SCAN), Hints()).state is expected
    waiting = replace(here, submitted_at=since)
    state = judge(Evidence(TARGET, None, waiting, None, SCAN), Hints()).state
    assert state is (State.QUEUED if since else State.PARTIAL)


def test_nothing_on_disk_is_missing_and_a_bare_scan_is_partial() -> None:
    assert judge(Evidence(TARGET), Hints()).state is State.MISSING
    assert judge(Evidence(TARGET, scan=SCAN), Hints()).why == "resumes at length 4"


def test_check_tells_done_open_and_failed_apart() -> None:
    done = judge(Evidence(TARGET, result()), Hints())
    open_ = judge(Evidence(TARGET), Hints())
    failed = judge(Evidence(TARGET, None, submission(), attempt(End.ERROR)), Hints())
    assert check_code([done]) == 0
    assert check_code([done, open_]) == 1
    assert check_code([done, open_, failed]) == 2


def test_lost_attempts_are_counted_and_ordinary_time_outs_are_not() -> None:
    def entry(end: End | None, progress_s: float, token: str = "t") -> dict[str, Any]:
        return {"token": token, "end": end.value if end else None, "progress_s": progress_s}

    worked = (entry(End.TIMEOUT, 60.0), entry(End.TIMEOUT, 120.0))
    assert records.retries(attempt(earlier=worked)) == 0
    assert records.retries(attempt(earlier=(*worked, entry(None, 0.0)))) == 1
    assert records.retries(attempt(earlier=(*worked, entry(End.PREEMPTED, 130.0)))) == 1
    assert records.retries(attempt(earlier=(*worked, entry(End.TIMEOUT, 120.0)))) == 1
    assert records.retries(attempt(earlier=(entry(None, 0.0, token="older"),))) == 0
