"""What finished folds leave on disk: few files, and enough to fence a job that comes back late."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fsm_hpc.cluster import attempts, submissions
from fsm_hpc.cluster.node import supervise
from fsm_hpc.study.compose import compose
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.study.fold import fold_paths
from tests.support.command_line import said

FOLD = ("dataset=hepatitis", "method=median", "solver.threads=1")


def files_of(study: StudyPaths) -> list[str]:
    return [path.name for path in study.root.rglob("*") if path.is_file()]


def test_a_sweep_leaves_at_most_four_files_for_each_fold(tmp_path: Path) -> None:
    words = (*FOLD, "folds=4", "scan.max_length=1", "cluster=local", f"results_dir={tmp_path}")
    code, printed = said(*words, "-m")
    assert code == 0, printed.decode()
    study = StudyPaths(tmp_path / "default")
    of_folds = [name for name in files_of(study) if name not in ("study.json", ".generation.json")]
    assert of_folds.count("result.json") == 4
    assert len(of_folds) <= 4 * 4 + 4, of_folds  # and those of the submission itself


def run(tmp_path: Path, *words: str) -> tuple[FoldPaths, submissions.Submission]:
    config = compose([*FOLD, "fold=0", f"results_dir={tmp_path}", *words])
    paths = fold_paths(config)
    submission = submissions.submit_here(paths, config)
    supervise.work(paths, submission)
    return paths, submission


def test_a_final_result_needs_no_state_beside_it(tmp_path: Path) -> None:
    paths, _ = run(tmp_path, "scan.max_length=1")
    assert paths.result.exists()
    assert not paths.scan.exists()
    assert not paths.attempt.exists()


def test_a_result_that_more_time_would_improve_keeps_its_state(tmp_path: Path) -> None:
    paths, _ = run(tmp_path, "scan.budget_h=1e-9")
    assert paths.result.exists()
    assert paths.scan.exists()


def test_an_older_attempt_does_not_take_a_finished_fold_for_its_own(tmp_path: Path) -> None:
    paths, submission = run(tmp_path, "scan.max_length=1")
    late = attempts.claim(paths, submission)
    paths.attempt.unlink()
    assert attempts.is_mine(paths, late)
    assert not attempts.is_mine(paths, replace(late, generation=late.generation - 1))
