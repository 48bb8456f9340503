"""A reason that a job left in its log, or in its output, reaches `status` with the right state."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import replace
from pathlib import Path

import pytest

from fsm_hpc.cluster import attempts, submissions
from fsm_hpc.cluster.attempts import Attempt
from fsm_hpc.cluster.schedulers import slurm_commands
from fsm_hpc.cluster.schedulers.base import JobReport
from fsm_hpc.cluster.watch import fold_files, job_output
from fsm_hpc.cluster.watch.fold_files import FoldRef
from fsm_hpc.cluster.watch.states import FoldState, FoldStatus, classify, job_reports, report_on
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.study.fold_id import FoldId
from tests.support.process_identities import identity
from tests.support.submissions import submission

FOLD = FoldId("bank", "pivot", 1)
NOW = "2026-01-01 10:00:00"
NO_PROCESS = 2**31 - 2  # an id that no process has
GONE = identity(NO_PROCESS)
TRACEBACK = 'Traceback (most recent call last):\n  File "x.py", line 3, in f\n    f()\n'
# what a job wrote, a part of the reason, and the state
WRITTEN = [
    (f"{TRACEBACK}OSError: [Errno 28] No space left on device: 'scan.json'", "No space", "failed"),
    (f"{TRACEBACK}OSError: [Errno 122] Disk quota exceeded: 'log.txt'", "quota", "failed"),
    (f"{TRACEBACK}PermissionError: [Errno 13] Permission denied: 'x'", "Permission", "failed"),
    (f"{TRACEBACK}ModuleNotFoundError: No module named 'numba'", "No module", "failed"),
    (f"{TRACEBACK}zipfile.BadZipFile: no zip file", "no zip file", "failed"),
    ("slurm_script: line 9: /no/python: No such file or directory", "/no/python", "failed"),
    ("env: /x/python: /lib/ld: bad interpreter: No such file", "bad interpreter", "failed"),
    ("python: error while loading shared libraries: libx.so", "libx.so", "failed"),
    ("slurm_script: line 9: 12 Illegal instruction (core dumped) python", "Illegal", "failed"),
    (f"{TRACEBACK}MemoryError: Unable to allocate 9 GiB", "9 GiB", "out of memory"),
    (f"{TRACEBACK}OSError: [Errno 12] Cannot allocate memory", "allocate", "out of memory"),
    ("all is well", "", "lost"),
    (f"Exception ignored in: <function f>\n{TRACEBACK}TypeError: late", "", "lost"),
]


KILLED = "slurmstepd: error: *** JOB 17 ON n1 CANCELLED AT 10:00 DUE TO TIME LIMIT ***"
TIME_LIMIT = (KILLED, "TIME", "lost")


@pytest.fixture
def paths(tmp_path: Path) -> FoldPaths:
    return StudyPaths(tmp_path / "s").fold(FOLD)


def begin(paths: FoldPaths, kind: str) -> Attempt:
    """An attempt whose process is gone, and that recorded no end."""
    job_id = "17_1" if kind == "slurm" else f"local/{platform.node()}/{NO_PROCESS}"
    attempt = Attempt("t", job_id, 0, platform.node(), NO_PROCESS, time.time(), process=GONE)
    attempts.save(paths, attempt)
    return attempt


def seen(paths: FoldPaths, word: str = "") -> FoldStatus:
    """The state where a scheduler is asked, and SLURM would say that word."""
    found = fold_files.read_all([FoldRef(FOLD, paths)])[0]
    if found.submission is not None and found.submission.kind == "local":
        return classify(found, report_on(found, job_reports([found])))
    assert found.job_id is not None
    return classify(found, JobReport({found.job_id: slurm_commands.status(word)} if word else {}))


@pytest.mark.parametrize(("written", "reason", "state"), WRITTEN)
def test_what_a_local_fold_wrote_before_it_died_is_its_reason(
    paths: FoldPaths, written: str, reason: str, state: str
) -> None:
    submissions.save(paths, submission(of=FOLD))
    begin(paths, "local")
    paths.log.write_text(f"{NOW} local/{platform.node()}/{NO_PROCESS}.0 starts: bank\n{written}\n")
    one = seen(paths)
    assert (one.state, reason in one.reason) == (FoldState(state), True)


@pytest.mark.parametrize(("written", "reason", "state"), [*WRITTEN, TIME_LIMIT])
@pytest.mark.parametrize("has_begun", [False, True])
def test_what_a_job_wrote_into_its_output_is_its_reason(
    paths: FoldPaths, tmp_path: Path, written: str, reason: str, state: str, has_begun: bool
) -> None:
    submissions.save(paths, submission("slurm", of=FOLD, output=str(tmp_path)))
    if has_begun:
        begin(paths, "slurm")
    (tmp_path / "17_1_0_log.out").write_text(f"{written}\n")
    one = seen(paths, "" if state == "lost" else "FAILED")
    assert (one.state, reason in one.reason) == (FoldState(state), True)


@pytest.mark.parametrize("letters", [3, 12, 19, 24, -1])
def test_a_line_of_the_log_that_a_full_disk_cut_off_is_not_the_reason(
    paths: FoldPaths, letters: int
) -> None:
    submissions.save(paths, submission(of=FOLD))
    before = f"{NOW} {begin(paths, 'local').job_id}.0 "
    full = f"{TRACEBACK}OSError: [Errno 28] No space left on device\n{TRACEBACK}"
    logged = "".join(f"{before}{line}\n" for line in full.splitlines())
    paths.log.write_text(logged + before[:letters])
    one = seen(paths)
    assert one.state is FoldState.FAILED
    assert one.reason == "OSError: [Errno 28] No space left on device"


@pytest.mark.parametrize("has_begun", [False, True])
def test_a_disk_too_full_for_any_reason_is_named(
    paths: FoldPaths, has_begun: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = f"local/{platform.node()}/{NO_PROCESS}"
    submissions.save(paths, submission(of=FOLD, job_id=job_id, process=GONE))
    if has_begun:
        begin(paths, "local")
    paths.log.touch()
    assert "no space" not in seen(paths).reason
    monkeypatch.setattr(job_output, "LEAST_FREE_BYTES", 2**100)  # more than any disk has
    assert f"no space is left on the disk of {paths.folder}" in seen(paths).reason


def test_a_local_fold_that_died_before_it_began_has_failed(paths: FoldPaths) -> None:
    job_id = f"local/{platform.node()}/{NO_PROCESS}"
    submissions.save(paths, submission(of=FOLD, job_id=job_id, process=GONE))
    paths.log.write_text(f"{TRACEBACK}ImportError: cannot import name 'x'\n")
    one = seen(paths)
    assert (one.state, one.reason) == (FoldState.FAILED, "ImportError: cannot import name 'x'")


def test_the_error_of_an_earlier_attempt_is_not_the_reason_of_the_last(paths: FoldPaths) -> None:
    submissions.save(paths, submission(of=FOLD))
    attempt = begin(paths, "local")
    attempts.save(paths, replace(attempt, restart=1))
    before, after = (f"{NOW} {attempt.job_id}.{n}" for n in (0, 1))
    paths.log.write_text(f"{before} starts\n{TRACEBACK}ValueError: old\n{after} starts\n")
    assert seen(paths).state is FoldState.LOST


def test_a_log_older_than_the_submission_is_not_its_reason(paths: FoldPaths) -> None:
    paths.folder.mkdir(parents=True)
    paths.log.write_text(f"{TRACEBACK}ValueError: old\n")
    os.utime(paths.log, (1, 1))
    job_id = f"local/{platform.node()}/{NO_PROCESS}"
    submissions.save(paths, submission(of=FOLD, job_id=job_id, process=GONE))
    assert seen(paths).state is FoldState.MISSING
