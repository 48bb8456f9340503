"""The page: what it says, and how it behaves in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.formulas.parser import parse
from fsm_hpc.report import collect
from fsm_hpc.report.page import page as report
from fsm_hpc.report.page.length_chart import length_chart
from fsm_hpc.report.tables.builder import ReportOptions
from fsm_hpc.search.lengths import Length
from fsm_hpc.study import checkpoint
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold_id import FoldId
from tests.support.browser import browser
from tests.support.command_line import place_of, run_command
from tests.support.made_studies import AWKWARD, fold_result, large_study, lengths, put, small_study
from tests.support.scans import scan_state


def write_report(study: StudyPaths, *flags: str) -> Path:
    assert run_command("report", *place_of(study), *flags) == 0
    return study.report


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(small_study(tmp_path_factory.mktemp("small")))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(large_study(tmp_path_factory.mktemp("large")), "--paper")


# --------------------------------------------------------------------------------- what it says


def test_the_page_opens_with_its_rules_and_then_what_is_wrong(small: Path) -> None:
    text = small.read_text()
    wrong = ("Problems and missing folds", "11 missing")
    order = ['id="rules"', *wrong, 'id="tables"', 'id="figures"', 'id="folds"']
    places = [text.index(words) for words in order]
    assert places == sorted(places)


def test_a_whole_study_says_that_nothing_is_wrong(tmp_path: Path) -> None:
    study = StudyPaths(tmp_path / "whole")
    put(study, *(fold_result("hepatitis", "pivot", fold) for fold in range(10)))
    page = report.render(collect.read(study), ReportOptions())
    assert "None: every fold is done and proved, and all folds share their settings." in page


def test_the_page_refers_to_nothing_outside_itself(small: Path) -> None:
    text = small.read_text()
    tags = re.findall(r'(?:src|href|action)="([^"]*)"', text)
    assert {tag[:1] for tag in tags} <= {"#", "d"}  # places in the page, and data:
    assert "@import" not in text
    assert "url(" not in text.replace("url(#", "")


def test_names_are_escaped(tmp_path: Path) -> None:
    study = StudyPaths(tmp_path / "odd")
    odd = "`<script>alert(1)</script>` >= 3"
    put(study, fold_result("<b>bold & x", "pivot", 0, formula=odd, size=1, words=odd))
    page = report.render(collect.read(study), ReportOptions(names=True))
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "&lt;b&gt;bold &amp; x" in page


def test_a_fold_shows_its_formula_lengths_confusion_and_provenance(small: Path) -> None:
    section = small.read_text().split('<details class="fold"')[-20]
    assert "Predict outcome = lives when albumin is from 2.9 to 6.4" in section
    assert section.count("<tr") == 1 + 6 + 3  # the lengths with their head, the confusion matrix
    assert "is lives" in section
    facts = ("feedbeef00000000", "node-1", "a fast one", "17_3", "numpy 2.0", "digest of the code")
    for fact in facts:
        assert fact in section


def test_a_baseline_shows_its_parameters_trees_and_nodes(small: Path) -> None:
    section = small.read_text().split('<details class="fold"')[-1]
    for fact in ("n_estimators", "120", "2222", "seconds (tuning)"):
        assert fact in section


def test_an_unfinished_fold_shows_how_far_it_is(tmp_path: Path) -> None:
    study = StudyPaths(tmp_path / "begun")
    done = Length(1, parse("albumin >= 2.9"), 20, 0.75, 0.77, True, 0.5, "native")
    checkpoint.save(study.fold(FoldId("hepatitis", "pivot", 0)).scan, scan_state((done,)), "f")
    page = report.render(collect.read(study), ReportOptions())
    assert "resumes at length 2" in page
    assert "albumin &gt;= 2.9" in page


def test_the_same_results_give_the_same_page(tmp_path: Path) -> None:
    study = collect.read(small_study(tmp_path))
    assert report.render(study, ReportOptions()) == report.render(study, ReportOptions())


@pytest.mark.parametrize("count", [1, 2, 7])
def test_a_length_chart_marks_the_chosen_length(count: int) -> None:
    chart = str(length_chart(lengths(count), 1))
    assert chart.count("<circle") == chart.count("<rect") == count
    assert 'class="chosen"' in chart


def test_a_length_chart_of_an_unfinished_fold_marks_no_length() -> None:
    assert 'class="chosen"' not in str(length_chart(lengths(3), None))


def test_a_length_chart_without_differences_still_has_a_scale() -> None:
    flat = [{**entry, "train_accuracy": 1.0, "validation_accuracy": 1.0} for entry in lengths(2)]
    assert "nan" not in str(length_chart(flat, 1))


# --------------------------------------------------------------------------------- in a browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as opened:
        yield opened


class Tab:
    """A page that notes what the browser complains about and asks for."""

    def __init__(self, chromium: Any, path: Path, **context: Any) -> None:
        self.trouble: list[str] = []
        self.requests: list[str] = []
        self.page = chromium.new_context(**context).new_page()
        self.page.on("console", lambda message: self.trouble.append(message.text))
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def column(self, table: str, number: int) -> list[str]:
        rows = f"{table} tbody tr:not([hidden]) td:nth-child({number})"
        texts = "found => found.map(cell => cell.innerText)"
        return list(self.page.eval_on_selector_all(rows, texts))


@pytest.fixture
def tab(chromium: Any, large: Path) -> Iterator[Tab]:
    opened = Tab(chromium, large)
    yield opened
    opened.page.context.close()


def test_the_page_loads_without_complaint_and_asks_for_nothing(tab: Tab, large: Path) -> None:
    assert tab.trouble == []
    assert [url for url in tab.requests if not url.startswith("data:")] == [large.as_uri()]


def test_a_click_on_a_column_sorts_by_it_and_another_turns_it_round(tab: Tab) -> None:
    button = tab.page.locator("#table-folds th button", has_text="test %")
    button.click()
    upwards = [float(text) for text in tab.column("#table-folds", 5) if text != "–"]
    assert upwards == sorted(upwards)
    button.click()
    downwards = [float(text) for text in tab.column("#table-folds", 5) if text != "–"]
    assert downwards == sorted(upwards, reverse=True)
    assert tab.trouble == []


def test_what_is_missing_sorts_last_both_ways(tab: Tab) -> None:
    button = tab.page.locator("#table-folds th button", has_text="test %")
    for _ in range(2):
        button.click()
        assert tab.column("#table-folds", 5)[-1] == "–"


def test_the_total_stays_below_when_sorted(tab: Tab) -> None:
    for _ in range(2):
        tab.page.locator("#table-runtimes th button", has_text="dataset").click()
        assert tab.column("#table-runtimes", 1)[-1] == "all"


def test_sorting_works_by_keyboard_and_is_told_to_screen_readers(tab: Tab) -> None:
    tab.page.locator("#table-accuracy th button", has_text="dataset").focus()
    tab.page.keyboard.press("Enter")
    head = tab.page.locator("#table-accuracy th").first
    assert head.get_attribute("aria-sort") == "ascending"


def test_the_filter_keeps_the_folds_that_have_all_its_words(tab: Tab) -> None:
    tab.page.fill("#fold-filter", "bank interval")
    assert set(tab.column("#table-folds", 1)) == {"bank"}
    assert tab.page.inner_text("#fold-count") == "10 of 350 folds"
    assert tab.page.locator("details.fold:visible").count() == 10
    tab.page.fill("#fold-filter", "")
    assert tab.page.locator("details.fold:visible").count() == 350


def test_the_filter_finds_folds_by_their_verdict(tab: Tab) -> None:
    tab.page.fill("#fold-filter", "unproved")
    assert tab.column("#table-folds", 3) == ["3"]


def test_a_link_opens_the_section_of_its_fold(tab: Tab) -> None:
    tab.page.fill("#fold-filter", "diabetes pivot")
    tab.page.locator("#table-folds tbody tr:not([hidden]) a").nth(2).click()
    opened = tab.page.locator("details.fold[open]")
    assert opened.count() == 1
    assert "diabetes · pivot · fold 2" in opened.locator("summary").inner_text()
    assert opened.locator(".words").is_visible()


def test_a_fold_opens_by_keyboard(tab: Tab) -> None:
    tab.page.locator("details.fold summary").first.focus()
    tab.page.keyboard.press("Enter")
    assert tab.page.locator("details.fold[open]").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_the_page_never_scrolls_sideways(
    chromium: Any, large: Path, width: int, scheme: str
) -> None:
    tab = Tab(chromium, large, viewport={"width": width, "height": 800}, color_scheme=scheme)
    tab.page.locator("details.fold summary").first.click()
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    tab.page.context.close()


@pytest.mark.parametrize(("width", "is_wide"), [(1280, False), (360, True)])
def test_a_table_that_is_wider_than_its_place_says_so(
    chromium: Any, small: Path, width: int, is_wide: bool
) -> None:
    tab = Tab(chromium, small, viewport={"width": width, "height": 800})
    hint = "getComputedStyle(document.querySelector('#table-coverage .scroll'), '::before').content"
    tab.page.wait_for_function(f"{hint}.includes('scroll sideways') === {str(is_wide).lower()}")
    tab.page.wait_for_timeout(200)
    assert ("scroll sideways" in tab.page.evaluate(hint)) is is_wide
    assert tab.trouble == []
    tab.page.context.close()


CONTRAST = """selector => {
  const light = (text) => {
    const [r, g, b] = text.match(/[\\d.]+/g).map(Number).map((v) => v / 255)
      .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const back = light(getComputedStyle(document.body).backgroundColor);
  return [...document.querySelectorAll(selector)].map((element) => {
    const fore = light(getComputedStyle(element).color);
    return (Math.max(fore, back) + 0.05) / (Math.min(fore, back) + 0.05);
  });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_the_page_in_both_schemes(
    chromium: Any, small: Path, scheme: str
) -> None:
    tab = Tab(chromium, small, color_scheme=scheme)
    found = tab.page.evaluate(
        CONTRAST, "h2, h3, .hint, .figures, .note, .badge, a, .reason, .right, .wrong"
    )
    assert len(found) > 100
    assert min(found) >= 4.5  # WCAG AA
    tab.page.context.close()


def test_awkward_names_are_shown_as_they_are(chromium: Any, small: Path) -> None:
    tab = Tab(chromium, small)
    assert tab.column("#table-accuracy", 1)[0] == AWKWARD
    tab.page.context.close()
