"""Which folds share a job, what it asks for, and what `plan` says of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from fsm_hpc.cli.main import main
from fsm_hpc.cluster import arrays
from fsm_hpc.cluster.schedulers.base import SiteLimits
from fsm_hpc.cluster.submit import packing
from fsm_hpc.cluster.submit.packing import ArrayTask
from fsm_hpc.cluster.submit.plan import Decision, lay_out
from fsm_hpc.cluster.watch.fold_files import FoldFiles, of_sweep
from fsm_hpc.cluster.watch.states import FoldState, FoldStatus
from fsm_hpc.errors import UserError
from fsm_hpc.study.compose import compose, expand
from fsm_hpc.study.files import StudyPaths
from tests.support.fake_slurm import FakeSlurm

SHORT = ["dataset=hepatitis", "solver=native", "scan.max_length=6", "cluster=slurm"]
AUTO = "cluster.folds_per_job=auto"
LIMITS = SiteLimits(max_array_size=1000)


def decisions(*words: str, state: FoldState = FoldState.MISSING) -> list[Decision]:
    refs = of_sweep(expand([*SHORT, "method=pivot", *words]))
    found = [FoldStatus(FoldFiles(ref), state) for ref in refs]
    assert all(one.ref.config is not None for one in found)
    return [Decision(one.ref.config, one, True, "") for one in found if one.ref.config]


def tasks(*words: str, limits: SiteLimits = LIMITS) -> list[ArrayTask]:
    return packing.tasks(decisions(*words), limits)


def sizes(found: Sequence[ArrayTask]) -> list[int]:
    return [len(task.folds) for task in found]


def test_by_default_each_fold_has_a_job_with_what_the_user_says() -> None:
    found = tasks()
    assert sizes(found) == [1] * 10
    cluster = found[0].config.cluster
    assert (cluster.cpus, cluster.mem_gb, cluster.timeout_h) == (8, 64.0, 72.0)


def test_two_thousand_short_folds_are_at_most_forty_jobs() -> None:
    found = tasks("method=median,pivot", "seed=range(1,101)", AUTO)
    assert sum(sizes(found)) == 2000
    assert len(found) <= 40


def test_a_job_of_short_folds_asks_for_the_cores_and_hours_that_they_need() -> None:
    (task,) = tasks(AUTO)
    cluster = task.config.cluster
    assert (cluster.cpus, cluster.mem_gb, cluster.timeout_h) == (1, 8.0, 1.0)
    assert all(decision.config.cluster == cluster for decision in task.folds)


def test_so_many_folds_share_a_job_as_are_asked_for() -> None:
    found = tasks("cluster.folds_per_job=4")
    assert sizes(found) == [4, 4, 2]
    assert found[0].config.cluster.cpus == 8


@pytest.mark.parametrize(
    "words",
    [
        ("solver=clingo_dl",),
        ("cluster.nodes=2",),
        ("solver=portfolio", "solver.head_start_s=0.01"),
    ],
)
@pytest.mark.parametrize("folds_per_job", [AUTO, "cluster.folds_per_job=5"])
def test_these_folds_never_share_a_job(words: tuple[str, ...], folds_per_job: str) -> None:
    assert sizes(tasks(*words, folds_per_job)) == [1] * 10


def test_a_portfolio_shares_a_job_where_native_is_expected_to_finish_alone() -> None:
    assert sizes(tasks("solver=portfolio", "solver.head_start_s=30", AUTO)) == [10]


def test_long_folds_keep_a_job_of_their_own_with_all_that_the_user_gave() -> None:
    found = tasks("dataset=bank", "scan.max_length=10", AUTO)
    assert sizes(found) == [1] * 10
    assert found[0].config.cluster.cpus == 8


@pytest.mark.parametrize("state", [FoldState.LOST, FoldState.OUT_OF_MEMORY, FoldState.FAILED])
def test_a_fold_that_may_have_ended_its_job_gets_one_of_its_own(state: FoldState) -> None:
    found = packing.tasks(decisions(AUTO, state=state), LIMITS)
    assert sizes(found) == [1] * 10


def test_on_one_machine_all_cores_get_some_of_the_folds() -> None:
    limits = SiteLimits(max_parallel=2, starts_quickly=True)
    assert sizes(tasks(AUTO, limits=limits)) == [5, 5]


def test_arrays_count_jobs_and_not_folds() -> None:
    (array,) = lay_out(decisions("cluster.folds_per_job=5"), LIMITS)
    assert (len(array.tasks), len(array.folds)) == (2, 10)
    assert array.core_hours == 2 * 8 * 72


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5"])
def test_another_number_is_refused(value: str) -> None:
    with pytest.raises(UserError, match="expected a whole number from 1 on, or auto"):
        compose([*SHORT, "method=pivot", f"cluster.folds_per_job={value}"])


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSlurm:
    monkeypatch.chdir(tmp_path)
    return FakeSlurm(tmp_path / "bin", monkeypatch)


def test_plan_says_what_sharing_would_save_and_how(
    site: FakeSlurm, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", *SHORT, "method=pivot"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "requested: 5,760 core-hours" in told
    saving = "cluster.folds_per_job=auto would submit 1 job instead of 10, and request 1 instead of"
    assert f"{saving} 5,760 core-hours" in told
    assert site.jobs == []


def test_plan_shows_how_many_folds_a_job_has(
    site: FakeSlurm, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", *SHORT, "method=pivot", AUTO]) == 0
    told = capsys.readouterr().out
    assert "10, 10 per job" in told
    assert "folds_per_job=auto would" not in told


def test_folds_of_a_shared_job_have_its_id_and_files_of_their_own(
    site: FakeSlurm, tmp_path: Path
) -> None:
    assert main([*SHORT, "method=pivot", "cluster.folds_per_job=4", "-m"]) == 0
    found = arrays.records(StudyPaths(tmp_path / "results" / "default")).submissions.values()
    assert Counter(one.job_id for one in found) == {"1000_0": 4, "1000_1": 4, "1000_2": 2}
    assert {one.folds_in_job for one in found} == {4, 2}


def test_cancel_leaves_a_job_alone_that_other_folds_share(
    site: FakeSlurm, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SHORT, "method=pivot", AUTO, "-m"]) == 0
    assert main(["cancel", "fold=3", "-y"]) == 0
    assert "1 cancelled" in capsys.readouterr().out
    assert [job["is_cancelled"] for job in site.jobs] == [False]
    main(["status", "--json"])
    states = Counter(one["state"] for one in json.loads(capsys.readouterr().out))
    assert states == {"queued": 9, "cancelled": 1}
    assert main(["cancel", "-y"]) == 0
    assert [job["is_cancelled"] for job in site.jobs] == [True]
