"""One fold on several nodes of a real SLURM, one of them lost on the way."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from slurm import daemons
from tests.support.site import Site

pytestmark = pytest.mark.slurm
# length 9 of this fold takes some seconds of processor time: longer than the head start, mostly
WORDS = ("dataset=heart_disease", "method=interval", "fold=1", "solver=native", "scan.patience=9")
SIZE = ("scan.max_length=9", "scan.plateau=null", "cluster.cpus=1", "cluster.mem_gb=2")
OLD = Path(__file__).parents[2] / "golden" / "format_1"
FOLD = "heart_disease/interval/fold-1"


def formulas(site: Site) -> list[tuple[str, bool]]:
    done = site.file("result.json", FOLD)
    return [(e["formula"], e["proved"]) for e in [*done["lengths"], done]]


def contacts(site: Site) -> list[Path]:
    return list(site.folder.rglob(".team-*.json"))


def wait_until(ready: Callable[[], bool], site: Site) -> None:
    deadline = time.monotonic() + 200
    while not ready():
        assert time.monotonic() < deadline, site.logs()
        time.sleep(0.1)


def second_task(site: Site, job_id: str) -> psutil.Process:
    """The helper on the second node."""
    wait_until(lambda: bool(daemons.task_pids(site.settings, job_id, task=1)), site)
    return psutil.Process(daemons.task_pids(site.settings, job_id, task=1)[-1])


def test_three_nodes_of_which_one_is_lost_find_what_one_finds(site: Site, tmp_path: Path) -> None:
    site.fsm(*WORDS, *SIZE, "cluster.nodes=3", "-m")
    job_id = site.state()["job_id"]
    wait_until(lambda: bool(contacts(site)), site)
    assert contacts(site)[0].stat().st_mode & 0o777 == 0o600
    site.wait_for_length(9, 200)
    helper = second_task(site, job_id)
    before = helper.cpu_times().user
    wait_until(lambda: helper.cpu_times().user > before + 0.5, site)  # it is at work
    helper.kill()
    site.wait_for("done", 300)
    assert site.file("result.json", FOLD)["provenance"]["nodes"] == 3
    assert contacts(site) == []
    alone = Site(site.settings, tmp_path / "alone")
    alone.folder.mkdir()
    alone.fsm(*WORDS, *SIZE, "cluster=local", "-m", limit_s=400)
    assert formulas(alone) == formulas(site)


@pytest.mark.slow
def test_a_good_set_on_the_tasks_of_a_job_of_which_one_is_lost_is_that_of_one(site: Site) -> None:
    fold = site.folder / "results" / "default" / "heart_disease" / "pivot" / "fold-1"
    shutil.copytree(OLD / "heart_disease" / "pivot" / "fold-1", fold)
    words = ("-m", "fsm_hpc", "alternatives", str(fold), "slack=11", "bound=8", "--threads", "1")
    command = [sys.executable, *words, "--json"]
    nodes = ("srun", "--nodes=3", "--ntasks=3", "--mem=2G", "--no-kill", "--kill-on-bad-exit=0")
    with subprocess.Popen(
        [*nodes, *command],
        cwd=site.folder,
        env=site.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        wait_until(lambda: bool(list(fold.glob(".team-*.json"))), site)
        helper = second_task(site, site.shell("squeue", "--noheader", "--format=%i").stdout.strip())
        before = helper.cpu_times().user
        wait_until(lambda: (fold / ".result.alternatives.json").exists(), site)
        wait_until(lambda: helper.cpu_times().user > before + 0.5, site)  # it is at work
        helper.kill()
        found, complaints = running.communicate(timeout=300)
    assert found, complaints
    alone = site.shell(*command, limit_s=300)
    assert json.loads(found) == json.loads(alone.stdout)
    assert not list(fold.glob(".team-*.json")), "the key of the connection is gone"


def test_the_doctor_sees_whether_nodes_reach_each_other(site: Site) -> None:
    words = ("cluster.nodes=3", "cluster.cpus=1", "cluster.mem_gb=2")
    found = json.loads(site.stdout("doctor", "--json", *words, limit_s=300))
    said = {finding["check"]: finding["text"] for finding in found}
    assert said["between nodes"] == "2 of 2 other nodes connect to the first"
    told = site.fsm("doctor", "cluster.nodes=4", *words[1:], code=1)
    assert "nodes            4 requested, at most 3 available" in told
