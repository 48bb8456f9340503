"""What a cluster does to jobs, quickly: nothing is lost, and `status` says what happened."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from pathlib import Path

import pytest

from fsm_hpc.cluster import arrays, attempts
from fsm_hpc.study.files import FoldPaths
from slurm import daemons
from tests.support.site import LONG, SHORT, SMALL, Answers, Site

pytestmark = pytest.mark.slurm
PYTHON = Path(sys.executable).name
SUBMITIT = "submitit.core._submit"  # the module that a job runs


def test_a_signalled_job_saves_requeues_and_ends_as_if_never_interrupted(
    site: Site, uninterrupted: Answers
) -> None:
    site.fsm(*LONG, "-m")
    running = site.wait_for_length(5)
    site.shell("scancel", "--signal=USR2", running["job_id"])
    requeued = site.wait_for("queued")[0]
    assert requeued["reason"].startswith("requeued after preempted, resumes at length")
    site.wait_for_restart()
    site.finish(uninterrupted)
    assert site.file("result.json")["provenance"]["requeues"] == 2


def test_a_signal_before_the_job_is_ready_is_kept(site: Site) -> None:
    site.fsm(*LONG, "-m")
    job_id = site.wait(lambda states: states[0]["state"] == "running")[0]["job_id"]
    _wait_until_signals_are_held_back(site)
    site.shell("scancel", "--signal=USR2", job_id)
    requeued = site.wait_for("queued")[0]
    assert requeued["reason"].startswith("requeued after preempted")


def test_without_sacct_states_are_still_told(site: Site, tmp_path: Path) -> None:
    fake = tmp_path / "bin"
    fake.mkdir()
    (fake / "sacct").write_text("#!/bin/sh\nexit 1\n")
    (fake / "sacct").chmod(0o755)
    blind = Site(site.settings, tmp_path, fake)
    blind.fsm(*LONG, "-m", "cluster.options={mem: 120M}")
    blind.wait_for("out of memory")
    blind.fsm("resume", "cluster.options.mem=2G", "scan.max_length=3", "--wait")
    assert blind.state()["done"]


def test_with_slurmctld_away_nothing_fails_and_the_job_goes_on(site: Site) -> None:
    site.fsm(*LONG, "-m", SHORT)
    site.wait_for_length(3)
    daemons.end(daemons.pids(site.settings, "slurmctld"), signal.SIGTERM, 20)
    try:
        told = site.fsm("status")
        assert "did not answer" in told or "1 done" in told
        assert not site.state()["failed"]
        again = site.fsm(*LONG, "-m", SHORT)
        assert "0 submitted, 1 skipped" in again
    finally:
        daemons.start_slurmctld(site.settings)
    site.wait_for("done")


def test_a_superseded_attempt_stops_and_writes_nothing_more(site: Site) -> None:
    site.fsm(*LONG, "-m")
    running = site.wait_for_length(4)
    paths = FoldPaths(site.folder / running["folder"])
    submission = arrays.last_submission(paths)
    assert submission is not None
    attempts.claim(paths, submission)  # as a copy on another node would
    before = paths.scan.read_text()
    _wait_for_log(paths, "another attempt has taken over this fold")
    assert paths.scan.read_text() == before


def _wait_for_log(paths: FoldPaths, words: str, limit_s: float = 30) -> None:
    deadline = time.monotonic() + limit_s
    while words not in paths.log.read_text():
        assert time.monotonic() < deadline, paths.log.read_text()
        time.sleep(0.2)


def _wait_until_signals_are_held_back(site: Site) -> None:
    """The job's Python has begun, and is not ready for signals."""
    deadline = time.monotonic() + 30
    while not any(_blocks_usr2(pid) for pid in daemons.pids(site.settings, PYTHON, SUBMITIT)):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _blocks_usr2(pid: int) -> bool:
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        blocked = next(line.split()[1] for line in lines if line.startswith("SigBlk"))
        return bool(int(blocked, 16) >> (signal.SIGUSR2 - 1) & 1)
    return False


def test_a_spent_budget_falls_back_and_a_larger_one_goes_on_to_the_end(site: Site) -> None:
    words = ("dataset=hepatitis", "method=pivot", "fold=1", *SMALL)
    site.fsm(*words, "-m", "--wait", "scan.budget_h=0.00003")
    short = site.file("result.json", "hepatitis/pivot/fold-1")
    assert short["stop_reason"] == "timeout"
    assert short["formula"]
    assert short["proved"]
    assert site.state()["state"] == "timeout"
    assert "0 submitted, 1 skipped" in site.fsm("resume")
    site.fsm("resume", "scan.budget_h=1", "--wait")
    whole = site.file("result.json", "hepatitis/pivot/fold-1")
    assert whole["stop_reason"] == "plateau"
    assert whole["seconds"]["scan"] > short["seconds"]["scan"]
