"""Several folds in one job of a real SLURM: fewer jobs, the same answers, nothing lost."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.cluster import arrays
from fsm_hpc.cluster.schedulers import slurm_commands
from fsm_hpc.study import variants
from fsm_hpc.study.compose import expand
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.run import run_fold
from slurm.settings import Settings
from tests.support.site import Site

pytestmark = pytest.mark.slurm
SHORT = ("dataset=hepatitis", "solver=native", "scan.max_length=6")
PACKED = (*SHORT, "cluster.folds_per_job=auto", "-m", "--wait")
# 30 folds in one job, each with some seconds of search
MINUTES = (
    *("dataset=heart_disease", "method=pivot", "solver=native", "scan.max_length=9"),
    *("seed=1,2,3", "scan.plateau=null", "scan.patience=99"),
)
# 20 folds that together take longer than a time limit, which SLURM rounds up to two minutes
OVER_LIMIT = (*MINUTES, "scan.max_length=10", "seed=1,2")
ONE_JOB = ("cluster.cpus=1", "cluster.mem_gb=2", "cluster.folds_per_job=30", "-m")


def result(path: Path) -> dict[str, Any]:
    """result.json without times, hosts and jobs."""
    done: dict[str, Any] = json.loads(path.read_text())
    for name in ("seconds", "processor_s", "provenance", "peak_rss_mb"):
        done.pop(name, None)
    for entry in done["lengths"]:
        entry.pop("seconds", None)
    return done


def results(site: Site, study: str) -> dict[str, Any]:
    root = site.folder / "results" / study
    return {str(p.parent.relative_to(root)): result(p) for p in sorted(root.rglob("result.json"))}


def run_unpacked(site: Site, overrides: Iterable[str]) -> dict[str, Any]:
    """The results of a sweep whose folds run one after the other in this process, without jobs."""
    place = (f"results_dir={site.folder / 'results'}", "study=unpacked", "solver.threads=1")
    for config in variants.assign_variants(expand([*overrides, *place])):
        assert run_fold(config) is not None
    return results(site, "unpacked")


def requeues(site: Site) -> list[int]:
    """How often each finished fold had been requeued."""
    paths = (site.folder / "results" / "default").rglob("result.json")
    return [json.loads(path.read_text())["provenance"]["requeues"] for path in paths]


def job_ids(site: Site, study: str) -> set[str]:
    found = arrays.records(StudyPaths(site.folder / "results" / study)).submissions.values()
    return {submission.job_id for submission in found if submission.job_id}


def processor_seconds(site: Site, jobs: set[str], monkeypatch: pytest.MonkeyPatch) -> float:
    for name, value in site.environment.items():
        monkeypatch.setenv(name, value)
    deadline = time.monotonic() + 60
    while True:  # the accounts lag behind
        used = slurm_commands.usage(jobs)
        assert used is not None
        if all(seconds for _, seconds in used.values()) or time.monotonic() > deadline:
            return sum(seconds for _, seconds in used.values())
        time.sleep(1)


def test_short_folds_share_a_job_and_give_the_answers_that_they_give_alone(site: Site) -> None:
    words = ("method=median,pivot", "fold=0,1,2")
    site.fsm(*PACKED, *words, "study=packed", limit_s=300)
    site.fsm(*SHORT, *words, "study=alone", "cluster=local", "-m", limit_s=300)
    assert len(job_ids(site, "packed")) == 1
    assert len(results(site, "packed")) == 6
    assert results(site, "packed") == results(site, "alone")


def test_a_job_for_many_folds_asks_for_what_they_keep_busy(site: Site) -> None:
    held = "cluster.options={hold: true}"
    site.fsm(*PACKED[:-1], "method=median,pivot", "seed=1,2", held)
    (job_id,) = {job.split("_")[0] for job in job_ids(site, "default")}
    shown = site.shell("scontrol", "show", "job", job_id).stdout
    assert "NumCPUs=1 " in shown
    assert "TimeLimit=01:00:00" in shown
    assert "mem=8G" in shown


@pytest.mark.slow
def test_two_hundred_folds_cost_little_and_give_the_answers_of_unpacked_runs(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seeds = os.environ.get("FSM_TEST_SEEDS", "10")
    words = ("method=median,pivot", f"seed=range(1,{int(seeds) + 1})")
    site.fsm(*PACKED, *words, limit_s=1800)
    found = [json.loads(p.read_text()) for p in (site.folder / "results").rglob("result.json")]
    assert len(found) == 20 * int(seeds)
    searched = sum(one["processor_s"] for one in found)
    jobs = job_ids(site, "default")
    used = processor_seconds(site, jobs, monkeypatch)
    with capsys.disabled():
        print(f"{len(found)} folds: {used:.1f} s in {len(jobs)} jobs, searches {searched:.1f} s")
    assert len(jobs) <= 40
    assert 0 < used <= 2.5 * searched + 5 * len(jobs)
    assert results(site, "default") == run_unpacked(site, (*SHORT, *words))


@pytest.mark.slow
@pytest.mark.faults
def test_a_time_limit_inside_a_packed_job_loses_nothing(site: Site) -> None:
    limit = ("cluster.timeout_h=0.0167", "cluster.signal_delay_s=25")
    site.fsm(*OVER_LIMIT, *ONE_JOB, *limit, "--wait", limit_s=1200)
    assert len(job_ids(site, "default")) == 1
    assert len(requeues(site)) == 20
    assert min(requeues(site)) == 0 < max(requeues(site))
    assert "ends: timeout" in site.logs()
    assert results(site, "default") == run_unpacked(site, OVER_LIMIT)


@pytest.mark.slow
@pytest.mark.faults
def test_a_node_that_dies_under_a_packed_job_loses_nothing(site: Site, all_nodes: Settings) -> None:
    site.fsm(*MINUTES, *ONE_JOB)
    site.wait(lambda states: sum(state["done"] for state in states) >= 3, 240)
    (job_id,) = job_ids(site, "default")
    node = site.shell("squeue", "-h", "-j", job_id, "-o", "%N").stdout.strip()
    site.shell("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=test")
    site.wait_for("done", 1200)
    assert len(requeues(site)) == 30
    assert max(requeues(site)) >= 1
    assert results(site, "default") == run_unpacked(site, MINUTES)
