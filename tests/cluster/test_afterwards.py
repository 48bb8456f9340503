"""A job that waits for a sweep, and what a sweep costs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fsm_hpc.cli.main import main
from fsm_hpc.cluster.node import afterwards as node
from fsm_hpc.cluster.schedulers import slurm_commands as slurm
from fsm_hpc.cluster.watch import cost
from fsm_hpc.cluster.watch.fold_files import FoldFiles, FoldRef
from fsm_hpc.cluster.watch.states import FoldState, FoldStatus
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.study.scan_file import ScanFacts
from tests.support.fake_slurm import FakeSlurm
from tests.support.made_studies import fold_result, put
from tests.support.slurm_stand_ins import fake_slurm
from tests.support.submissions import submission

WORDS = ["dataset=hepatitis", "method=median", "cluster=slurm", "fold=0,1"]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSlurm:
    monkeypatch.chdir(tmp_path)
    return FakeSlurm(tmp_path / "bin", monkeypatch)


def scripts() -> list[str]:
    found = Path("results/default/submissions").glob("*/jobs.sh")
    return [path.read_text() for path in sorted(found, key=lambda path: path.stat().st_mtime_ns)]


def test_a_dependent_job_collects(site: FakeSlurm, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WORDS, "--after=collect,report", "-m"]) == 0
    assert "job 1001 runs after them: collect, then report" in capsys.readouterr().out
    assert len(site.jobs) == 2
    last = scripts()[-1]
    assert "--dependency=afterany:1000" in last
    assert "--cpus-per-task=1" in last


def test_it_waits_for_jobs_of_earlier_commands_too(site: FakeSlurm) -> None:
    assert main([*WORDS[:3], "fold=0", "-m"]) == 0
    assert main([*WORDS[:3], "fold=0,1", "--after=collect", "-m"]) == 0
    assert len(site.jobs) == 3
    assert "--dependency=afterany:1000:1001" in scripts()[-1]


def test_mail_is_slurms_to_send(site: FakeSlurm) -> None:
    assert main([*WORDS, "--notify=me@example.org", "-m"]) == 0
    assert len(site.jobs) == 2
    assert "--mail-user=me@example.org" in scripts()[-1]
    assert "--mail-user" not in scripts()[0]


def test_resume_does_not_run_a_command_that_only_a_file_names(site: FakeSlurm) -> None:
    assert main([*WORDS, "--notify=touch pwned", "-m"]) == 0
    assert main(["cancel", "-y"]) == 0
    before = len(site.jobs)
    assert main(["resume"]) == 0
    assert len(site.jobs) == before + 1


def test_only_commands_that_read_results_can_follow(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WORDS, "--after=cancel", "-m"]) == 2
    assert "--after: expected one of collect, report" in capsys.readouterr().err


def test_a_sweep_here_is_followed_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = [*WORDS[:2], "cluster=local", "fold=0", "scan.max_length=1", "solver=clingo_dl"]
    assert main([*words, "--after=collect", "--notify=echo $FSM_STUDY > told", "-m"]) == 0
    assert (tmp_path / "results/default/folds.csv").exists()
    assert (tmp_path / "told").read_text() == "default\n"


def test_a_dry_run_of_resume_shows_what_would_be_submitted_and_submits_nothing(
    site: FakeSlurm, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, "-m"]) == 0
    assert main(["cancel", "-y"]) == 0
    before = len(site.jobs)
    capsys.readouterr()
    assert main(["resume", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "to submit" in shown
    assert main(["resume", "--dry-run", "--json"]) == 0
    jobs = json.loads(capsys.readouterr().out)["jobs"]
    assert [job["submit"] for job in jobs] == [True, True]
    assert len(site.jobs) == before


def test_options_of_a_sweep_are_refused_where_there_is_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*WORDS[:2], "fold=0", "--wait"]) == 2
    assert "--wait needs a sweep: add -m" in capsys.readouterr().err


def status(fold: int, is_done: bool) -> FoldStatus:
    ref = FoldRef(FoldId("bank", "pivot", fold), FoldPaths(Path("nowhere")))
    done = fold_result("bank", "pivot", fold) if is_done else None
    sent = submission("slurm", job_id="7_0")
    return FoldStatus(FoldFiles(ref, done, sent), FoldState.DONE if is_done else FoldState.QUEUED)


def test_open_folds_are_expected_to_take_what_finished_ones_took() -> None:
    done = [status(fold, True) for fold in (0, 2)]  # 12 and 14 s on 8 threads
    found = cost.expected([*done, status(3, False)], [status(3, False)])
    assert found.core_hours == pytest.approx(13 * 8 / 3600)
    assert (found.folds, found.others) == (1, 0)
    assert cost.expected([status(3, False)], [status(3, False)]).others == 1


def test_the_time_that_open_folds_have_had_counts_in_what_is_expected() -> None:
    """The quick folds are done first: two took 12 and 14 s, and one has been searched for hours."""
    done = [status(fold, True) for fold in (0, 2)]
    open_ = status(3, False).files
    slow = FoldStatus(replace(open_, scan=ScanFacts(seconds=7200.0)), FoldState.RUNNING)
    found = cost.expected([*done, slow], [slow])
    assert found.core_hours == pytest.approx((12 + 14 + 7200) * 8 / 2 / 3600)
    assert (found.folds, found.done) == (1, 2)


def test_the_cost_line_sums_the_rows_and_says_what_an_estimate_is_based_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(slurm, "usage", lambda jobs: None)
    done = [status(fold, True) for fold in (0, 2)]
    line = cost.summary([*done, status(3, False)])
    assert line == (
        "elapsed x cores of 2 done folds: 0.058 core-hours, 0.029 each on average; about 0.029 "
        "more for 1 open fold (from 2 done folds of the same dataset and method, and the time used "
        "by open folds)"
    )
    assert cost.summary(done[:1]) == "elapsed x cores of 1 done fold: 0.027 core-hours"


def test_slurm_counts_restarts_and_no_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = "7_0|7200|01:00:00\n7_0|3600|10:30.500\n7_0.batch|3600|1-00:00:00\n7_1|60|00:01\n8|5|"
    fake_slurm(tmp_path, monkeypatch, sbatch="", sacct=told)
    assert slurm.usage(["7_0", "8"]) == {"7_0": (10800.0, 4230.5), "8": (5.0, 0.0)}
    assert cost.summary([status(0, False)]) == "core-hours: 1.2 used of 3 allocated"
    fake_slurm(tmp_path, monkeypatch, sacct="7_0|7200|00:00:00\n")
    counted_later = "core-hours: 2 allocated (use is not recorded yet)"
    assert cost.summary([status(0, False)]) == counted_later
    fake_slurm(tmp_path, monkeypatch, sacct="nonsense")
    assert slurm.usage(["7_0"]) is None
    assert cost.summary([status(0, False)]) == ""


def test_the_job_names_a_study_of_any_name_as_it_is(
    tmp_path: Path,
) -> None:
    name = 'it\'s "my" ${x} \\'
    put(StudyPaths(tmp_path / name), fold_result("bank", "pivot", 0))
    assert node.work(["collect"], [(str(tmp_path), name)], None) == 0
    assert StudyPaths(tmp_path / name).folds_csv.exists()
