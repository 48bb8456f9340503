"""The studies that the repository keeps: `collect` gives their tables, byte for byte."""

from __future__ import annotations

import gzip
import html
import json
import shutil
from pathlib import Path

import pytest

from benchmarks.study_tables import FOLDS, sweep_of
from fsm_hpc.study.compose import compose
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.run import run_fold
from scripts import refit_baselines, reuse_progress
from scripts.keep_study import COMPLETE, IN_PROGRESS, keep
from tests.support.command_line import place_of, run_command

RESULTS = Path(__file__).parents[2] / "results"
STUDIES = (*COMPLETE, *IN_PROGRESS)
WITH_PAGE = (*COMPLETE, "more")  # others get figures and page when they are complete
SHOWN = ("--paper", "--compare", "--names")  # as `make paper` collects them


def results_of(study: str) -> list[Path]:
    return sorted((RESULTS / study).rglob("result.json"))


def count_of_experiment(study: str) -> int:
    datasets, methods = sweep_of(study)
    return len(datasets) * len(methods) * FOLDS


@pytest.mark.parametrize("study", COMPLETE)
def test_a_complete_study_has_every_fold_of_its_experiment(study: str) -> None:
    assert len(results_of(study)) == count_of_experiment(study)


@pytest.mark.parametrize("study", IN_PROGRESS)
def test_a_study_in_progress_lacks_folds(study: str) -> None:
    assert len(results_of(study)) < count_of_experiment(study), "list it as complete"


@pytest.mark.parametrize("study", STUDIES)
def test_a_kept_study_has_the_tables_that_collect_gives(study: str, tmp_path: Path) -> None:
    shutil.copytree(
        RESULTS / study, tmp_path / study, ignore=shutil.ignore_patterns("tables", "*.csv")
    )
    paths = StudyPaths(tmp_path / study)
    assert run_command("collect", *place_of(paths), *SHOWN) == 0
    kept = [path for path in (RESULTS / study).rglob("*") if path.parent.name == "tables"]
    assert kept
    for path in (*kept, *(RESULTS / study).glob("*.csv")):
        made = tmp_path / study / path.relative_to(RESULTS / study)
        assert made.read_bytes() == path.read_bytes(), path.name


@pytest.mark.parametrize("study", STUDIES)
def test_a_kept_study_names_no_place_of_the_machine_it_ran_on(study: str) -> None:
    for path in (RESULTS / study).rglob("*.json"):
        text = path.read_text(encoding="utf-8")
        assert '"/' not in text.replace('"/"', ""), path


@pytest.mark.parametrize("study", WITH_PAGE)
def test_a_kept_page_shows_every_kept_formula_and_no_place_of_a_machine(study: str) -> None:
    page = gzip.decompress((RESULTS / study / "report.html.gz").read_bytes()).decode()
    for path in results_of(study):
        done = json.loads(path.read_text(encoding="utf-8"))
        if done["formula"] is not None:
            assert html.escape(done["formula"]) in page, path
    assert not any(place in page for place in ("/home/", "/root/", "/tmp/", str(RESULTS.parent)))


@pytest.mark.parametrize("study", WITH_PAGE)
def test_the_figures_of_a_kept_study_are_kept_with_it(study: str) -> None:
    plots = StudyPaths(RESULTS / study).plots
    names = {path.stem for path in plots.glob("*.svg")}
    assert names >= {"accuracy", "accuracy_size", "runtime", "cactus", "ranks"}


@pytest.mark.parametrize("study", WITH_PAGE)
def test_every_kept_formula_is_proved(study: str) -> None:
    for path in results_of(study):
        done = json.loads(path.read_text(encoding="utf-8"))
        assert done["proved"] is (done["solver"] != "optuna"), path


def test_every_formula_of_peers_is_proved_unless_its_time_limit_was_reached() -> None:
    for path in results_of("peers"):
        done = json.loads(path.read_text(encoding="utf-8"))
        if done["formula"] is not None:
            assert done["proved"] or done["final_end"] == "timeout", path


def test_keeping_a_study_takes_in_what_adds_to_it(tmp_path: Path) -> None:
    running, kept = tmp_path / "running", tmp_path / "kept"
    for number in range(3):
        fold = Path("hepatitis", "median", f"fold-{number}")
        shutil.copytree(RESULTS / "paper_plateau" / fold, running / fold)
    goes_on = running / "hepatitis" / "median" / "fold-2" / "scan.json"
    state = json.loads(goes_on.read_text(encoding="utf-8"))
    goes_on.write_text(json.dumps(state | {"stop_reason": None}), encoding="utf-8")
    assert keep(running, kept) == 2
    assert keep(running, kept) == 0
    cut = kept / "hepatitis" / "median" / "fold-0" / "result.json"
    done = json.loads(cut.read_text(encoding="utf-8"))
    cut.write_text(json.dumps(done | {"stop_reason": "timeout"}), encoding="utf-8")
    assert keep(running, kept) == 1
    assert not (kept / "hepatitis" / "median" / "fold-2").exists()


def test_a_fold_that_names_a_place_of_its_machine_is_not_kept(tmp_path: Path) -> None:
    fold = Path("hepatitis", "median", "fold-0")
    shutil.copytree(RESULTS / "paper_plateau" / fold, tmp_path / "running" / fold)
    found = tmp_path / "running" / fold / "result.json"
    done = json.loads(found.read_text(encoding="utf-8"))
    done["provenance"]["table"] = "/somewhere/table.csv"
    found.write_text(json.dumps(done), encoding="utf-8")
    assert keep(tmp_path / "running", tmp_path / "kept") == 0


def laid_out(results: Path, study: str, *folds: str) -> None:
    """Some folds of a kept study, as a study of that name in another folder of results."""
    for fold in folds:
        shutil.copytree(RESULTS / study / fold, results / study / fold)
    shutil.copyfile(RESULTS / study / "study.json", results / study / "study.json")


def test_a_study_goes_on_from_what_another_has_proved(tmp_path: Path) -> None:
    laid_out(tmp_path, "paper", "hepatitis/median/fold-4", "hepatitis/xgboost/fold-4")
    assert reuse_progress.main(["paper_plateau", f"--results={tmp_path}"]) == 0
    words = ["+experiment=paper_plateau", f"results_dir={tmp_path}", "dataset=hepatitis", "fold=4"]
    for method in ("median", "xgboost"):
        made = run_fold(compose([*words, f"method={method}"]))
        kept = RESULTS / "paper_plateau" / "hepatitis" / method / "fold-4" / "result.json"
        assert made is not None
        assert made.accuracy.test == json.loads(kept.read_text())["accuracy"]["test"]
        if method == "median":  # the seconds are those of the other study: nothing is searched anew
            proved = json.loads(
                (tmp_path / f"paper/hepatitis/{method}/fold-4/scan.json").read_text()
            )
            assert made.stop_reason == "plateau"
            assert made.lengths == proved["lengths"][: len(made.lengths)]


def test_a_study_takes_nothing_over_where_it_came_as_far_or_to_its_own_end(tmp_path: Path) -> None:
    fold = "hepatitis/median/fold-4"
    laid_out(tmp_path, "paper", fold)
    laid_out(tmp_path, "paper_plateau", fold)
    own_end = (tmp_path / "paper_plateau" / fold / "scan.json").read_bytes()
    for _ in range(2):
        assert reuse_progress.reuse([tmp_path / "paper"], tmp_path / "paper_plateau") == 0
        assert reuse_progress.reuse([tmp_path / "paper_plateau"], tmp_path / "paper") == 0
    assert (tmp_path / "paper_plateau" / fold / "scan.json").read_bytes() == own_end


def test_a_scan_of_other_rows_that_is_taken_over_is_not_gone_on_from(tmp_path: Path) -> None:
    fold = "hepatitis/median/fold-4"
    laid_out(tmp_path, "paper", fold)
    reuse_progress.reuse([tmp_path / "paper"], tmp_path / "other")
    assert (tmp_path / "other" / fold / "scan.json").exists()
    words = ["study=other", f"results_dir={tmp_path}", "dataset=hepatitis", "method=median"]
    made = run_fold(compose([*words, "fold=4", "seed=7", "solver=native", "scan.max_length=2"]))
    proved = json.loads((tmp_path / "paper" / fold / "scan.json").read_text())
    assert made is not None
    assert made.lengths[0]["train_accuracy"] != proved["lengths"][0]["train_accuracy"]


def test_a_scan_of_other_rows_is_kept_before_another_takes_its_place(tmp_path: Path) -> None:
    fold = "hepatitis/median/fold-4"
    laid_out(tmp_path, "paper", fold)
    ours = tmp_path / "other" / fold / "scan.json"
    state = json.loads((tmp_path / "paper" / fold / "scan.json").read_text())
    ours.parent.mkdir(parents=True)
    ours.write_text(
        json.dumps(state | {"fingerprint": "of other rows", "lengths": [], "spare": []})
    )
    before = ours.read_text()
    assert reuse_progress.reuse([tmp_path / "paper"], tmp_path / "other") == 1
    (kept,) = ours.parent.glob("scan.outdated-*.json")
    assert kept.read_text() == before


def test_a_fold_whose_files_cannot_be_read_is_left_alone(tmp_path: Path) -> None:
    whole, cut = "hepatitis/median/fold-4", "hepatitis/median/fold-5"
    laid_out(tmp_path, "paper", whole, cut)
    (tmp_path / "paper" / cut / "scan.json").write_text('{"format": 1, "leng')
    assert reuse_progress.reuse([tmp_path / "paper"], tmp_path / "paper_plateau") == 1
    assert (tmp_path / "paper_plateau" / whole / "scan.json").exists()
    assert not (tmp_path / "paper_plateau" / cut).exists()


def test_a_refit_adds_symbols_and_scores_to_an_ensemble_of_0_2(tmp_path: Path) -> None:
    laid_out(tmp_path, "paper", "hepatitis/random_forest/fold-0", "hepatitis/random_forest/fold-1")
    other = tmp_path / "paper/hepatitis/random_forest/fold-1/result.json"
    done = json.loads(other.read_text())
    done["confusion"]["true_positive"] -= 1
    done["confusion"]["false_negative"] += 1
    other.write_text(json.dumps(done))
    before = other.read_text()
    assert refit_baselines.main(["paper", f"--results={tmp_path}"]) == 1
    made = json.loads((other.parents[1] / "fold-0" / "result.json").read_text())
    assert made["model"]["symbols"] > 0
    assert 0 < made["scores"]["auc"] < 1
    assert other.read_text() == before
