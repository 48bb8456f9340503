"""The figures: there, the same for the same results, and with every name as it is."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from fsm_hpc.report import collect, significance
from fsm_hpc.report.collect import Study
from fsm_hpc.report.figures import drawings as figures
from fsm_hpc.report.figures import files as plots
from fsm_hpc.report.figures.pgfplots import accuracy_source
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.study.measures import Confusion
from fsm_hpc.study.result import Accuracy
from tests.support.command_line import place_of, run_command
from tests.support.latex import compile_latex, has_style, needs_latex
from tests.support.made_studies import AWKWARD, fold_result, put, small_study

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return collect.read(small_study(tmp_path_factory.mktemp("study")))


@pytest.fixture(scope="module")
def tiny_paths(tmp_path_factory: pytest.TempPathFactory) -> StudyPaths:
    paths = StudyPaths(tmp_path_factory.mktemp("tiny") / "tiny")
    put(paths, *(fold_result("hepatitis", m, f) for m in ("pivot", "xgboost") for f in (0, 1)))
    return paths


@pytest.fixture(scope="module")
def tiny(tiny_paths: StudyPaths) -> Study:
    return collect.read(tiny_paths)


@pytest.fixture(scope="module")
def drawn(tiny_paths: StudyPaths) -> Path:
    assert run_command("collect", *place_of(tiny_paths), "--plots", "--paper") == 0
    return tiny_paths.plots


NAMES = ("accuracy", "accuracy_size", "cactus", "runtime", "lengths/hepatitis-pivot")


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_is_drawn_as_pdf_svg_and_png(drawn: Path, name: str) -> None:
    assert (drawn / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    assert (drawn / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    ElementTree.parse(drawn / f"{name}.svg")


def test_the_same_results_give_the_same_files(drawn: Path, tiny: Study, tmp_path: Path) -> None:
    for again in plots.write(tmp_path, tiny, paper=True):
        assert again.read_bytes() == (drawn / again.relative_to(tmp_path)).read_bytes()


def words(figure: str) -> str:
    root = ElementTree.fromstring(figure)
    return " ".join(t for e in root.iter("{http://www.w3.org/2000/svg}text") for t in e.itertext())


def test_names_stand_in_a_figure_as_they_are(study: Study) -> None:
    assert AWKWARD in words(plots.svg(partial(figures.accuracy, study)))


def test_bars_have_their_unit_and_mark_what_is_not_whole(study: Study) -> None:
    text = words(plots.svg(partial(figures.accuracy, study)))
    assert "test accuracy (%)" in text
    assert "83.0 ± 2.0 *" in text
    assert "* some folds are missing, unproved or timed out" in text


def test_a_whole_study_has_no_asterisk(tmp_path: Path) -> None:
    paths = StudyPaths(tmp_path / "whole")
    put(paths, *(fold_result("hepatitis", "pivot", fold) for fold in range(10)))
    assert "*" not in words(plots.svg(partial(figures.accuracy, collect.read(paths))))


def test_bars_are_as_long_as_the_mean_and_the_deviation(tiny: Study) -> None:
    with plots._styled():
        axes = figures.accuracy(tiny).axes[0]
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([80.5, 81.5])
    whiskers = [line.get_segments()[0] for line in axes.collections]
    assert whiskers[0][:, 0] == pytest.approx([80.0, 81.0])


def test_bars_are_centred_on_the_label_of_their_dataset(study: Study) -> None:
    with plots._styled():
        axes = figures.accuracy(study).axes[0]
    middles = sorted(bar.get_y() + bar.get_height() / 2 for bar in axes.patches)
    third = 0.8 / 3  # the thickness of a bar where there are three methods
    assert middles[:2] == pytest.approx([-third / 2, third / 2])  # interval is not there
    assert middles[2:] == pytest.approx([1 - third, 1, 1 + third])


def test_bars_of_a_method_without_results_leave_no_gap(tmp_path: Path) -> None:
    paths = StudyPaths(tmp_path / "begun")
    put(paths, fold_result("hepatitis", "pivot", 0), fold_result("hepatitis", "xgboost", 0))
    paths.fold(FoldId("hepatitis", "interval", 0)).folder.mkdir(parents=True)
    with plots._styled():
        bars = figures.accuracy(collect.read(paths), with_paper=True).axes[0].patches
    middles = [bar.get_y() + bar.get_height() / 2 for bar in bars]
    assert middles == pytest.approx([-0.8 / 6, 0.8 / 6])


def test_bars_of_pgfplots_are_centred_on_the_label_of_their_dataset(study: Study) -> None:
    text = accuracy_source(study, figures.COLOURS)
    assert "bar shift=0pt" in text  # or pgfplots would set the bars apart itself
    rows = re.findall(r"^ +[\d.]+ (-?[\d.]+) [\d.]+$", text, re.MULTILINE)
    fourth = 1 / 4  # three methods, and a gap between datasets
    middles = sorted(float(place) for place in rows)
    assert middles == pytest.approx([-fourth / 2, fourth / 2, 1 - fourth, 1, 1 + fourth])


def test_times_are_centred_on_the_label_of_their_dataset(study: Study) -> None:
    with plots._styled():
        lines = figures.runtime(study).axes[0].lines
    places = sorted({round(float(x), 3) for line in lines for x in line.get_xdata()})
    assert places == pytest.approx([-0.175, 0.175, 0.65, 1, 1.35])


def test_datasets_are_told_apart_by_shape_and_methods_by_colour(study: Study) -> None:
    with plots._styled():
        figure = figures.accuracy_against_size(study)
    clouds = figure.axes[0].collections
    shapes = {tuple(cloud.get_paths()[0].vertices.ravel()) for cloud in clouds}
    colours = {tuple(cloud.get_facecolor()[0]) for cloud in clouds}
    assert (len(clouds), len(shapes), len(colours)) == (5, 2, 3)
    names = [[text.get_text() for text in legend.get_texts()] for legend in figure.legends]
    assert names[0] == ["pivot", "interval", "random forest"]
    assert names[1][1] == "hepatitis"


def test_the_chosen_length_is_marked_in_every_panel(tiny: Study) -> None:
    with plots._styled():
        panels = figures.lengths(tiny.groups["hepatitis", "pivot"]).axes
    assert [panel.get_title() for panel in panels] == ["fold 0", "fold 1"]
    for panel in panels:
        assert [line.get_xdata()[0] for line in panel.lines if line.get_linestyle() == "--"] == [4]


def test_the_cactus_counts_the_proved_lengths(tiny: Study) -> None:
    with plots._styled():
        lines = figures.cactus(tiny).axes[0].lines
    assert [len(line.get_xdata()) for line in lines] == [12]  # two folds of six lengths
    assert list(lines[0].get_ydata()) == sorted(lines[0].get_ydata())


def test_size_is_symbols_of_a_formula_or_nodes_of_trees(tiny: Study) -> None:
    with plots._styled():
        clouds = figures.accuracy_against_size(tiny).axes[0].collections
    assert clouds[0].get_offsets()[0][0] == pytest.approx(4, rel=0.1)
    assert clouds[1].get_offsets()[0][0] == pytest.approx(2222, rel=0.1)


def test_a_study_without_any_result_draws_what_it_has(tmp_path: Path) -> None:
    paths = StudyPaths(tmp_path / "empty")
    paths.fold(FoldId("hepatitis", "pivot", 0)).folder.mkdir(parents=True)
    assert list(plots.draw(collect.read(paths))) == []


def test_a_figure_for_a_page_takes_the_pages_colour(tiny: Study) -> None:
    text = plots.svg(partial(figures.cactus, tiny))
    assert "currentColor" in text
    assert "#000000" not in text


@needs_latex
@pytest.mark.skipif(not has_style("pgfplots.sty"), reason="pgfplots is not installed")
def test_the_pgfplots_source_compiles(study: Study, tmp_path: Path) -> None:
    (tmp_path / "bars.tex").write_text(accuracy_source(study, figures.COLOURS), encoding="utf-8")
    (tmp_path / "main.tex").write_text(
        "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{lmodern,pgfplots}"
        "\\pgfplotsset{compat=1.16}\\begin{document}\\input{bars}\\end{document}"
    )
    compile_latex(tmp_path / "main.tex")


# ------------------------------------------------------------------------------------- --metric


LOUD = Confusion(9, 10, 90, 1)  # right on 99 of 110, balanced accuracy 90 %
QUIET = Confusion(0, 0, 100, 10)  # right on 100 of 110, balanced accuracy 50 %


@pytest.fixture(scope="module")
def by_balance(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Figures by balanced accuracy, of methods that accuracy puts in the other order."""
    paths = StudyPaths(tmp_path_factory.mktemp("metric") / "metric")
    matrices = {"pivot": LOUD, "xgboost": QUIET}
    for dataset in ("bank", "hepatitis"):
        for method, matrix in matrices.items():
            right = Accuracy(0.9, 0.9, matrix.accuracy or 0.0)
            folds = (fold_result(dataset, method, f, confusion=matrix) for f in (0, 1))
            put(paths, *(replace(done, accuracy=right) for done in folds))
    assert run_command("collect", *place_of(paths), "--plots", "--metric", "balanced_accuracy") == 0
    return paths.plots


def test_the_critical_difference_diagram_ranks_by_the_chosen_metric(by_balance: Path) -> None:
    source = (by_balance / "ranks.tex").read_text()
    assert "pivot (1.00)" in source
    assert "XGBoost (2.00)" in source
    assert "test balanced accuracy" in source


def test_bars_and_sizes_show_the_chosen_metric(by_balance: Path) -> None:
    names = {path.name for path in by_balance.glob("*.svg")}
    assert {"balanced_accuracy.svg", "balanced_accuracy_size.svg"} <= names
    assert not {"accuracy.svg", "accuracy_size.svg"} & names
    source = (by_balance / "balanced_accuracy.tex").read_text()
    assert "test balanced accuracy" in source
    assert "        90.00 " in source
    assert "        50.00 " in source


@pytest.mark.parametrize("metric", ["accuracy", "balanced_accuracy"])
def test_the_diagram_of_the_kept_study_ranks_by_the_chosen_metric(metric: str) -> None:
    study = collect.read(StudyPaths(ROOT / "results" / "paper"))
    ranked = significance.ranks(study, metric)
    assert ranked is not None
    diagram = next(figure for name, figure in plots.draw(study, metric=metric) if name == "ranks")
    texts = " ".join(text.get_text() for text in diagram.axes[0].texts)
    assert all(f"{rank:.2f}" in texts for _, rank in ranked.ranks)
    assert f"test {metric.replace('_', ' ')}" in texts
