"""Every table, in every format, against files that were looked at; LaTeX really compiles."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from fsm_hpc.report import collect, mixture
from fsm_hpc.report.collect import Study
from fsm_hpc.report.tables import builder as tables
from fsm_hpc.report.tables import paper
from fsm_hpc.report.tables.builder import FORMATS, ReportOptions, TableBuilder
from fsm_hpc.report.tables.latex import latex_text, to_latex
from fsm_hpc.report.tables.tabular import Cell, Heading, Line, Math, Table, show_number
from fsm_hpc.report.tables.text import markdown_text, to_csv, to_markdown, to_terminal
from fsm_hpc.study.files import StudyPaths
from tests.support import golden_files
from tests.support.latex import compile_latex, needs_latex, text_of
from tests.support.made_studies import AWKWARD, AWKWARD_COLUMN, fold_result, put, small_study

NAMES = ("coverage", "accuracy", "formulas_pivot", "formulas_interval", "runtimes")
VARIANTS = {"plain": ReportOptions(), "paper": ReportOptions(paper=True, names=True)}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return collect.read(small_study(tmp_path_factory.mktemp("study")))


def made(study: Study, options: ReportOptions) -> dict[str, Table]:
    return {t.name: t for t in TableBuilder(study, mixture.find(study), options).all()}


@pytest.mark.parametrize("extension", FORMATS)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_the_one_that_was_looked_at(
    study: Study, name: str, variant: str, extension: str
) -> None:
    table = made(study, VARIANTS[variant])[name]
    golden_files.check(f"{variant}/{name}.{extension}", FORMATS[extension](table))


@pytest.mark.parametrize("name", ["accuracy", "formulas_pivot"])
def test_a_terminal_shows_names_as_they_are(study: Study, name: str) -> None:
    golden_files.check(f"terminal/{name}.txt", to_terminal(made(study, ReportOptions())[name]))


def test_the_golden_files_cover_every_table(study: Study) -> None:
    assert tuple(made(study, ReportOptions())) == NAMES


# ------------------------------------------------------------------------------------------ LaTeX


@needs_latex
@pytest.mark.parametrize("variant", VARIANTS)
def test_all_tables_compile_as_one_document(study: Study, variant: str, tmp_path: Path) -> None:
    tables.write(tmp_path, list(made(study, VARIANTS[variant]).values()))
    said = compile_latex(tmp_path / "all.tex")
    assert "Overfull" not in said
    assert "Missing character" not in said


@needs_latex
@pytest.mark.parametrize("name", NAMES)
def test_each_table_compiles_in_a_document_of_the_users(
    study: Study, name: str, tmp_path: Path
) -> None:
    table = made(study, ReportOptions())[name]
    (tmp_path / f"{name}.tex").write_text(to_latex(table).replace("名", "x"), encoding="utf-8")
    (tmp_path / "mine.tex").write_text(
        "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{lmodern,booktabs}"
        f"\\begin{{document}}\\input{{{name}}} See Table~\\ref{{tab:fsm-{name}}}.\\end{{document}}"
    )
    compile_latex(tmp_path / "mine.tex")


@needs_latex
def test_special_characters_come_out_right_in_the_pdf(study: Study, tmp_path: Path) -> None:
    tables.write(tmp_path, [made(study, ReportOptions())["accuracy"]], ["tex"])
    compile_latex(tmp_path / "all.tex")
    assert AWKWARD in text_of(tmp_path / "all.pdf")


@needs_latex
def test_greek_and_signs_come_out_right_and_other_alphabets_by_their_code(tmp_path: Path) -> None:
    table = Table("odd", "α ≤ β: über, naïve, Łódź", (Heading("名", is_text=True),), ())
    tables.write(tmp_path, [table], ["tex"])
    compile_latex(tmp_path / "all.tex")
    shown = text_of(tmp_path / "all.pdf")
    assert "α ≤ β: über, naïve, Łódź" in shown
    assert "[U+540D]" in shown


@needs_latex
def test_a_table_longer_than_a_page_is_broken_over_pages(tmp_path: Path) -> None:
    columns = (Heading("name", is_text=True), Heading("value"))
    lines = tuple(
        Line((Cell(f"n{n}"), Cell(float(n), note="odd" if n % 2 else ""))) for n in range(150)
    )
    tables.write(tmp_path, [Table("long", "Long", columns, lines)], ["tex"])
    compile_latex(tmp_path / "all.tex")
    shown = text_of(tmp_path / "all.pdf")
    assert "n0" in shown
    assert "n149" in shown


@needs_latex
def test_signs_that_tex_would_join_stay_apart(tmp_path: Path) -> None:
    odd = "a--b ---c <<d>> e,,f ''g'' `h`"
    tables.write(tmp_path, [Table("odd", odd, (Heading("x", is_text=True),), ())], ["tex"])
    compile_latex(tmp_path / "all.tex")
    assert odd.replace("'", "’") in text_of(tmp_path / "all.pdf")


def test_text_is_escaped_for_latex() -> None:
    assert latex_text("a_b %&#${}") == r"a\_b \%\&\#\$\{\}"


# ------------------------------------------------------------------------- bold, digits, footnotes


def one_line(*values: float | None, better: str = "max", digits: int = 1) -> Table:
    function = {"max": max, "min": min}[better]
    columns = tuple(Heading(f"c{n}", better=function, digits=digits) for n in range(len(values)))
    return Table("t", "T", columns, (Line(tuple(Cell(value) for value in values)),))


@pytest.mark.parametrize(
    ("values", "better", "best"),
    [
        ((80.0, 85.0, 70.0), "max", {1}),
        ((80.0, 85.0, 70.0), "min", {2}),
        ((85.04, 84.96, 70.0), "max", {0, 1}),  # a reader sees 85.0 twice
        ((None, 85.0, 84.0), "max", {1}),
        ((None, 85.0, None), "max", set()),  # the best of one is no news
    ],
)
def test_the_best_of_a_row_and_its_ties_are_bold(
    values: tuple[float | None, ...], better: str, best: set[int]
) -> None:
    table = one_line(*values, better=better)
    assert table.best(table.lines[0]) == best


def test_a_difference_has_a_sign_and_no_winner() -> None:
    columns = (Heading("a", better=max), Heading("b", better=max))
    table = Table("t", "T", columns, (Line((Cell(0.31), Cell(-0.04)), is_difference=True),))
    assert "| +0.3 | 0.0 |" in " ".join(to_markdown(table).split())


@pytest.mark.parametrize(
    ("value", "text"), [(12.345, "12.3"), (-0.04, "0.0"), (-1.0, "-1.0"), (98403.0, "98403.0")]
)
def test_numbers_show_the_digits_of_their_column(value: float, text: str) -> None:
    assert show_number(value, Heading("x")) == text


def test_equal_notes_share_a_letter_and_letters_go_on_after_z() -> None:
    cells = [Line((Cell(1.0, note=f"note {n % 30}"),)) for n in range(60)]
    table = Table("t", "T", (Heading("a"),), tuple(cells))
    assert len(table.notes) == 30
    assert table.notes["note 0"] == "a"
    assert table.notes["note 29"] == "ad"


def test_every_table_that_trouble_touches_has_its_footnote(study: Study) -> None:
    for name in ("accuracy", "formulas_pivot", "runtimes"):
        notes = " ".join(made(study, ReportOptions())[name].notes)
        assert "7 of 10 folds (3 missing); 1 unproved" in notes
        assert "1 timeout and 1 out of memory" in notes


def test_a_mixture_is_a_footnote_of_the_cell_it_is_in(study: Study) -> None:
    notes = " ".join(made(study, ReportOptions())["accuracy"].notes)
    assert "mixes trials 100 (fold 0) and trials 50 (fold 1)" in notes


def test_deviation_is_that_of_the_population(tmp_path: Path) -> None:
    paths = StudyPaths(tmp_path / "two")
    put(paths, fold_result("hepatitis", "pivot", 0), fold_result("hepatitis", "pivot", 2))
    table = made(collect.read(paths), ReportOptions())["accuracy"]
    cell = table.lines[0].cells[1]
    assert cell.value == pytest.approx(81.0)
    assert cell.deviation == pytest.approx(1.0)  # the sample's would be 1.4


def test_core_hours_are_seconds_times_threads(tmp_path: Path) -> None:
    paths = StudyPaths(tmp_path / "one")
    put(paths, fold_result("hepatitis", "pivot", 0))  # 12 s on 8 threads
    total = made(collect.read(paths), ReportOptions())["runtimes"].lines[-1].cells[5]
    assert total.value == pytest.approx(12 * 8 / 3600)


# ---------------------------------------------------------------------------------------- formulas


def test_letters_are_explained_below_the_table(study: Study) -> None:
    text = to_markdown(made(study, ReportOptions())["formulas_pivot"])
    assert "hepatitis: `p` is albumin, `q` is ascites." in text
    assert "`q` is job = x\\_1." in text


def test_a_column_has_the_same_letter_in_the_tables_of_all_methods(study: Study) -> None:
    both = [made(study, ReportOptions())[f"formulas_{m}"] for m in ("pivot", "interval")]
    legends = [next(r for r in t.remarks if r[0] == "hepatitis: ") for t in both]
    assert legends[0] == legends[1]


def test_names_stand_in_the_formula_when_asked_for(study: Study) -> None:
    table = made(study, ReportOptions(names=True))["formulas_pivot"]
    assert table.remarks == ()
    shown = table.lines[1].cells[1].content
    assert isinstance(shown, Math)
    assert shown.text == "albumin >= 2.9 and not ascites"


def test_the_example_is_of_another_fold_when_the_first_has_none_and_says_so(tmp_path: Path) -> None:
    paths = StudyPaths(tmp_path / "late")
    put(paths, fold_result("hepatitis", "pivot", 2))
    table = made(collect.read(paths), ReportOptions())["formulas_pivot"]
    assert "of fold 2, as fold 0 has none" in table.notes


def test_more_columns_than_letters_are_numbered(tmp_path: Path) -> None:
    text = " or ".join(f"c{n} >= {n}" for n in range(30))
    paths = StudyPaths(tmp_path / "wide")
    put(paths, fold_result("wide", "pivot", 0, formula=text, size=59))
    table = made(collect.read(paths), ReportOptions())["formulas_pivot"]
    shown = table.lines[0].cells[1].content
    assert isinstance(shown, Math)
    assert r"{p_1}_{\geq 24}" in shown.latex
    assert "p1 >= 24" in shown.text


# ------------------------------------------------------------------------------- Markdown and CSV


def test_csv_reads_back_with_every_name_and_number(study: Study) -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(made(study, ReportOptions())["accuracy"]))))
    assert rows[0]["dataset"] == AWKWARD
    assert float(rows[1]["random forest"]) == pytest.approx(85.5)
    assert float(rows[1]["random forest std"]) == pytest.approx(2.8723)


def test_markdown_keeps_special_characters_as_they_are() -> None:
    assert markdown_text("a|b_c*d<e>&`") == r"a\|b\_c\*d&lt;e&gt;&amp;\`"


def test_a_formula_with_backticks_and_bars_stays_one_cell_of_markdown(study: Study) -> None:
    text = to_markdown(made(study, ReportOptions(names=True))["formulas_pivot"])
    line = next(line for line in text.splitlines() if "job=x" in line)
    assert line.replace("\\|", "").count("|") == 4
    assert AWKWARD_COLUMN.replace("|", "\\|") in line


# -------------------------------------------------------------------------------------- the paper


def test_the_papers_figures_are_all_there() -> None:
    assert len(paper.accuracy()) == 35
    assert len(paper.average_size()) == len(paper.seconds()) == 21
    assert paper.accuracy()["hepatitis", "median"] == (83.8, 12.1)
    assert paper.seconds()["student_dropout", "pivot"] == 480024


def test_the_paper_stands_beside_ours_only_on_request(study: Study) -> None:
    assert "paper" not in to_csv(made(study, ReportOptions())["accuracy"])
    text = to_csv(made(study, ReportOptions(paper=True))["accuracy"])
    assert "hepatitis,paper,82.2,11.9,81.5,11.5,82.1,10.7," in text
    assert "hepatitis,difference,2.3,,3,,3.4,," in text
