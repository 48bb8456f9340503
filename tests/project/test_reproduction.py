"""The pages about kept studies show what the kept results say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.agreement import kept_cells
from benchmarks.paper_formulas import OUT as PAPER_FORMULAS
from benchmarks.reproduction import PAGES, ROOT, Kept, blocks, rewritten
from benchmarks.result_cache import ResultCache

KNOWN = blocks(Kept(ROOT / "results"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_tables_of_a_page_are_those_of_the_kept_results(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.count("<!-- begin ") > 2
    assert rewritten(text, KNOWN) == text, "python -m benchmarks.reproduction --write"


def test_the_readme_says_what_the_study_cost_and_how_near_it_came() -> None:
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    hours, cells = re.findall(r"[\d.]+ core-hours|\d+ of \d+(?= cells)", KNOWN["headline"]()[-1])
    assert hours in readme
    assert f"{cells} pairs of dataset and method" in readme


def test_the_readme_has_the_mean_accuracies_of_the_kept_study() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = readme.partition("<!-- begin peers -->")[2].partition("<!-- end peers -->")[0]
    rows = [line.split(" | ") for line in KNOWN["means"]()[2:]]
    means = [round(float(cells[2]), 1) for cells in rows]
    assert [float(found) for found in re.findall(r"([\d.]+) %", table)] == means


def test_every_table_is_on_a_page() -> None:
    texts = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert set(re.findall(r"<!-- begin (\w+) -->", texts)) == set(KNOWN)


def test_a_table_that_went_stale_is_found() -> None:
    page = "before\n<!-- begin means -->\n| an older table |\n<!-- end means -->\nafter\n"
    made = rewritten(page, KNOWN)
    assert "older" not in made
    assert made.startswith("before\n<!-- begin means -->\n| method |")
    assert made.endswith("<!-- end means -->\nafter\n")


def test_both_solvers_agree_on_every_length_that_is_kept() -> None:
    cells = kept_cells(ROOT / "results" / "benchmarks" / "agreement.json")
    assert cells
    assert all(cell.agrees for cell in cells.values())


def test_no_formula_of_the_paper_beats_a_proved_optimum() -> None:
    kept = ResultCache(ROOT / PAPER_FORMULAS).results
    assert kept
    assert all(one["fewest"] is None or one["fewest"] <= one["errors"] for one in kept.values())
