"""What a real site does to jobs: no environment, failing lines, a pause, dead daemons."""

from __future__ import annotations

import json
import re
import signal
import time
from pathlib import Path

import pytest

from slurm import daemons, trial
from slurm.settings import Settings
from tests.support.site import LONG, SMALL, Site

pytestmark = pytest.mark.slurm
ONE = ("dataset=hepatitis", "method=median", "fold=0", "scan.max_length=1", *SMALL)


def test_a_site_that_hands_on_no_environment(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SBATCH_EXPORT", "NONE")
    site.fsm(*ONE, "-m")
    site.wait_for("done")


def test_a_failing_setup_line_is_told(site: Site) -> None:
    site.fsm(*ONE, "-m", "cluster.setup=[module_of_mine load python]")
    (failed,) = site.wait_for("failed")
    assert failed["reason"] == "a setup line failed with 127: module_of_mine load python"


def test_a_time_limit_without_time_to_work_is_refused(site: Site) -> None:
    told = site.fsm(*ONE, "-m", "cluster.timeout_h=0.02", code=2)
    assert "leaves no time to work" in told
    assert "time limit" in site.fsm("doctor", *SMALL, "cluster.timeout_h=0.02", code=1)


def test_a_mistake_in_resume_takes_nothing_away(site: Site) -> None:
    site.fsm(*ONE, "-m", "cluster.options={hold: true}")
    site.fsm("cancel", "-y")
    before = site.state()
    assert before["state"] == "cancelled"
    slip = ("cluster.options=null", "cluster.partition=nope")
    assert "SLURM refused 1 job:" in site.fsm("resume", *slip, code=2)
    assert site.state() == before
    site.fsm("resume", "cluster.options=null", "--wait")
    assert site.state()["done"]


def test_a_pause_is_not_charged(site: Site) -> None:
    site.fsm(*LONG, "-m")
    job_id = site.wait_for_length(4)["job_id"]
    assert site.shell("scontrol", "suspend", job_id).returncode == 0
    time.sleep(20)
    resumed, deadline = time.time(), time.monotonic() + 60
    assert site.shell("scontrol", "resume", job_id).returncode == 0
    began = site.file("attempt.json")["started_at"]
    path = site.folder / "results/default/heart_disease/median/fold-1/scan.json"
    while path.stat().st_mtime < resumed:  # a file written before the pause may appear after it
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert json.loads(path.read_text())["scan_s"] < path.stat().st_mtime - began - 15


def test_a_job_collects_and_tells_when_the_sweep_is_through(site: Site) -> None:
    words = ("--after", "collect,report", "--notify", "echo over $FSM_STUDY > told.txt")
    told = site.fsm(*ONE[:2], "fold=0,1", *ONE[3:], *words, "-m")
    assert "runs after them: collect, then report, then notify" in told
    page = site.folder / "results/default/report.html"
    deadline = time.monotonic() + 120
    while not (site.folder / "told.txt").exists():
        assert time.monotonic() < deadline, site.fsm("status")
        time.sleep(0.5)
    assert (site.folder / "told.txt").read_text() == "over default\n"
    assert page.exists()
    folds = (site.folder / "results/default/folds.csv").read_text().splitlines()
    assert [line.split(",")[3] for line in folds[1:3]] == ["done", "done"]
    while not (hours := re.search(r"core-hours: (\S+) used of (\S+) alloc", site.fsm("status"))):
        assert time.monotonic() < deadline, "SLURM counts some time after a job's end"
        time.sleep(0.5)
    used, allocated = map(float, hours.groups())
    assert 0 < used <= allocated < 0.1
    assert "expected" in site.fsm("plan", *ONE[:2], "fold=range(0,4)", *ONE[3:])


def test_a_cluster_whose_daemons_died_is_started_anew(cluster: Settings) -> None:
    folder = cluster.folder / "unclean"
    first = trial.up(folder, nodes=1)
    try:
        daemons.end(daemons.pids(first, "slurmctld"), signal.SIGKILL, 5)
        daemons.end(daemons.pids(first, "slurmd"), signal.SIGKILL, 5)
        again = trial.up(folder, nodes=1)
        assert daemons.answers(again)
        assert trial.up(folder, nodes=1) == again
    finally:
        trial.down(folder)
    assert not Path(folder).exists()
