"""The tables of formulas beside other models, made from a small study."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from benchmarks import factors, peers
from benchmarks.reproduction import ROOT, rewritten
from fsm_hpc.report import collect
from fsm_hpc.report.collect import Study
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.study.result import Accuracy
from tests.support.made_studies import fold_result, put

# test accuracy of each method; validation accuracy follows it
ACCURACIES = {
    "hepatitis": {"pivot": 0.90, "logistic_regression": 0.80, "ebm": 0.85},
    "bank": {"pivot": 0.70, "logistic_regression": 0.85, "ebm": 0.90},
    "diabetes": {"pivot": 0.80, "logistic_regression": 0.80, "ebm": 0.80},
}
SYMBOLS = {"logistic_regression": 16, "ebm": 80}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    paths = StudyPaths(tmp_path_factory.mktemp("results") / "peers")
    for dataset, methods in ACCURACIES.items():
        for method, share in methods.items():
            _put(paths, dataset, method, share)
    return collect.read(paths)


def _put(study: StudyPaths, dataset: str, method: str, share: float, variant: str = "") -> None:
    for fold in range(10):
        near = share + 0.002 * (fold % 3)
        changes: dict[str, Any] = {"accuracy": Accuracy(train=near, validation=near, test=near)}
        if method in SYMBOLS:
            changes |= {"model": {"symbols": SYMBOLS[method]}}
        put(study, fold_result(dataset, method, fold, variant, **changes))


def test_wins_ties_and_losses_are_counted_over_the_tables(study: Study) -> None:
    lines = {line.split("|")[1].strip(): line for line in peers.against(study)[2:]}
    assert lines["logistic regression"].startswith("| logistic regression | 3 | 1 | 1 | 1 |")


def test_the_summary_states_size_and_accuracy_against_every_other_model(study: Study) -> None:
    sentence = "- EBM: formulas are 20.0 times shorter and 5.0 points less accurate "
    assert any(line.startswith(sentence) for line in peers.summary(study))


def test_the_cost_of_missing_folds_is_expected_from_the_finished_ones(tmp_path: Path) -> None:
    paths = StudyPaths(tmp_path / "peers")
    _put(paths, "hepatitis", "ebm", 0.9)
    study = collect.read(paths)
    seconds = fmean(peers._processor_s(row) for row in study.rows)
    line = next(line for line in peers.coverage(study) if line.startswith("| EBM |"))
    assert line.endswith(f"| {140 * seconds / 3600:.1f} |")


def test_sizes_are_told_for_each_symbol_of_the_formula(study: Study) -> None:
    lines = {line.split("|")[1].strip(): line for line in peers.against(study)[2:]}
    assert lines["EBM"].endswith("| 80.0 | 20.0 |")
    assert lines["logistic regression"].endswith("| 16.0 | 4.0 |")


def test_what_a_rule_costs_stands_beside_what_is_known_before(study: Study) -> None:
    lines = peers.enough(study)[2:]
    assert lines[0].startswith("| hepatitis | +10.0 | – | +5.0 | EBM |")
    assert lines[2].startswith("| bank | -15.0 | – | -20.0 | EBM |")
    assert lines[2].endswith("| no | no |")
    assert any("The prediction is right on 3 of 3 tables." in line for line in lines)


def test_an_incomplete_cell_counts_for_nothing_and_is_listed(tmp_path: Path) -> None:
    paths = StudyPaths(tmp_path / "peers")
    _put(paths, "hepatitis", "pivot", 0.9)
    _put(paths, "hepatitis", "ebm", 0.9)
    paths.fold(FoldId("hepatitis", "ebm", 3)).result.unlink()
    study = collect.read(paths)
    assert any(line.startswith("| EBM | 9 | bank (10),") for line in peers.coverage(study))
    assert not any("EBM" in line for line in peers.methods(study))
    assert peers.accuracies(study)[-1].endswith("| **90.2** | – |")


def test_the_page_shows_the_tables_of_the_kept_results() -> None:
    text = peers.PAGE.read_text(encoding="utf-8")
    made = rewritten(text, peers.blocks(ROOT / "results"))
    assert made == text, "python -m benchmarks.peers --write"


def test_a_factor_is_compared_with_the_reference_on_the_same_tables(tmp_path: Path) -> None:
    paths = StudyPaths(tmp_path / "factors")
    for number, dataset in enumerate(("hepatitis", "bank", "diabetes")):
        _put(paths, dataset, "pivot", 0.8)
        _put(paths, dataset, "pivot", 0.81 + number / 100, "scan.splits=5")
    _put(paths, "bank", "pivot", 0.8, "cuts=quantiles+cuts.n=10")
    study = collect.read(paths)
    lines = {line.split("|")[1].strip(): line for line in factors.table(study) if "|" in line}
    assert lines["`scan.splits=5`"].startswith("| `scan.splits=5` | 3 | +2.00 (-0.48 to +4.48) |")
    assert lines["`cuts=quantiles`"].startswith("| `cuts=quantiles` | 1 | 0.00 (")
    assert "Without results: `objective=balanced`" in factors.table(study)[-1]


def test_the_figure_has_means_over_the_tables_of_all_shown_methods(tmp_path: Path) -> None:
    paths = StudyPaths(tmp_path / "peers")
    for dataset in ("bank", "diabetes", "hepatitis"):
        _put(paths, dataset, "logistic_regression", 0.8)
    for dataset in ("bank", "diabetes"):
        _put(paths, dataset, "ebm", 0.9)
    _put(paths, "bank", "pivot", 0.7)
    points, tables = peers._drawn(collect.read(paths))
    assert tables == 2
    assert {method for _, _, method in points} == {"logistic_regression", "ebm"}


def test_the_figure_is_the_same_on_every_run(study: Study, tmp_path: Path) -> None:
    for name in ("first.svg", "second.svg"):
        peers.draw(study, tmp_path / name)
    assert (tmp_path / "first.svg").read_bytes() == (tmp_path / "second.svg").read_bytes()
