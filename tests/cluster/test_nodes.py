"""Several nodes for one fold: what is asked for, what it costs, and what stays the same."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.cluster.node import nodes
from fsm_hpc.cluster.schedulers import slurm_script
from fsm_hpc.cluster.schedulers.base import Batch, SiteLimits
from fsm_hpc.cluster.schedulers.local import Local
from fsm_hpc.cluster.submit import plan
from fsm_hpc.cluster.watch.fold_files import FoldFiles, FoldRef
from fsm_hpc.cluster.watch.states import FoldState, FoldStatus
from fsm_hpc.errors import UserError
from fsm_hpc.search.solvers.nodes import contact
from fsm_hpc.study import fingerprint, fold
from fsm_hpc.study.compose import compose
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.system import machine
from tests.support.command_line import run_command
from tests.support.slurm_stand_ins import some_config


def decision(config: Config) -> plan.Decision:
    ref = FoldRef(config.id, FoldPaths(Path("nowhere")), config)
    return plan.Decision(config, FoldStatus(FoldFiles(ref), FoldState.MISSING), True, "missing")


def baseline(nodes: int) -> Config:
    config = some_config(nodes=nodes)
    other = compose(["dataset=hepatitis", "method=random_forest", "cluster=slurm"])
    return replace(config, method=other.method)


def test_core_hours_count_every_node_and_a_baseline_takes_one() -> None:
    spread, alone = plan.lay_out(
        [decision(some_config(nodes=4)), decision(baseline(4))], SiteLimits()
    )
    assert spread.core_hours == 4 * alone.core_hours
    told = plan.to_dict([], [spread, alone])["arrays"]
    assert [array["nodes"] for array in told] == [4, 1]


def test_a_job_asks_for_its_nodes_and_outlives_the_loss_of_one() -> None:
    here = Path("nowhere")
    one, four = (
        slurm_script.parameters(Batch(some_config(nodes=n), here, "fsm", print, ())) for n in (1, 4)
    )
    assert (one["nodes"], four["nodes"], four["ntasks_per_node"]) == (1, 4, 1)
    assert four["additional_parameters"] == {"requeue": True, "no_kill": True}
    assert "--kill-on-bad-exit=0" in four["srun_args"]
    assert "srun_args" not in one
    assert one["additional_parameters"] == {"requeue": True}


def test_nodes_are_no_setting_that_matters() -> None:
    one, four = (fingerprint.settings_that_matter(some_config(nodes=n), "") for n in (1, 4))
    assert one == four


def test_nodes_that_are_processes_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "available_cores", lambda: 8)
    assert Local().limits(some_config(nodes=2, cpus=2)).max_parallel == 2
    assert Local().limits(some_config(cpus=2, max_parallel=3)).max_parallel == 3
    assert fold.threads(some_config(nodes=2, cpus=2)) == 2
    assert fold.threads(some_config(nodes=1, cpus=2)) == 8


def test_clingo_dl_is_not_spread() -> None:
    words = ["dataset=hepatitis", "solver=clingo_dl", "cluster.nodes=2"]
    with pytest.raises(UserError, match="solver=clingo_dl runs on one machine"):
        compose([*words, "method=pivot"])
    assert compose([*words, "method=random_forest"]).nodes == 1
    with pytest.raises(UserError, match=r"cluster\.nodes: expected at least 1, found 0"):
        compose(["dataset=hepatitis", "method=pivot", "cluster.nodes=0"])


def test_a_plan_without_the_extra_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contact, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"fsm_hpc\[nodes\]"):
        plan.decide([some_config(nodes=2)])


def test_tasks_of_one_life_of_a_job_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_RESTART_COUNT", "2")
    monkeypatch.setenv("SLURM_PROCID", "1")
    assert nodes.is_helper()
    assert nodes.contact_file(Path("there")) == Path("there/.team-7-2.json")


def test_a_fold_of_two_processes_has_the_result_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fsm_hpc.search.solvers.nodes.team.HEAD_START_S", 0.0)
    words = ("dataset=hepatitis", "method=pivot", "fold=0", "scan.max_length=4", "cluster=local")
    for count in (1, 2):
        more = ("scan.alternatives=4", f"cluster.nodes={count}", f"study=s{count}")
        assert run_command("run", *words, *more) == 0
    file = Path("hepatitis", "pivot", "fold-0", "result.json")
    found = [json.loads((tmp_path / "results" / s / file).read_text()) for s in ("s1", "s2")]
    assert [one["provenance"]["nodes"] for one in found] == [1, 2]
    assert found[0]["fingerprint"] == found[1]["fingerprint"]
    assert found[0]["formula"] == found[1]["formula"]
    assert found[0]["alternatives"] == found[1]["alternatives"]  # with the digest of the set


def test_a_killed_helper_is_recorded_in_the_result_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from fsm_hpc.search.solvers.nodes import team

    started: list[subprocess.Popen[bytes]] = []
    helpers_here, ready = team.helpers_here, team.Team.ready

    @contextmanager
    def helpers(*arguments: Any) -> Iterator[None]:
        with helpers_here(*arguments) as processes:
            started.extend(processes)
            yield

    def wait_for(made: team.Team, count: int) -> None:
        deadline = time.monotonic() + 120
        while ready(made) != count:
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def kill_one(made: team.Team) -> int:
        if started:
            wait_for(made, 1)
            started.pop().kill()
            wait_for(made, 0)
        return ready(made)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(team, "HEAD_START_S", 0.0)
    monkeypatch.setattr(team, "helpers_here", helpers)
    monkeypatch.setattr(team.Team, "ready", kill_one)
    words = ("dataset=hepatitis", "method=pivot", "fold=0", "scan.max_length=4", "cluster=local")
    assert run_command("run", *words, "scan.alternatives=4", "cluster.nodes=2") == 0
    file = tmp_path / "results/default/hepatitis/pivot/fold-0/result.json"
    assert json.loads(file.read_text())["helpers_lost"] == 1
    capsys.readouterr()
    assert run_command("status", "--json") == 0
    (shown,) = json.loads(capsys.readouterr().out)
    assert shown["warnings"] == ["1 helper lost; the search continued without them"]
