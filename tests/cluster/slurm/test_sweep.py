"""Sweeps on a real SLURM: submitted, seen, and equal to a run without it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from slurm import trial
from slurm.settings import Settings
from tests.support.site import LONG, SMALL, Site

pytestmark = pytest.mark.slurm
TEN = ("dataset=hepatitis", "method=median", "scan.max_length=3", *SMALL)


def test_ten_folds_run_detached_and_equal_a_local_run(site: Site, tmp_path: Path) -> None:
    told = site.fsm(*TEN, "-m")
    assert "10 submitted, 0 skipped" in told
    seen = json.loads(site.fsm("status", "--json"))
    assert {s["state"] for s in seen} <= {"queued", "running", "done"}
    site.wait_for("done")
    assert site.fsm("status", "--check", *TEN)
    here = Site(site.settings, tmp_path / "here")
    here.folder.mkdir()
    here.fsm(*TEN, "cluster=local", "-m")
    assert len(site.answers()) == 10
    assert here.answers() == site.answers()


def test_a_rule_is_fitted_as_one_job(site: Site) -> None:
    words = ("dataset=hepatitis", "method=median", "scan.max_length=2", "fit.folds=2", *SMALL)
    assert "status -w out=" in site.fsm("fit", *words, "out=rule", "-m")
    model = site.folder / "rule" / "model.json"
    deadline = time.monotonic() + 180
    while not model.exists():
        assert time.monotonic() < deadline, site.logs()
        time.sleep(0.3)
    made = json.loads(model.read_text())
    assert made["proved"]
    assert made["figures"]["folds"] == 2
    assert not made["provenance"]["job_ids"][0].startswith("local")


def test_the_same_command_submits_only_what_is_missing(site: Site) -> None:
    words = ("dataset=hepatitis", "method=median", "scan.max_length=1", *SMALL)
    site.fsm(*words, "fold=0,1", "-m", "--wait")
    told = site.fsm(*words, "fold=0,1,2", "-m")
    assert "1 submitted, 2 skipped" in told
    assert "done: max length" in told
    plan = site.fsm("plan", *words, "fold=0", "scan.max_length=2")
    assert "scan.max_length=2" in plan


def test_cancelled_folds_go_on_where_they_were(site: Site) -> None:
    site.fsm(*LONG, "-m")
    site.wait_for_length(4)
    assert "would be cancelled" in site.fsm("cancel")
    assert site.state()["state"] == "running"
    site.fsm("cancel", "-y")
    gone = site.wait_for("cancelled")[0]
    assert "resumes at length" in gone["reason"]
    site.fsm("status", "--check", code=2)
    site.fsm("resume", "scan.max_length=3", "--wait")
    assert site.state()["done"]
    assert len(site.file("result.json")["provenance"]["job_ids"]) == 2


def test_arrays_are_split_at_the_limit_of_the_site(tmp_path: Path, cluster: Settings) -> None:
    small = trial.up(cluster.folder / "small", nodes=1, max_array_size=4)
    try:
        site = Site(small, tmp_path)
        told = site.fsm(*TEN, "-m", "cluster.max_parallel=3")
        assert "10 submitted" in told
        assert told.count("1 at a time") == 3
        site.fsm("cancel", "-y")
    finally:
        trial.down(small.folder)


def test_a_job_that_waits_says_what_for(site: Site) -> None:
    site.fsm(*LONG, "-m", "cluster.options={hold: true}")
    assert site.state()["state"] == "queued"
    assert site.state()["reason"].startswith("JobHeldUser; held")
    site.fsm("status", "--check", code=1)


def test_a_job_that_cannot_start_is_failed_and_its_log_tells_why(site: Site) -> None:
    site.fsm(*LONG, "-m", "cluster.setup=[no_such_command || exit 7]")
    site.wait_for("failed")
    assert "no_such_command" in site.fsm("logs")


def test_what_sbatch_refuses_is_one_line(site: Site) -> None:
    told = site.fsm(*LONG, "-m", "cluster.partition=nowhere", code=2)
    assert "invalid partition specified: nowhere" in told
    assert "Traceback" not in told
    assert site.fsm("plan", *LONG).count("to submit") == 1


def test_a_table_that_is_gone_when_the_job_starts_is_bad_input(site: Site) -> None:
    table = site.folder / "own.csv"
    table.write_text("a,b,label\n" + "1,2,yes\n3,4,no\n5,1,yes\n2,2,no\n" * 10)
    words = ("dataset=csv", "dataset.path=own.csv", "dataset.target=label", "method=median")
    site.fsm(*words, *SMALL, "fold=0", "-m", "cluster.options={hold: true}")
    table.unlink()
    site.shell("scontrol", "release", site.state()["job_id"])
    failed = site.wait_for("failed")[0]
    assert failed["reason"].startswith("bad input:")
    assert "own.csv" in failed["reason"]


def test_queued_jobs_keep_their_config_and_tell_of_changed_code(site: Site) -> None:
    site.fsm(*LONG, "scan.max_length=2", "-m", "cluster.options={hold: true}")
    (array,) = (site.folder / "results").rglob("array.json")
    then = json.loads(array.read_text())["first"]["code"]["digest"]
    # as if it had been submitted by other code
    array.write_text(array.read_text().replace(then, "0" * len(then)))
    site.shell("scontrol", "release", site.state()["job_id"])
    done = site.wait_for("done")[0]
    assert "the code has changed since this job was submitted" in done["warnings"][0]
    assert site.file("result.json")["settings"]["max_length"] == 2


def test_ctrl_c_while_waiting_leaves_the_jobs_running(site: Site) -> None:
    waiting = subprocess.Popen(
        [sys.executable, "-m", "fsm_hpc", *LONG, "-m", "--wait"],
        cwd=site.folder,
        env=site.environment,
        stdout=subprocess.PIPE,
        text=True,
        # what runs in the background of a script is born deaf to Ctrl-C; a person's shell is not
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    site.wait_for_length(3)
    waiting.send_signal(signal.SIGINT)
    told, _ = waiting.communicate(timeout=30)
    assert "the display has ended; the jobs continue" in told
    assert waiting.returncode == 1
    assert site.state()["state"] == "running"


def test_a_working_site_passes_the_doctor(site: Site) -> None:
    found = json.loads(site.stdout("doctor", "--json", *SMALL))
    grades = {finding["check"]: finding["grade"] for finding in found}
    for check in (
        "slurmctld",
        "sacct",
        "partition",
        "submit",
        "cores",
        "requeue",
        "solver",
        "signal",
    ):
        assert grades[check] == "ok", found


def test_the_doctor_names_what_the_site_cannot_give(site: Site) -> None:
    told = site.fsm("doctor", "cluster.cpus=99", code=1)
    assert "cores: 99 requested, at most 16 available" in told


def test_350_jobs_are_one_command_and_leave_no_process_behind(site: Site) -> None:
    methods = "method=median,pivot,interval,random_forest,xgboost"
    words = ("dataset=hepatitis", methods, "folds=70", "cluster.options={hold: true}")
    assert "350 submitted, 0 skipped" in site.fsm(*words, *SMALL, "-m")
    assert site.processes() == []
    assert len(site.states()) == 350
    site.fsm("cancel", "-y")
    assert {s["state"] for s in site.states()} == {"cancelled"}
