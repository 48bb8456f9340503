"""The tables of formulas beside other models, made from a small study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import peers
from fsm_hpc.report import collect
from fsm_hpc.report.collect import Study
from fsm_hpc.study.files import StudyPaths
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


def _put(study: StudyPaths, dataset: str, method: str, share: float) -> None:
    for fold in range(10):
        near = share + 0.002 * (fold % 3)
        changes: dict[str, Any] = {"accuracy": Accuracy(train=near, validation=near, test=near)}
        if method in SYMBOLS:
            changes |= {"model": {"symbols": SYMBOLS[method]}}
        put(study, fold_result(dataset, method, fold, **changes))


def test_wins_ties_and_losses_are_counted_over_the_tables(study: Study) -> None:
    lines = {line.split("|")[1].strip(): line for line in peers.against(study)[2:]}
    assert lines["logistic regression"].startswith("| logistic regression | 1 | 1 | 1 |")


def test_sizes_are_told_for_each_symbol_of_the_formula(study: Study) -> None:
    lines = {line.split("|")[1].strip(): line for line in peers.against(study)[2:]}
    assert lines["EBM"].endswith("| 80.0 | 20.0 |")
    assert lines["logistic regression"].endswith("| 16.0 | 4.0 |")


def test_what_a_rule_costs_stands_beside_what_is_known_before(study: Study) -> None:
    lines = peers.enough(study)[2:]
    assert lines[0].startswith("| hepatitis | +10.0 | +5.0 | EBM |")
    assert lines[2].startswith("| bank | -15.0 | -20.0 | EBM |")
    assert "not behind logistic regression on the validation rows (2 tables)" in lines[-1]


def test_the_figure_is_the_same_on_every_run(study: Study, tmp_path: Path) -> None:
    for name in ("first.svg", "second.svg"):
        peers.draw(study, tmp_path / name)
    assert (tmp_path / "first.svg").read_bytes() == (tmp_path / "second.svg").read_bytes()
