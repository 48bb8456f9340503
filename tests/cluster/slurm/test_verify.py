"""Claims of a study checked by jobs on a real SLURM."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.site import ROOT, Site

pytestmark = pytest.mark.slurm
STUDY = Path("results", "paper")
SHORT = ("heart_disease/median/fold-0", "heart_disease/median/fold-1", "hepatitis/pivot/fold-0")
LONG = "breast_cancer/median/fold-5"  # takes the checker ten seconds
VERIFY = ("verify", "study=paper", "cluster=slurm", "-m")


def put(site: Site, *folds: str) -> None:
    """Folds of the kept study, about which no checker has said anything."""
    nothing = shutil.ignore_patterns("verification.json")
    for fold in folds:
        shutil.copytree(ROOT / STUDY / fold, site.folder / STUDY / fold, ignore=nothing)


def wait_until(site: Site, is_so: Callable[[], bool], limit_s: float = 180) -> None:
    deadline = time.monotonic() + limit_s
    while not is_so():
        assert time.monotonic() < deadline, site.logs()
        time.sleep(0.1)


def outcome(site: Site, fold: str) -> str:
    path = site.folder / STUDY / fold / "verification.json"
    wait_until(site, path.exists)
    return str(json.loads(path.read_text())["outcome"])


def test_jobs_share_the_claims_of_a_study(site: Site) -> None:
    put(site, *SHORT)
    told = site.fsm(*VERIFY, "cluster.max_parallel=2")
    assert "2 jobs for 3 claims" in told
    assert [outcome(site, fold) for fold in SHORT] == ["verified"] * 3
    wait_until(site, lambda: not site.shell("squeue", "--noheader").stdout)
    for fold in SHORT:
        assert site.logs().count(f"{fold}: verified") == 1, site.logs()
    assert site.fsm(*VERIFY).strip() == "3 verified"


def test_the_claim_of_a_killed_job_is_checked_by_the_next_one(site: Site) -> None:
    put(site, LONG, SHORT[0])
    site.fsm(*VERIFY, "cluster.max_parallel=1", "cluster.options={no-requeue: true}")
    wait_until(site, (site.folder / STUDY / LONG / ".lock").exists)
    site.shell("scancel", "--signal=KILL", "--full", "--user", str(os.getuid()))
    assert outcome(site, SHORT[0]) == "verified"
    assert not (site.folder / STUDY / LONG / "verification.json").exists()
    assert "1 job for 1 claim" in site.fsm(*VERIFY)
    assert outcome(site, LONG) == "verified"
