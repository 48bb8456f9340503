"""Where a fold stands, from every mix of files and hints."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from fsm_hpc.cluster import attempts
from fsm_hpc.cluster.attempts import Attempt, AttemptEnd
from fsm_hpc.cluster.schedulers import local, slurm_commands
from fsm_hpc.cluster.schedulers.base import JobReport
from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.cluster.watch import columns
from fsm_hpc.cluster.watch.columns import to_dict
from fsm_hpc.cluster.watch.fold_files import FoldFiles, FoldRef
from fsm_hpc.cluster.watch.states import (
    FoldState,
    FoldStatus,
    check_code,
    classify,
    job_reports,
    report_on,
)
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.study.result import FoldResult
from fsm_hpc.study.scan_file import ScanFacts
from tests.support.made_studies import fold_result
from tests.support.process_identities import ELSEWHERE, identity, reused

BANK = FoldId("bank", "pivot", 0)
REF = FoldRef(BANK, FoldPaths(Path("nowhere")))
SCAN = ScanFacts(exists=True, length=4, best_validation=0.8, seconds=9.0)
SILENT = JobReport(unanswered=("squeue", "sacct"), queue_answered=False)


def submission(**changes: Any) -> Submission:
    values: dict[str, Any] = {"job_id": "7_0", "submitted_at": time.time(), "kind": "slurm"}
    return Submission(token="t", config={}, code={}, output="nowhere", **{**values, **changes})


def attempt(end: AttemptEnd | None = None, **changes: Any) -> Attempt:
    values: dict[str, Any] = {"host": "n1", "pid": 1, "started_at": 0.0, "token": "t"}
    return Attempt(job_id="7_0", restart=0, end=end, **{**values, **changes})


def hints(state: str, reason: str = "") -> JobReport:
    return JobReport({"7_0": slurm_commands.status(state, reason)})


def classified(found: FoldFiles) -> FoldStatus:
    """The state where the scheduler is asked."""
    return classify(found, report_on(found, job_reports([found])))


def result(**changes: Any) -> FoldResult:
    return fold_result(*BANK, **changes)


@pytest.mark.parametrize(
    ("last", "said", "expected"),
    [
        (None, hints("PENDING", "Priority"), FoldState.QUEUED),
        (None, hints("RUNNING"), FoldState.RUNNING),
        (None, hints("FAILED"), FoldState.FAILED),
        (None, hints("CANCELLED"), FoldState.CANCELLED),
        (None, SILENT, FoldState.UNKNOWN),
        (None, JobReport(), FoldState.LOST),
        (attempt(), hints("RUNNING"), FoldState.RUNNING),
        (attempt(), hints("COMPLETING"), FoldState.RUNNING),
        (attempt(), hints("PENDING"), FoldState.QUEUED),
        (attempt(), hints("NODE_FAIL"), FoldState.LOST),
        (attempt(), hints("OUT_OF_MEMORY"), FoldState.OUT_OF_MEMORY),
        (attempt(), hints("CANCELLED"), FoldState.CANCELLED),
        (attempt(), hints("TIMEOUT"), FoldState.LOST),
        (attempt(), SILENT, FoldState.UNKNOWN),
        (attempt(), JobReport(), FoldState.LOST),
        (attempt(token="older"), hints("PENDING"), FoldState.QUEUED),
        (attempt(AttemptEnd.TIMEOUT), hints("PENDING"), FoldState.QUEUED),
        (attempt(AttemptEnd.TIMEOUT), SILENT, FoldState.UNKNOWN),
        (attempt(AttemptEnd.TIMEOUT), JobReport(), FoldState.LOST),
        (attempt(AttemptEnd.PREEMPTED), hints("REQUEUED"), FoldState.QUEUED),
        (attempt(AttemptEnd.STOPPED), hints("CANCELLED"), FoldState.CANCELLED),
        (attempt(AttemptEnd.GAVE_UP), SILENT, FoldState.FAILED),
        (attempt(AttemptEnd.ERROR), SILENT, FoldState.FAILED),
        (attempt(AttemptEnd.BAD_INPUT), SILENT, FoldState.FAILED),
        (attempt(AttemptEnd.OUT_OF_MEMORY), SILENT, FoldState.OUT_OF_MEMORY),
        (attempt(AttemptEnd.NEEDS_RESUME), SILENT, FoldState.NEEDS_RESUME),
    ],
)
def test_a_fold_without_a_result_is(
    last: Attempt | None, said: JobReport, expected: FoldState
) -> None:
    assert classify(FoldFiles(REF, None, submission(), last, SCAN), said).state is expected


def test_no_answer_never_becomes_a_failure() -> None:
    for last in (
        None,
        attempt(),
        *(attempt(end) for end in (AttemptEnd.TIMEOUT, AttemptEnd.PREEMPTED)),
    ):
        found = classify(FoldFiles(REF, None, submission(), last, SCAN), SILENT)
        assert not found.is_failed
        assert check_code([found]) == 1


def test_a_result_is_done_whatever_slurm_says() -> None:
    found = FoldFiles(REF, result(), submission(), attempt(AttemptEnd.FINISHED), SCAN)
    assert classify(found, hints("NODE_FAIL")).state is FoldState.DONE
    assert classify(found, SILENT).is_done


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"stop_reason": "timeout"}, FoldState.TIMEOUT),
        ({"stop_reason": "out_of_memory"}, FoldState.OUT_OF_MEMORY),
        ({"proved": False}, FoldState.UNPROVED),
        ({"proved": False, "formula": None}, FoldState.DONE),
    ],
)
def test_a_result_says_what_it_lacks(changes: dict[str, Any], expected: FoldState) -> None:
    found = classify(FoldFiles(REF, result(**changes)), JobReport())
    assert found.state is expected
    assert check_code([found]) == 0


def test_a_resumed_fold_with_a_result_is_live_again() -> None:
    found = FoldFiles(REF, result(stop_reason="timeout"), submission(), attempt(), SCAN)
    assert classify(found, hints("RUNNING")).state is FoldState.RUNNING
    assert classify(found, hints("CANCELLED")).state is FoldState.TIMEOUT
    here = submission(kind="local", job_id=f"local/{platform.node()}/1")
    for pid, expected in ((os.getpid(), FoldState.RUNNING), (2**22 + 1, FoldState.TIMEOUT)):
        mine = attempt(host=platform.node(), pid=pid, process=identity(pid))
        again = FoldFiles(REF, result(stop_reason="timeout"), here, mine, SCAN)
        assert classified(again).state is expected


def test_what_the_user_cancelled_is_cancelled_without_sacct() -> None:
    cancelled = submission(cancelled_at=1.0)
    assert classify(FoldFiles(REF, None, cancelled, attempt(), SCAN), JobReport()).state is (
        FoldState.CANCELLED
    )


def test_a_submission_that_sbatch_never_answered_is_missing_after_a_while() -> None:
    fresh = classify(FoldFiles(REF, None, submission(job_id=None)), JobReport())
    old = classify(FoldFiles(REF, None, submission(job_id=None, submitted_at=0.0)), JobReport())
    assert (fresh.state, old.state) == (FoldState.QUEUED, FoldState.MISSING)


def test_a_local_fold_whose_process_is_gone_is_lost() -> None:
    here = submission(kind="local", job_id=f"local/{platform.node()}/1")
    dead = attempt(host=platform.node(), pid=2**22 + 1, process=identity(2**22 + 1))
    assert classified(FoldFiles(REF, None, here, dead, SCAN)).state is FoldState.LOST


def test_a_local_fold_of_another_machine_is_unknown(tmp_path: Path) -> None:
    away = submission(kind="local", job_id="local/elsewhere/1")
    ref = FoldRef(BANK, FoldPaths(tmp_path))
    attempts.save(ref.paths, attempt(host="elsewhere"))
    found = classified(FoldFiles(ref, None, away, attempt(host="elsewhere"), SCAN))
    assert found.state is FoldState.UNKNOWN


@pytest.mark.parametrize(("age_s", "expected"), [(60, FoldState.RUNNING), (7200, FoldState.LOST)])
def test_a_fold_of_another_machine_is_lost_without_a_sign_of_life(
    tmp_path: Path, age_s: float, expected: FoldState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "CONFIRM_S", 0.0)
    ref = FoldRef(BANK, FoldPaths(tmp_path))
    away = submission(kind="local", job_id="local/elsewhere/1")
    last = attempt(host="elsewhere", process=ELSEWHERE)
    attempts.save(ref.paths, last)
    os.utime(ref.paths.attempt, (time.time() - age_s,) * 2)
    assert classified(FoldFiles(ref, None, away, last, SCAN)).state is expected


@pytest.mark.parametrize(("is_same", "expected"), [(True, "running"), (False, "lost")])
def test_a_process_that_began_later_is_another_one(is_same: bool, expected: str) -> None:
    """The id of a process that is gone is given to a new one, after a restart for instance."""
    process = identity(os.getpid()) if is_same else reused(os.getpid())
    here = submission(kind="local", job_id=f"local/{platform.node()}/{os.getpid()}")
    last = attempt(host=platform.node(), pid=os.getpid(), process=process)
    assert classified(FoldFiles(REF, None, here, last, SCAN)).state.value == expected
    waiting = replace(here, process=process)
    state = classified(FoldFiles(REF, None, waiting, None, SCAN)).state
    assert state is (FoldState.QUEUED if is_same else FoldState.PARTIAL)


def test_nothing_on_disk_is_missing_and_a_bare_scan_is_partial() -> None:
    assert classify(FoldFiles(REF), JobReport()).state is FoldState.MISSING
    assert classify(FoldFiles(REF, scan=SCAN), JobReport()).reason == "resumes at length 4"


def test_check_tells_done_open_and_failed_apart() -> None:
    done = classify(FoldFiles(REF, result()), JobReport())
    open_ = classify(FoldFiles(REF), JobReport())
    failed = classify(FoldFiles(REF, None, submission(), attempt(AttemptEnd.ERROR)), JobReport())
    assert check_code([done]) == 0
    assert check_code([done, open_]) == 1
    assert check_code([done, open_, failed]) == 2


def test_lost_attempts_are_counted_and_ordinary_time_outs_are_not() -> None:
    def entry(end: AttemptEnd | None, progress_s: float, token: str = "t") -> dict[str, Any]:
        return {"token": token, "end": end.value if end else None, "progress_s": progress_s}

    def retries(found: Attempt) -> int:
        return attempts.lost(found) + attempts.stuck(found)

    worked = (entry(AttemptEnd.TIMEOUT, 60.0), entry(AttemptEnd.TIMEOUT, 120.0))
    assert retries(attempt(earlier=worked)) == 0
    assert retries(attempt(earlier=(*worked, entry(None, 0.0)))) == 1
    assert retries(attempt(earlier=(*worked, entry(AttemptEnd.PREEMPTED, 130.0)))) == 1
    assert retries(attempt(earlier=(*worked, entry(AttemptEnd.TIMEOUT, 120.0)))) == 1
    assert retries(attempt(earlier=(entry(None, 0.0, token="older"),))) == 0


def test_a_fold_that_runs_tells_how_far_it_is() -> None:
    rows = tuple({"length": n, "formula": "a" if n < 2 else "b"} for n in range(1, 5))
    scan = replace(SCAN, progress=0.25, left_s=600.0, scan_s=1800.0, lengths=rows)
    sent = replace(submission(), config={"scan": {"budget_h": 2.0}})
    one = classify(FoldFiles(REF, submission=sent, attempt=attempt(), scan=scan), hints("RUNNING"))
    assert "25 % searched, 3 min to 30 min left" in one.reason
    assert "unchanged since length 2" in one.reason
    assert "1.5 h of its budget left" in one.reason
    told = to_dict(one)
    assert (told["progress"], told["left_s"], told["unchanged_since"]) == (0.25, 600.0, 2)


def test_a_long_table_ends_with_the_number_of_the_other_rows() -> None:
    rows = [("bank", "pivot", f"seed={number}", "done") for number in range(620)]
    console = Console(record=True, width=100)
    console.print(columns.table(("state",), rows))
    words = console.export_text().split()
    assert sum(word.startswith("seed=") for word in words) == columns.LONGEST_TABLE == 500
    assert " ".join(words).endswith("and 120 more rows; dataset=... or method=... selects folds")
