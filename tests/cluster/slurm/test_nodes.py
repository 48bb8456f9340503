"""One fold on several nodes of a real SLURM, one of them lost on the way."""

from __future__ import annotations

import json
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


def test_the_doctor_sees_whether_nodes_reach_each_other(site: Site) -> None:
    words = ("cluster.nodes=3", "cluster.cpus=1", "cluster.mem_gb=2")
    found = json.loads(site.fsm("doctor", "--json", *words, limit_s=300))
    said = {finding["check"]: finding["text"] for finding in found}
    assert said["between nodes"] == "2 of 2 other nodes connect to the first"
    told = site.fsm("doctor", "cluster.nodes=4", *words[1:], code=1)
    assert "nodes            asked for 4, at most 3" in told
