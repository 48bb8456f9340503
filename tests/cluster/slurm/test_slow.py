"""Time limits, dying nodes and preemption on a real SLURM; `make test-full`."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from slurm import daemons
from slurm.settings import Settings
from tests.support.site import LONG, SHORT, Answers, Site

pytestmark = [pytest.mark.slurm, pytest.mark.slow]
MAYBE = ("unknown", "running", "queued", "done")  # sacct may answer where squeue does not


def test_a_time_limit_in_the_middle_of_a_length_requeues_and_resumes(
    site: Site, uninterrupted: Answers
) -> None:
    site.fsm(*LONG, "-m", "cluster.timeout_h=0.0167", "cluster.signal_delay_s=25")
    site.wait(lambda _: site.restarts() >= 1, 240)
    first = site.file("attempt.json")["earlier"][0]
    assert first["end"] == "timeout"
    assert first["progress_s"] > 5
    site.wait_for_length(5, 120)
    site.finish(uninterrupted)


def test_a_node_set_down_loses_nothing(
    site: Site, all_nodes: Settings, uninterrupted: Answers
) -> None:
    site.fsm(*LONG, "-m")
    node = _node_of(site, site.wait_for_length(5)["job_id"])
    _scontrol(all_nodes, "update", f"NodeName={node}", "State=DOWN", "Reason=test")
    site.wait_for_restart()
    site.finish(uninterrupted)


def test_a_dead_slurmd_leaves_two_copies_and_the_older_one_gives_way(
    site: Site, all_nodes: Settings, uninterrupted: Answers
) -> None:
    site.fsm(*LONG, "-m")
    node = _node_of(site, site.wait_for_length(5)["job_id"])
    daemons.end(daemons.pids(all_nodes, "slurmd", "-N", node), signal.SIGKILL, 5)
    site.wait_for_restart()
    _wait_for_log(site, "another attempt has taken over this fold")
    site.finish(uninterrupted)


def test_a_preempted_job_comes_back(site: Site, uninterrupted: Answers) -> None:
    site.fsm(*LONG, "-m", "cluster.partition=scavenge")
    site.wait_for_length(5)
    urgent = ["-p", "main", "-N", "3", "--exclusive", "-t", "1", "--mem=1G", "-o", "/dev/null"]
    done = site.shell("sbatch", *urgent, "--wrap", "srun sleep 5")
    assert done.returncode == 0, done.stderr
    site.wait_for_restart()
    assert site.file("attempt.json")["earlier"][0]["end"] == "preempted"
    site.finish(uninterrupted)


def test_an_operators_requeue_resumes(site: Site, uninterrupted: Answers) -> None:
    site.fsm(*LONG, "-m")
    job_id = site.wait_for_length(5)["job_id"]
    _scontrol(site.settings, "requeue", job_id)
    site.wait_for_restart()
    site.finish(uninterrupted)


def test_a_job_signalled_while_slurmctld_is_away_requeues_when_it_is_back(
    site: Site, uninterrupted: Answers
) -> None:
    site.fsm(*LONG, "-m")
    site.wait_for_length(5)
    pid = site.file("attempt.json")["pid"]
    daemons.end(daemons.pids(site.settings, "slurmctld"), signal.SIGTERM, 20)
    try:
        daemons.end([pid], signal.SIGUSR2, 0)
        _wait_for_log(site, "SLURM did not requeue the job; trying again", 90)
        assert site.state()["state"] in MAYBE
    finally:
        daemons.start_slurmctld(site.settings)
    site.wait_for_restart()
    site.finish(uninterrupted)


def test_slurmctld_away_for_a_minute_changes_nothing(site: Site, uninterrupted: Answers) -> None:
    site.fsm(*LONG, "-m", SHORT)
    site.wait_for_length(3)
    daemons.end(daemons.pids(site.settings, "slurmctld"), signal.SIGTERM, 20)
    away_until = time.monotonic() + 60
    try:
        while time.monotonic() < away_until:
            assert site.state()["state"] in MAYBE
    finally:
        daemons.start_slurmctld(site.settings)
    site.wait_for("done", 240)
    assert site.answers() == uninterrupted


def test_a_fold_gives_up_after_too_many_lost_attempts(site: Site) -> None:
    site.fsm(*LONG, "-m", "cluster.max_retries=0")
    job_id = site.wait_for_length(3)["job_id"]
    _scontrol(site.settings, "requeue", job_id)
    failed = site.wait_for("failed")[0]
    assert failed["reason"].startswith("gave up after 1 lost attempts")


def test_memory_that_runs_out_falls_back_and_more_goes_on(site: Site) -> None:
    site.fsm(*LONG, "-m", SHORT, "cluster.memory_share=0.02")  # of 2 GB: less than clingo needs
    short = site.wait_for("out of memory", 200)[0]
    assert short["done"]
    assert site.file("result.json")["stop_reason"] == "out_of_memory"
    site.fsm("resume", "cluster.mem_gb=100", "--wait", limit_s=300)
    assert site.state()["state"] == "done"
    assert site.file("result.json")["stop_reason"] == "max_length"


# ------------------------------------------------------------------------------------------------


def _wait_for_log(site: Site, words: str, limit_s: float = 60) -> None:
    deadline = time.monotonic() + limit_s
    while words not in site.logs():
        assert time.monotonic() < deadline, site.logs()
        time.sleep(0.5)


def _node_of(site: Site, job_id: str) -> str:
    return site.shell("squeue", "-h", "-j", job_id, "-o", "%N").stdout.strip()


def _scontrol(settings: Settings, *words: str) -> None:
    Site(settings, Path.cwd()).shell("scontrol", *words)
