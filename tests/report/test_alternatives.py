"""The alternatives of a rule: what the command says, what is kept, and the page in a browser."""

from __future__ import annotations

import csv
import html
import io
import json
import os
import re
import shutil
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fsm_hpc import FormulaClassifier
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.parser import parse
from fsm_hpc.models import model as model_file
from fsm_hpc.report.alternatives import find, page, rule, summary
from fsm_hpc.search.near_optimal.checkpoint import Checkpoint
from fsm_hpc.search.near_optimal.enumeration import NOTHING_YET
from fsm_hpc.search.near_optimal.rashomon import ResourceLimits, near_optimal
from tests.support.browser import browser
from tests.support.command_line import run_command
from tests.support.damage import damages

ROWS = 60
WHOLE = ("alternatives", "slack=3", "bound=3", "--threads", "1", "--json")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two numbers, a Boolean and a category; the label hangs on three of them, nearly."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 60, ROWS),
            "dose": rng.integers(0, 40, ROWS) / 4,
            "smokes": rng.choice(["yes", "no"], ROWS),
            "job": rng.choice(["cook", "it's me", "clerk"], ROWS),
        }
    )
    label = (frame.age >= 40) & ((frame.smokes == "yes") | (frame.dose >= 5))
    frame["ill"] = np.where(label ^ (rng.random(ROWS) < 0.3), "sick", "well")
    path = tmp_path_factory.mktemp("table") / "my.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def model(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("rule")
    words = ["dataset=csv", f"dataset.path={table}", "dataset.target=ill", "method=pivot"]
    words += ["dataset.positive=sick", "fit.folds=0", "scan.max_length=4", f"out={out}"]
    assert run_command("fit", *words, "scan.splits=1") == 0
    return out / "model.json"


@pytest.fixture(scope="module")
def alternatives(model: Path) -> summary.AlternativesSummary:
    known = rule.read_rule(model, [])
    good = find.find(known, 6, 5, ResourceLimits(1), None)
    return summary.summarize(known, good, ResourceLimits(1))


def test_a_stored_proof_that_a_better_formula_refutes_is_an_error(model: Path) -> None:
    known = rule.read_rule(model, [])
    worse = parse("smokes")
    errors = known.problem.errors(worse)
    assert errors > known.errors
    claimed = replace(known, formula=worse, errors=errors, proved=True)
    with pytest.raises(UserError, match="run `fit` again"):
        find.find(claimed, 0, None, ResourceLimits(1), None)


# ------------------------------------------------------------------------------------- the command


def test_the_command_prints_the_set_as_documented(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run_command("alternatives", str(model), "slack=2", "bound=3", "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["complete"] is True
    assert (answer["bound"], answer["slack"]) == (3, 2)
    assert answer["count"] == sum(family["count"] for family in answer["families"])
    problem = rule.read_rule(model, []).problem
    for family in answer["families"]:
        assert problem.errors(parse(family["formula"])) == family["errors"]
        assert family["errors"] <= answer["optimum"] + 2
        for low, high in family["cuts"].values():
            assert low <= high


def test_the_command_writes_a_csv_and_says_what_is_told(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "all.csv"
    assert run_command("alternatives", str(model), "slack=2", "--csv", str(place)) == 0
    text = capsys.readouterr().out
    assert "ambiguity" in text
    assert "more errors without it" in text
    lines = list(csv.DictReader(place.open()))
    assert lines[0]["formula"] in text


@pytest.mark.parametrize("words", [["slack=1.5"], ["bound=0"], ["bound=x"], ["slack=-1"]])
def test_words_that_mean_nothing_are_refused(model: Path, words: list[str]) -> None:
    with pytest.raises(UserError, match=r"slack|bound"):
        run_command("alternatives", str(model), *words)


def test_another_table_is_refused(model: Path, table: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    frame = pd.read_csv(table)
    frame["age"] = frame["age"] + 1
    frame.to_csv(other, index=False)
    with pytest.raises(UserError, match="content differs"):
        run_command("alternatives", str(model), f"dataset.path={other}", "dataset.target=ill")


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("language=xor", "language=xor"),
        ("cuts=midpoints", "cuts=midpoints"),
        ("objective=balanced", "objective=balanced"),
        ("dataset.weight=dose", "weight=dose"),
        ("dataset.missing=keep", "without missing values"),
    ],
)
def test_a_rule_for_something_else_is_refused_by_its_name(
    table: Path, tmp_path: Path, word: str, why: str
) -> None:
    frame = pd.read_csv(table)
    frame.loc[3, "age"] = np.nan if "missing" in word else 40
    frame["dose"] += 1
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = [
        "dataset=csv",
        f"dataset.path={tmp_path / 't.csv'}",
        "dataset.target=ill",
        "method=pivot",
    ]
    words += ["fit.folds=0", "scan.max_length=2", "scan.splits=1", f"out={tmp_path / 'rule'}", word]
    assert run_command("fit", *words) == 0
    with pytest.raises(UserError, match=why):
        run_command("alternatives", str(tmp_path / "rule"))
    with pytest.raises(UserError, match=r"does not have the default|without missing values"):
        run_command("fit", *words, f"out={tmp_path / 'other'}", "choose=consensus")


def test_a_set_that_was_cut_short_says_so_and_goes_on(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = find.state_path(rule.read_rule(model, []))
    assert run_command("alternatives", str(model), "slack=3", "bound=5", "--most", "5") == 1
    assert "NOT complete" in capsys.readouterr().out
    assert state.exists()
    assert run_command("alternatives", str(model), "slack=3", "bound=5", "--json") == 0
    assert json.loads(capsys.readouterr().out)["complete"]
    assert not state.exists()


def test_a_search_that_was_cut_is_kept_when_another_is_cut(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = find.state_path(rule.read_rule(model, []))
    assert run_command("alternatives", str(model), "slack=3", "bound=5", "--most", "5") == 1
    before = state.read_text()
    assert run_command("alternatives", str(model), "slack=2", "bound=5", "--most", "5") == 1
    (kept,) = state.parent.glob(f"{state.stem}.outdated-*")
    assert kept.read_text() == before
    assert kept.name in capsys.readouterr().err
    state.unlink()
    kept.unlink()


def test_what_was_kept_is_taken_for_the_same_question_only(
    alternatives: summary.AlternativesSummary, tmp_path: Path
) -> None:
    mark = Checkpoint(tmp_path / "state.json")
    assert mark.load("asked") is None
    mark.save("asked", alternatives.rashomon.progress)
    again = mark.load("asked")
    assert again is not None
    assert again.families == alternatives.rashomon.progress.families
    assert mark.load("something else") is None
    mark.remove(alternatives.rashomon)  # which is another question than the one that is kept
    assert mark.path.exists()
    mark.save("asked", NOTHING_YET)
    empty = mark.load("asked")
    assert empty is not None
    assert not empty.is_complete


@pytest.fixture(scope="module")
def left(model: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The folder of a rule whose set was cut short, and what the whole set is."""
    folder = tmp_path_factory.mktemp("left")
    shutil.copy(model, folder)
    code, text = said_by(*WHOLE, str(folder))
    assert code == 0
    assert said_by(*WHOLE, str(folder), "--most", "1")[0] == 1
    return folder, json.loads(text)


def said_by(*words: str) -> tuple[int, str]:
    with redirect_stdout(io.StringIO()) as printed:
        return run_command(*words), printed.getvalue()


@pytest.mark.parametrize(
    "number",
    [*range(0, 88, 6), *(pytest.param(n, marks=pytest.mark.slow) for n in range(88) if n % 6)],
)
def test_a_damaged_place_is_kept_aside_and_the_set_is_found_anew(
    left: tuple[Path, dict[str, Any]],
    tmp_path: Path,
    number: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder, expected = left
    here = Path(shutil.copytree(folder, tmp_path / "rule"))
    state = find.state_path(rule.read_rule(here, []))
    damage = next(islice(damages(0), number, None))
    if damage.name == "newer":
        return  # which is refused: tests/study/test_newer_files.py
    damage.spoil(state)
    code, text = said_by(*WHOLE, str(here))
    assert (code, json.loads(text)) == (0, expected)
    aside = list(here.glob(f".damaged-{state.name}-*"))
    assert bool(aside) == ("starts again" in capsys.readouterr().err)
    assert aside or damage.name not in ("empty", "cut", "folder", "pipe", "zeros", "deep", "bare")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_the_place_and_the_same_command_goes_on(
    model: Path,
    tmp_path: Path,
    number: signal.Signals,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copy(model, tmp_path)
    words = ("alternatives", str(tmp_path), "slack=3", "bound=6", "--threads", "1", "--json")
    expected = json.loads(said_by(*words)[1])
    with monkeypatch.context() as patched:

        def struck(*given: Any, **named: Any) -> Any:
            os.kill(os.getpid(), number)
            return near_optimal(*given, **named)

        patched.setattr("fsm_hpc.search.near_optimal.checkpoint.near_optimal", struck)
        patched.setattr("fsm_hpc.search.solvers.native.search.POLL_S", 0.0)
        assert run_command(*words) == 130
    assert "run the same command again to continue" in capsys.readouterr().err
    assert find.state_path(rule.read_rule(tmp_path, [])).exists()
    assert json.loads(said_by(*words)[1]) == expected


def test_nodes_that_are_processes_find_the_set_of_one(model: Path, tmp_path: Path) -> None:
    shutil.copy(model, tmp_path)
    words = ("alternatives", str(tmp_path), "slack=3", "bound=4", "--threads", "1", "--json")
    with pytest.raises(
        UserError, match=r"cluster\.nodes: expected a whole number from 1 to 10000, found 0"
    ):
        run_command(*words, "cluster.nodes=0")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("fsm_hpc.search.solvers.nodes.team.HEAD_START_S", 0.0)
        assert said_by(*words, "cluster.nodes=2") == said_by(*words)


# ------------------------------------------------------------------------------- what it tells


def test_prices_free_cuts_and_differences_are_what_trying_them_gives(
    alternatives: summary.AlternativesSummary,
) -> None:
    problem, formula = alternatives.rule.problem, alternatives.rule.formula
    truth = formula.evaluate(problem.table)
    members = [
        m
        for family in alternatives.rashomon.families
        for m, _ in alternatives.rashomon.members(family)
    ]
    answers = np.array([m.evaluate(problem.table) for m in members])
    assert alternatives.ambiguous == int((answers != truth).any(axis=0).sum())
    assert alternatives.differing is not None
    assert alternatives.differing[0] == int((answers != truth).sum(axis=1).max())
    assert alternatives.rashomon.yes.tolist() == answers.sum(axis=0).tolist()
    for column in alternatives.columns:
        others = [
            f.errors for f in alternatives.rashomon.families if column.column not in f.columns
        ]
        if others:
            assert column.price == min(others) - alternatives.rashomon.optimum
    assert {one.column for one in alternatives.free} <= {"age", "dose"}


def test_the_classifier_gives_its_alternatives_as_a_table(table: Path) -> None:
    frame = pd.read_csv(table)
    rule_ = FormulaClassifier(length=3, n_jobs=1).fit(frame.drop(columns="ill"), frame.ill)
    families = rule_.alternatives(slack=2)
    assert families.attrs["complete"] is True
    assert families.attrs["count"] == families["count"].sum()
    assert families.loc[0, "errors"] == families.attrs["optimum"] == rule_.errors_
    assert len(rule_.members(0)) == families.loc[0, "count"]
    with pytest.raises(UserError, match="a row of alternatives"):
        rule_.members(len(families))
    few = rule_.alternatives(slack=20, most=1)
    assert few.attrs["complete"] is False
    assert few.loc[0, "errors"] == rule_.errors_


# ------------------------------------------------------------------------------------- the page


@pytest.fixture(scope="module")
def opened(
    alternatives: summary.AlternativesSummary, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    place = tmp_path_factory.mktemp("page") / "alternatives.html"
    place.write_text(page.render(alternatives), encoding="utf-8")
    with browser() as chromium:
        context = chromium.new_context(
            accept_downloads=True, viewport={"width": 1280, "height": 900}
        )
        tab = context.new_page()
        problems: list[str] = []
        requests: list[str] = []
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.on("console", lambda message: problems.append(message.text))
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto(place.as_uri())
        yield tab
        assert problems == []
        assert [url for url in requests if not url.startswith(("file:", "blob:", "data:"))] == []


def test_the_page_runs_its_own_script_and_no_other(
    alternatives: summary.AlternativesSummary, tmp_path: Path
) -> None:
    written = page.render(alternatives)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', written)
    assert policy is not None
    scripts = html.unescape(policy[1]).split("script-src ")[1].split(";")[0]
    assert re.fullmatch(r"'sha256-[\w+/]{43}='", scripts)
    place = tmp_path / "injected.html"
    attack = '<script>window.hit = 1</script><img src=x onerror="window.hit = 2">'
    place.write_text(written.replace("<main>", f"<main>{attack}"), encoding="utf-8")
    with browser() as chromium:
        tab = chromium.new_page()
        tab.goto(place.as_uri())
        assert tab.evaluate("window.hit") is None
        assert tab.inner_text("#shown")  # its own script has run
        tab.fill("#filter", "age")
        tab.press("#filter", "Enter")
        assert tab.url == place.as_uri()  # the form is not sent


def test_the_page_lists_filters_and_sorts_families(
    opened: Any, alternatives: summary.AlternativesSummary
) -> None:
    families = alternatives.rashomon.families
    assert f"{len(families):,} of {len(families):,}" in opened.inner_text("#shown")
    opened.fill("#filter", "dose -age")
    wanted = [f for f in families if "dose" in f.columns and "age" not in f.columns]
    assert opened.inner_text("#shown").startswith(f"{len(wanted):,} of")
    opened.fill("#filter", "")
    opened.select_option("#sort", "count")
    most = max(f.count for f in families)
    first = opened.inner_text("[role=option] >> nth=0")
    assert f"{most:,}" in first
    opened.select_option("#sort", "errors")


def test_the_name_of_a_column_shows_the_families_that_use_it(
    opened: Any, alternatives: summary.AlternativesSummary
) -> None:
    button = opened.locator("[data-column=age]")
    users = sum("age" in family.columns for family in alternatives.rashomon.families)
    for text in (f"{users:,} of", f"{len(alternatives.rashomon.families):,} of"):
        button.focus()
        opened.keyboard.press("Enter")
        assert opened.inner_text("#shown").startswith(text)


def test_keys_choose_a_family_and_the_page_counts_its_errors(
    opened: Any, alternatives: summary.AlternativesSummary
) -> None:
    opened.focus("#list")
    opened.keyboard.press("Home")
    for family in alternatives.rashomon.families[:12]:
        assert opened.inner_text("#formula") == str(family.formula)
        assert opened.inner_text("#facts").startswith(f"{family.errors} errors")
        opened.keyboard.press("ArrowDown")


def test_a_slider_moves_a_cut_and_the_errors_follow(
    opened: Any, alternatives: summary.AlternativesSummary
) -> None:
    at = next(n for n, f in enumerate(alternatives.rashomon.families) if f.thresholds)
    opened.focus("#list")
    opened.keyboard.press("Home")
    for _ in range(at):
        opened.keyboard.press("ArrowDown")
    slider = opened.locator("#sliders input").first
    slider.focus()
    opened.keyboard.press("ArrowRight")
    formula = parse(opened.inner_text("#formula"))
    assert formula != alternatives.rashomon.families[at].formula
    errors = alternatives.rule.problem.errors(formula)
    assert opened.inner_text("#facts").startswith(f"{errors} errors")
    opened.click("#reset")
    assert opened.inner_text("#formula") == str(alternatives.rashomon.families[at].formula)


def test_two_formulas_are_compared_row_by_row(
    opened: Any, alternatives: summary.AlternativesSummary
) -> None:
    opened.focus("#list")
    opened.keyboard.press("Home")
    opened.keyboard.press("c")
    opened.keyboard.press("End")
    one, other = (parse(opened.inner_text(place)) for place in ("#formula", "#other"))
    table = alternatives.rule.problem.table
    differ = int((one.evaluate(table) != other.evaluate(table)).sum())
    assert f"differ on {differ} of {ROWS} rows" in opened.inner_text("#difference")
    assert opened.locator("#rows tr").count() == (differ + 1 if differ else 0)


def test_the_chosen_formula_is_exported_from_the_page(
    opened: Any, alternatives: summary.AlternativesSummary, table: Path, tmp_path: Path
) -> None:
    opened.focus("#list")
    opened.keyboard.press("End")
    formula = parse(opened.inner_text("#formula"))
    with opened.expect_download() as download:
        opened.click("[data-export=model]")
    place = tmp_path / "model.json"
    download.value.save_as(place)
    made = model_file.load(place)
    assert made.formula == formula
    assert made.errors == alternatives.rule.problem.errors(formula)
    opened.click("[data-export=sql]")
    frame = pd.read_csv(table)
    with sqlite3.connect(":memory:") as base:
        frame.to_sql("t", base, index=False)
        answers = [
            row[0] for row in base.execute(f"SELECT {opened.inner_text('#exported')} FROM t")
        ]
    truth, _ = made.read({str(name): frame[name] for name in frame}, len(frame))
    assert answers == [made.classes[int(value)] for value in truth]
    opened.click("[data-export=text]")
    assert str(formula) in opened.inner_text("#exported")


def test_the_page_fits_a_phone_and_knows_the_dark(opened: Any) -> None:
    opened.set_viewport_size({"width": 360, "height": 740})
    assert opened.evaluate("document.documentElement.scrollWidth") <= 360
    light = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    opened.emulate_media(color_scheme="dark")
    assert opened.evaluate("getComputedStyle(document.body).backgroundColor") != light
    opened.emulate_media(color_scheme="light")
    opened.set_viewport_size({"width": 1280, "height": 900})


def test_families_are_filtered_by_what_they_do_on_held_out_rows(
    opened: Any, alternatives: summary.AlternativesSummary, tmp_path: Path
) -> None:
    held = alternatives.rule.problem.on(np.arange(0, ROWS, 3))
    known = replace(alternatives, rule=replace(alternatives.rule, held_out=held))
    place = tmp_path / "page.html"
    place.write_text(page.render(known), encoding="utf-8")
    shares = [held.accuracy(family.formula) for family in alternatives.rashomon.families]
    least = sorted(shares)[len(shares) // 2]
    tab = opened.context.new_page()
    tab.goto(place.as_uri())
    tab.fill("#held", str(100 * least - 0.001))
    count = sum(share >= least for share in shares)
    assert tab.inner_text("#shown").startswith(f"{count:,} of")
    tab.select_option("#sort", "held")
    assert f"{100 * max(shares):.1f} %" in tab.inner_text("[role=option] >> nth=0")
    tab.close()


def test_few_of_many_families_are_drawn(
    opened: Any, alternatives: summary.AlternativesSummary
) -> None:
    opened.set_viewport_size({"width": 1280, "height": 300})
    opened.evaluate("window.dispatchEvent(new Event('resize'))")
    assert 0 < opened.locator("[role=option]").count() < len(alternatives.rashomon.families)
