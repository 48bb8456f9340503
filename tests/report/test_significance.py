"""What a difference between methods is worth: tests against numbers computed another way."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from fsm_hpc.errors import UserError
from fsm_hpc.report import collect, mixture, significance
from fsm_hpc.report.collect import Study
from fsm_hpc.report.figures import ranks
from fsm_hpc.report.significance import Ranks
from fsm_hpc.report.tables.builder import FORMATS, ReportOptions, TableBuilder
from fsm_hpc.study.files import StudyPaths
from tests.support import golden_files
from tests.support.command_line import place_of, run_command
from tests.support.latex import compile_latex, needs_latex
from tests.support.made_studies import fold_result, large_study, put

TABLES = ("pairs", "pairs_overall", "ranks", "measures")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return collect.read(large_study(tmp_path_factory.mktemp("large")))


def study_of(folder: Path, **tests: list[float]) -> Study:
    """A study of one dataset: the test accuracy of every fold by method."""
    paths = StudyPaths(folder / "made")
    for method, shares in tests.items():
        for fold, share in enumerate(shares):
            made = fold_result("bank", method, fold)
            put(paths, replace(made, accuracy=replace(made.accuracy, test=share)))
    return collect.read(paths)


def test_the_corrected_test_is_that_of_nadeau_and_bengio(tmp_path: Path) -> None:
    ours, theirs = [0.80, 0.85, 0.79, 0.91], [0.78, 0.80, 0.80, 0.88]
    (found,) = significance.differences(study_of(tmp_path, pivot=ours, xgboost=theirs), "accuracy")
    points = 100 * (np.array(ours) - np.array(theirs))
    error = points.std(ddof=1) * math.sqrt(1 / 4 + 13 / (81 + 35))
    assert found.mean == pytest.approx(points.mean())
    assert found.half_width == pytest.approx(3.182446 * error)  # t, 3 degrees of freedom, 97.5 %
    assert found.p == pytest.approx(two_sided(points.mean() / error), rel=1e-3)


def two_sided(t: float) -> float:
    """Student's distribution with 3 degrees of freedom has a closed form."""
    x = abs(t) / math.sqrt(3)
    return 1 - 2 / math.pi * (x / (1 + x * x) + math.atan(x))


@pytest.mark.parametrize(
    ("ours", "said"),
    [
        ([0.90, 0.91, 0.92], "better"),
        ([0.70, 0.71, 0.72], "worse"),
        ([0.801, 0.810, 0.821], "not worse"),
        ([0.70, 0.85, 0.90], "open"),
    ],
)
def test_no_more_is_said_than_the_interval_allows(
    ours: list[float], said: str, tmp_path: Path
) -> None:
    study = study_of(tmp_path, pivot=ours, xgboost=[0.80, 0.81, 0.82])
    (found,) = significance.differences(study, "accuracy")
    assert found.conclusion(margin=1.0) == said


def test_a_difference_that_never_varies_is_no_accident(tmp_path: Path) -> None:
    same = study_of(tmp_path, pivot=[0.5, 0.6], xgboost=[0.5, 0.6])
    assert significance.differences(same, "accuracy")[0].p == 1.0
    other = study_of(tmp_path / "other", pivot=[0.75, 0.75], xgboost=[0.5, 0.5])
    assert significance.differences(other, "accuracy")[0].p == 0.0


def test_signed_ranks_are_those_of_all_signs(large: Study) -> None:
    found = significance.differences(large, "accuracy")
    for one in significance.overall(large.methods, found):
        sizes = np.argsort(np.argsort(np.abs(one.differences))) + 1
        seen = abs(sum(sizes * np.sign(one.differences)))
        sums = [abs(sum(sizes * signs)) for signs in product((-1, 1), repeat=len(sizes))]
        assert one.p == pytest.approx(np.mean(np.array(sums) >= seen))


def test_holm_counts_every_pair_that_is_tested(large: Study) -> None:
    found = significance.overall(large.methods, significance.differences(large, "accuracy"))
    ordered = sorted(found, key=lambda one: one.p)
    assert ordered[0].adjusted == pytest.approx(min(1.0, 10 * ordered[0].p))
    assert [one.adjusted for one in ordered] == sorted(one.adjusted for one in ordered)


def test_the_critical_difference_is_nemenyis(large: Study) -> None:
    found = significance.ranks(large, "accuracy")
    assert found is not None
    assert found.critical == pytest.approx(2.728 * math.sqrt(5 * 6 / (6 * 7)), abs=1e-3)
    assert sum(rank for _, rank in found.ranks) == pytest.approx(15)


def test_neighbours_within_the_critical_difference_are_joined_once() -> None:
    found = Ranks((("a", 1.0), ("b", 1.8), ("c", 2.4), ("d", 4.8)), 9, 0.01, 1.0)
    assert found.not_different == [("a", "b"), ("b", "c")]


def test_a_dataset_without_one_of_the_methods_has_no_rank(tmp_path: Path) -> None:
    assert significance.ranks(study_of(tmp_path, pivot=[0.5], xgboost=[0.6]), "accuracy") is None


@pytest.mark.parametrize("extension", FORMATS)
@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_differences_is_the_one_that_was_looked_at(
    large: Study, name: str, extension: str
) -> None:
    made = {
        t.name: t
        for t in TableBuilder(large, mixture.find(large), ReportOptions(compare=True)).all()
    }
    golden_files.check(f"compare/{name}.{extension}", FORMATS[extension](made[name]))


def test_the_command_compares_by_any_measure_and_margin(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = StudyPaths(tmp_path / "tiny")
    put(paths, *(fold_result("bank", m, f) for m in ("pivot", "xgboost") for f in range(3)))
    assert run_command("collect", *place_of(paths), "--metric", "f1", "--margin", "2.5") == 0
    told = capsys.readouterr().out
    assert "F1 score on the held-out rows: the method minus the other" in told
    assert "above -2.5 points" in told
    assert "no p can be below 0.05" in told
    with pytest.raises(UserError, match="expected points from 0 to 100"):
        run_command("collect", *place_of(paths), "--margin", "-1")


@needs_latex
def test_the_diagram_of_ranks_compiles(large: Study, tmp_path: Path) -> None:
    found = significance.ranks(large, "accuracy")
    assert found is not None
    (tmp_path / "ranks.tex").write_text(ranks.source(found), encoding="utf-8")
    (tmp_path / "main.tex").write_text(
        "\\documentclass{article}\\usepackage{tikz}"
        "\\begin{document}\\noindent\\input{ranks}\\end{document}"
    )
    assert "Overfull" not in compile_latex(tmp_path / "main.tex")
