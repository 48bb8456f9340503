"""What status, logs and cancel say of a rule, beside and without folds."""

from __future__ import annotations

import json
import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fsm_hpc.cluster import attempts, submissions
from fsm_hpc.cluster.attempts import AttemptEnd
from fsm_hpc.cluster.node import fitting, supervise
from fsm_hpc.cluster.node.foreground import Foreground
from fsm_hpc.cluster.node.supervisor import Supervisor
from fsm_hpc.errors import UserError
from fsm_hpc.models import model
from fsm_hpc.models.tasks import on_all_rows
from fsm_hpc.study import checkpoint
from fsm_hpc.study.compose import compose
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.study.fold import fold_paths
from fsm_hpc.study.fold_id import FoldId
from tests.support.command_line import place_of, run_command
from tests.support.fake_slurm import FakeSlurm
from tests.support.made_studies import fold_result, put
from tests.support.scans import scan_state


@pytest.fixture
def study(tmp_path: Path) -> StudyPaths:
    frame = pd.DataFrame({"age": range(20, 80)})
    frame["label"] = np.where(frame["age"] >= 50, "yes", "no")
    frame.to_csv(tmp_path / "my.csv", index=False)
    return StudyPaths(tmp_path / "results" / "default")


def words(study: StudyPaths, *more: str) -> list[str]:
    table = study.root.parent.parent / "my.csv"
    which = ["dataset=csv", f"dataset.path={table}", "dataset.target=label", "method=pivot"]
    return [*which, "solver=native", "fit.folds=2", "scan.max_length=3", *place_of(study), *more]


def begun(study: StudyPaths, end: AttemptEnd | None, message: str = "", *more: str) -> FoldPaths:
    """A rule that this process works on, or has worked on."""
    config = on_all_rows(compose(words(study, *more)))
    paths = fold_paths(config)
    attempt = attempts.claim(paths, submissions.submit_here(paths, config))
    attempts.save(paths, replace(attempt, end=end, message=message))
    return paths


def test_a_fitted_rule_is_told_in_words_and_in_json(
    study: StudyPaths, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command("fit", *words(study)) == 0
    capsys.readouterr()
    assert run_command("status", "--check", *place_of(study)) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[1].split()[:4] == ["my", "pivot", "all", "done"]
    assert "Predict label = yes when age is at least 50; otherwise label = no." in said
    assert "1 fold: 1 done" in said
    run_command("status", "--json", *place_of(study))
    (rule,) = json.loads(capsys.readouterr().out)
    assert (rule["dataset"], rule["fold"], rule["state"]) == ("my", "all", "done")
    assert rule["majority"] < rule["test_accuracy"] <= 1


def test_a_rule_stands_beside_folds_unless_one_fold_is_asked_for(
    study: StudyPaths, capsys: pytest.CaptureFixture[str]
) -> None:
    begun(study, AttemptEnd.BAD_INPUT, "my.csv: 2 problems\n  one\n  two")
    put(study, fold_result("my", "pivot", 0))
    assert run_command("status", "--check", *place_of(study)) == 2
    said = capsys.readouterr().out
    assert "my pivot fold all: bad input: my.csv: 2 problems\n  one\n  two\n" in said
    assert "2 folds: 1 done, 1 failed" in said
    assert run_command("status", "--check", "fold=0", *place_of(study)) == 0
    assert "1 fold: 1 done" in capsys.readouterr().out


def test_a_rule_under_way_says_how_far_it_is(
    study: StudyPaths, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = begun(study, None)
    assert run_command("status", "--check", *place_of(study)) == 1
    assert "running" in capsys.readouterr().out
    state = scan_state(())
    checkpoint.save(paths.scan, state, "f")
    saved = json.loads(paths.scan.read_text()) | {"stop_reason": "plateau"}
    paths.scan.write_text(json.dumps(saved))
    put(paths.cross_validation, fold_result("my", "pivot", 0))
    run_command("status", *place_of(study))
    assert "cross-validation fold 2 of 2" in capsys.readouterr().out


def test_a_stopped_rule_says_where_it_goes_on(
    study: StudyPaths, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = begun(study, AttemptEnd.STOPPED)
    checkpoint.save(paths.scan, scan_state(()), "f")
    run_command("status", *place_of(study))
    assert "stopped, resumes at length 1\n1 fold: 1 partial" in capsys.readouterr().out


def test_a_folder_of_a_rule_means_that_rule_alone(
    study: StudyPaths, capsys: pytest.CaptureFixture[str]
) -> None:
    out = study.root.parent / "my_rule"
    paths = begun(study, AttemptEnd.STOPPED, "", f"out={out}")
    paths.log.write_text("began\n")
    put(study, fold_result("my", "pivot", 0))
    run_command("status", f"out={out}")
    assert "1 fold: 1 partial" in capsys.readouterr().out
    run_command("logs", f"out={out}")
    assert capsys.readouterr().out == "==> my/pivot/fold-all <==\nbegan\n"
    run_command("cancel", f"out={out}")
    assert capsys.readouterr().out == "nothing is queued or running\n"


def test_resume_finishes_a_rule_that_was_stopped(
    study: StudyPaths, capsys: pytest.CaptureFixture[str]
) -> None:
    out = study.root.parent / "my_rule"
    begun(study, AttemptEnd.STOPPED, "", f"out={out}")
    assert run_command("resume", f"out={out}", "cluster=local") == 0
    assert (out / "model.json").exists()
    run_command("status", f"out={out}")
    assert "1 fold: 1 done" in capsys.readouterr().out


def test_a_folder_without_a_rule_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no rule in"):
        run_command("status", f"out={tmp_path}")


def test_a_long_reason_stands_below_the_table_once(
    study: StudyPaths, capsys: pytest.CaptureFixture[str]
) -> None:
    for fold in (0, 1, 2):
        config = replace(compose(words(study)), fold=fold)
        paths = study.fold(FoldId("my", "pivot", fold))
        attempt = attempts.claim(paths, submissions.submit_here(paths, config))
        bad = "my.csv: 2 problems\n  one\n  two"
        attempts.save(paths, replace(attempt, end=AttemptEnd.BAD_INPUT, message=bad))
    run_command("status", *place_of(study))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-2:] for line in lines[1:4]] == [["see", "below"]] * 3
    assert lines[4:7] == ["my pivot fold 0-2: bad input: my.csv: 2 problems", "  one", "  two"]


@pytest.mark.parametrize("classes", [2, 3])
def test_a_rule_is_submitted_once_and_fitted_by_its_job(
    study: StudyPaths,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    classes: int,
) -> None:
    table = study.root.parent.parent / "my.csv"
    frame = pd.read_csv(table).assign(label=lambda rows: (rows["age"] - 20) // (60 // classes))
    frame.to_csv(table, index=False)
    out = table.parent / "my_rule"
    FakeSlurm(table.parent / "bin", monkeypatch)
    fit = ["fit", "-m", *words(study, f"out={out}", "cluster=slurm")]
    assert run_command(*fit) == 0
    assert "1 submitted" in (said := capsys.readouterr().out)
    assert f"status -w out={out}" in said
    assert run_command(*fit) == 0
    assert "0 submitted" in capsys.readouterr().out
    (output,) = (out / "folds" / "submissions").iterdir()
    assert supervise.work_in_array(str(output)) == "finished"
    assert len(model.load(out / "model.json").classes) == classes
    assert run_command("status", "--check", f"out={out}") == 0
    assert "1 fold: 1 done" in capsys.readouterr().out


def fitted_as_job(study: StudyPaths, monkeypatch: pytest.MonkeyPatch, *more: str) -> list[str]:
    """The command that fitted a rule as a job."""
    FakeSlurm(study.root.parent.parent / "bin", monkeypatch)
    fit = ["fit", "-m", *words(study, f"out={study.root.parent / 'my_rule'}", *more)]
    assert run_command(*fit, "cluster=slurm") == 0
    run_newest_job(study)
    return [*fit, "cluster=slurm"]


def run_newest_job(study: StudyPaths) -> None:
    there = (study.root.parent / "my_rule" / "folds" / "submissions").iterdir()
    output = max(there, key=lambda folder: folder.stat().st_mtime_ns)
    assert supervise.work_in_array(str(output)) == "finished"


def test_a_rule_that_timed_out_is_resumed_with_a_larger_budget_only(
    study: StudyPaths, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fit = fitted_as_job(study, monkeypatch, "fit.budget_h=1e-7")
    out = f"out={study.root.parent / 'my_rule'}"
    capsys.readouterr()
    assert run_command(*fit) == 0
    said = capsys.readouterr().out
    assert "0 submitted" in said
    assert "a larger fit.budget_h continues it" in " ".join(said.split())
    assert run_command("resume", "--dry-run", out) == 0
    assert "nothing to submit" in capsys.readouterr().out
    assert run_command("resume", "--dry-run", out, "fit.budget_h=0.1") == 0
    assert "a larger fit.budget_h continues it" in " ".join(capsys.readouterr().out.split())


def test_fit_as_a_job_writes_a_model_that_was_removed(
    study: StudyPaths, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fit = fitted_as_job(study, monkeypatch)
    path = study.root.parent / "my_rule" / "model.json"
    before = model.load(path)
    path.unlink()
    capsys.readouterr()
    assert run_command(*fit) == 0
    assert "1 submitted" in (said := capsys.readouterr().out)
    assert "is missing" in " ".join(said.split())
    run_newest_job(study)
    assert str(model.load(path).formula) == str(before.formula)


def test_a_rule_in_a_folder_that_was_moved_is_resumed_there(
    study: StudyPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(study, AttemptEnd.STOPPED, "", f"out={study.root.parent / 'my_rule'}")
    moved = (study.root.parent / "my_rule").rename(study.root.parent / "moved")
    assert run_command("resume", f"out={moved}", "cluster=local") == 0
    assert (moved / "model.json").exists()
    assert not (study.root.parent / "my_rule").exists()


def test_the_fold_all_can_be_asked_for(
    study: StudyPaths, capsys: pytest.CaptureFixture[str]
) -> None:
    begun(study, AttemptEnd.BAD_INPUT, "no rows")
    put(study, fold_result("my", "pivot", 0))
    assert run_command("status", "--check", "fold=all", *place_of(study)) == 2
    assert "1 fold: 1 failed" in capsys.readouterr().out
    assert run_command("status", "--check", "fold=0,all", *place_of(study)) == 2
    assert "2 folds: 1 done, 1 failed" in capsys.readouterr().out


def test_a_rule_that_was_interrupted_is_partial_and_has_its_best_model(
    study: StudyPaths, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(self: Supervisor, part: str) -> None:
        if "cross-validation" in part:
            os.kill(os.getpid(), signal.SIGINT)

    out = study.root.parent / "my_rule"
    monkeypatch.setattr(Foreground, "begin", interrupt)
    run_command("fit", *words(study, f"out={out}"))
    assert (out / "model.json").exists()
    capsys.readouterr()
    assert run_command("status", "--check", f"out={out}") == 1
    assert "1 fold: 1 partial" in capsys.readouterr().out


def test_a_rule_queued_by_another_version_is_planned_and_resumed(
    study: StudyPaths, capsys: pytest.CaptureFixture[str]
) -> None:
    out = study.root.parent / "my_rule"
    begun(study, AttemptEnd.NEEDS_RESUME, "queued by another version", f"out={out}")
    run_command("status", f"out={out}")
    assert "1 fold: 1 needs resume" in capsys.readouterr().out
    run_command("resume", "--dry-run", f"out={out}", "cluster=local")
    assert "needs resume: queued by another version" in " ".join(capsys.readouterr().out.split())
    assert run_command("resume", f"out={out}", "cluster=local") == 0
    assert (out / "model.json").exists()


@pytest.fixture
def older(study: StudyPaths) -> Path:
    """A rule in the files of version 0.2: all of them in one folder, and no fold `all`."""
    out = study.root.parent / "my_rule"
    assert run_command("fit", *words(study, f"out={out}")) == 0
    (fold,) = (out / "folds").glob("*/*/fold-all")
    for name in ("submission.json", "attempt.json", "log.txt"):
        (fold / name).rename(out / name)
    folds = (fold / "folds").rename(out / "older")
    shutil.rmtree(out / "folds")
    folds.rename(out / "folds")
    return out


@pytest.mark.parametrize("command", ["status", "logs", "cancel", "resume"])
def test_a_rule_of_version_0_2_is_told_with_what_to_do(older: Path, command: str) -> None:
    with pytest.raises(UserError, match=r"version 0.2 .* is still usable; run `fit` again"):
        run_command(command, f"out={older}")


@pytest.mark.parametrize("command", ["explain", "export", "alternatives", "verify", "predict"])
def test_a_model_of_version_0_2_can_be_used(older: Path, command: str) -> None:
    table = [str(older.parent.parent / "my.csv")] if command == "predict" else []
    to = ["--to", "sql"] if command == "export" else []
    assert run_command(command, str(older / "model.json"), *table, *to) == 0


def test_a_fit_that_version_0_2_queued_says_to_run_it_again(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"cannot begin.*older version.*run `fit` again"):
        fitting.work_in_array(str(tmp_path))
