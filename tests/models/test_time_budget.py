"""Time budgets: what a starved search gives, what the budget has in it, and what is left behind."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fsm_hpc import FormulaClassifier
from fsm_hpc.formulas.formula import Atom, Formula, Not
from fsm_hpc.formulas.language import Language
from fsm_hpc.models import fit, learn
from fsm_hpc.models.frames import schemas_of
from fsm_hpc.models.notes import FrontEnd
from fsm_hpc.search.lengths import LengthAttempt
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.scan import ScanState
from fsm_hpc.search.solvers.base import Control, End, Incumbent, Outcome
from fsm_hpc.search.solvers.native import Native, solver
from fsm_hpc.search.stop_reason import StopReason
from fsm_hpc.study.compose import compose
from fsm_hpc.study.config import Config
from fsm_hpc.system import clock
from tests.support.brute_force import cuts_of

STARVED_S = 1e-6
SOLVERS = ["native", "clingo_dl", "portfolio"]
METHODS = [one.value for one in Method if one.finds_formula]
CONSTRAINTS: list[dict[str, Any]] = [
    {},
    {"increasing": ["x"]},
    {"decreasing": ["x"], "max_columns": 1},
    {"require": ["flag"]},
    {"require": ["x", "z"]},
    {"min_support": 9},
]
CASES = [
    (method, constraints)
    for method in ("pivot", "interval")
    for constraints in CONSTRAINTS
    if method == "pivot" or not {"increasing", "decreasing"} & set(constraints)
]


def table(rows: int = 60) -> tuple[pd.DataFrame, Any]:
    """Most rows are false, and `not flag` is a good rule."""
    rng = np.random.default_rng(3)
    x, z = rng.normal(size=(2, rows))
    flag = rng.random(rows) < 0.8
    labels = ~flag ^ (rng.random(rows) < 0.05)
    return pd.DataFrame({"flag": flag, "x": x, "z": z.round(1)}), labels


def starved(**wanted: Any) -> FormulaClassifier:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        columns, labels = table()
        weights = wanted.pop("sample_weight", None)
        made = FormulaClassifier(time_limit_s=STARVED_S, n_jobs=1, **wanted)
        return made.fit(columns, labels, weights)


def literals(problem: Problem) -> Iterator[Formula]:
    fixed = (boolean.proposition for boolean in problem.booleans)
    for one in itertools.chain(fixed, *map(cuts_of, problem.numerics)):
        yield from (Atom(one), Not(Atom(one)))


def assert_as_good_as_any_literal(made: FormulaClassifier) -> None:
    (problem,) = made._result.problems.values()
    allowed = [problem.errors(one) for one in literals(problem) if problem.meets_constraints(one)]
    assert problem.meets_constraints(made.formula_)
    assert made.errors_ <= min(allowed, default=problem.weight)


# --------------------------------------------------------------------------- never worse than one


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("class_weight", [None, "balanced", {False: 1, True: 7}])
def test_a_starved_rule_is_as_good_as_the_best_literal(
    solver: str, method: str, class_weight: Any
) -> None:
    made = starved(solver=solver, method=method, class_weight=class_weight)
    assert_as_good_as_any_literal(made)
    assert not made.proved_ or made.stop_reason_


@pytest.mark.parametrize("language", [one.value for one in Language])
def test_it_is_in_every_language(language: str) -> None:
    assert_as_good_as_any_literal(starved(language=language))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("method", "constraints"), CASES, ids=str)
def test_constraints_come_before_it(solver: str, method: str, constraints: dict[str, Any]) -> None:
    assert_as_good_as_any_literal(starved(solver=solver, method=method, **constraints))


@pytest.mark.parametrize("weights", ["whole", "real"])
def test_sample_weights_count_in_it(weights: str) -> None:
    drawn = np.random.default_rng(1).gamma(1.0, size=60)
    drawn = np.ceil(10 * drawn) if weights == "whole" else drawn
    made = starved(sample_weight=drawn)
    assert_as_good_as_any_literal(made)


def test_the_given_length_stays_the_bound() -> None:
    assert starved(length=1).size_ == 1
    assert starved(max_length=1).size_ == 1


# ----------------------------------------------------------------------------- what counts as time


class Spender:
    """Uses all of the time that it is given, on a clock that only it and preparation move."""

    name = "spender"

    def __init__(self) -> None:
        self.now = 0.0

    def solve(self, problem: Problem, length: int, start: Incumbent, control: Control) -> Outcome:
        assert control.deadline is not None
        self.now = max(self.now, control.deadline)
        formula = problem.shortest
        return Outcome(formula, problem.errors(formula), 0, 0, End.TIMEOUT, self.name)

    def close(self) -> None:
        pass


def test_preparation_and_all_classes_share_one_time_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spender = Spender()

    def slowly(*arguments: Any) -> Any:
        spender.now += 10.0
        return schemas_of(*arguments)

    monkeypatch.setattr("fsm_hpc.models.inputs.schemas_of", slowly)
    monkeypatch.setattr(clock, "monotonic", lambda: spender.now)
    columns, _ = table()
    made = FormulaClassifier(solver=spender, time_limit_s=60.0, length=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made.fit(columns, np.arange(60) % 3)
    assert spender.now <= 61.0


def config_of(tmp_path: Path, *words: str) -> Config:
    columns, labels = table()
    path = tmp_path / "own.csv"
    columns.assign(y=labels.astype(int)).to_csv(path, index=False)
    own = ("dataset=csv", f"dataset.path={path}", "dataset.target=y", f"out={tmp_path / 'rule'}")
    return compose([*own, "method=pivot", "fit.folds=3", "scan.splits=2", *words])


def test_a_starved_fit_is_as_good_as_the_best_literal_and_says_what_was_cut(
    tmp_path: Path,
) -> None:
    made = fit.fit(config_of(tmp_path, "fit.budget_h=1e-7"))
    assert made is not None
    assert str(made.model.formula) == "not flag"
    assert any("fit.budget_h continues" in note for note in map(str, made.model.notes))


@pytest.mark.parametrize(
    ("is_proved", "last", "finished"),
    [(True, {}, 3), (False, {"finished": False}, 2), (False, {}, 3)],
    ids=["proved", "the last row under way", "rounded weights"],
)
def test_a_timed_out_scan_names_the_last_length_that_it_finished(
    is_proved: bool, last: dict[str, Any], finished: int
) -> None:
    """Nothing is proved of rounded weights, also not of a length that is finished."""
    (problem,) = starved(solver="native")._result.problems.values()
    best = Incumbent(next(literals(problem)), 1)
    state = ScanState(stop_reason=StopReason.TIMEOUT, final=LengthAttempt(1, best))
    *rows, end = ({"length": length, "proved": is_proved} for length in (1, 2, 3))
    told = " ".join(map(str, learn.described(problem, True, state, (*rows, end | last)).notes))
    assert f"after length {finished};" in told


def test_reading_and_preparation_are_in_the_budget_of_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spender = Spender()
    monkeypatch.setattr(clock, "monotonic", lambda: spender.now)
    config = config_of(tmp_path, "fit.budget_h=0.1")
    spender.now = 300.0  # seconds of reading since the command began at 0
    fit.fit(config, solver_of=lambda config, helpers: spender, started=0.0)
    assert spender.now <= 361.0


@pytest.mark.parametrize(("spent_s", "expected"), [(0.0, 90.0), (180.0, 60.0), (999.0, 0.0)])
def test_a_part_has_less_time_where_those_before_took_more(spent_s: float, expected: float) -> None:
    assert fit.Budget(360.0, spent_s).share(1.0, 4 if spent_s == 0 else 3) == expected


# -------------------------------------------------------------------------------- nothing runs on


def test_no_thread_prepares_a_table_after_its_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    (made,) = starved(length=1)._result.problems.values()
    problem = made.on(rng.integers(0, made.rows, solver.SMALL))
    known_of = solver.ProblemCache.of

    def slowly(problem: Problem, threads: int) -> Any:
        time.sleep(0.3)
        return known_of(problem, threads)

    monkeypatch.setattr(solver.ProblemCache, "of", staticmethod(slowly))
    before = set(threading.enumerate())
    control = Control(deadline=clock.monotonic() + 0.05)
    outcome = Native().solve(problem, 3, Incumbent(), control)
    assert outcome.end is End.TIMEOUT
    assert set(threading.enumerate()) <= before


def test_a_starved_process_ends_cleanly() -> None:
    code = f"""
import numpy as np, pandas as pd, warnings
from fsm_hpc import FormulaClassifier
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=({solver.SMALL + 1}, 6)), columns=list("abcdef"))
FormulaClassifier(time_limit_s=0.2, solver="native").fit(X, X.a + X.b > 2.5)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


# ------------------------------------------------------------------------------------------ notes


def rare(length: int, **wanted: Any) -> FormulaClassifier:
    columns = pd.DataFrame({"x": [float(i % 7) for i in range(100)], "z": np.arange(100) < 4})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return FormulaClassifier(length=length, **wanted).fit(columns, np.arange(100) < 2)


def test_a_rare_class_is_noted_without_a_warning_and_with_what_to_do() -> None:
    notes = [note.text(FrontEnd.PYTHON) for note in rare(1).model_.notes]
    assert any("class_weight='balanced'" in note and "2.0 %" in note for note in notes)
    assert not any(
        "count the same" in note for note in map(str, rare(1, class_weight="balanced").model_.notes)
    )


def test_a_rule_that_does_not_beat_the_majority_is_noted() -> None:
    assert any(
        "does not beat always predicting False" in note for note in map(str, rare(1).model_.notes)
    )
    columns, labels = table()
    good = FormulaClassifier(length=2).fit(columns, labels)
    assert not any("does not beat" in note for note in map(str, good.model_.notes))


def test_fit_suggests_the_balanced_objective_for_a_rare_class(tmp_path: Path) -> None:
    config = config_of(tmp_path)
    path = tmp_path / "own.csv"
    frame = pd.read_csv(path)
    frame.assign(y=(np.arange(60) < 4).astype(int)).to_csv(path, index=False)
    made = fit.fit(replace(config, fit=replace(config.fit, folds=0)))
    assert made is not None
    assert any("objective=balanced" in note for note in map(str, made.model.notes))
