"""A rule chosen openly among all that are about as good."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fsm_hpc.errors import UserError
from fsm_hpc.formulas.parser import parse
from fsm_hpc.models import model as model_file
from fsm_hpc.models.card import page
from fsm_hpc.models.model import Model
from fsm_hpc.report.alternatives import find, rule
from fsm_hpc.search.near_optimal.rashomon import RashomonSet, ResourceLimits
from tests.support.command_line import run_command

ROWS, SLACK = 50, 3


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The words of a fit that ends at length 3."""
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({name: rng.integers(0, 9, ROWS) for name in ("a", "b", "c")})
    frame["y"] = ((frame.a >= 4) & (frame.b >= 3)) ^ (rng.random(ROWS) < 0.15)
    path = tmp_path_factory.mktemp("table") / "my.csv"
    frame.to_csv(path, index=False)
    table = ["dataset=csv", f"dataset.path={path}", "dataset.target=y", "method=pivot"]
    scan = ["scan.max_length=3", "scan.splits=1", "scan.patience=3", "fit.folds=0"]
    return [*table, *scan, f"fit.slack={SLACK}"]


def fitted(words: list[str], folder: Path, *more: str) -> Model:
    assert run_command("fit", *words, f"out={folder}", *more) == 0
    return model_file.load(folder / "model.json")


@pytest.fixture(scope="module")
def optimum(
    words: list[str], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Model, RashomonSet]:
    folder = tmp_path_factory.mktemp("optimum")
    model = fitted(words, folder)
    known = rule.read_rule(folder / "model.json", [])
    return model, find.find(known, SLACK, None, ResourceLimits(1), None)


def test_the_simplest_is_the_smallest_within_the_slack(
    words: list[str], optimum: tuple[Model, RashomonSet], tmp_path: Path
) -> None:
    model, (_, good) = fitted(words, tmp_path, "choose=simplest"), optimum
    assert model.formula.size == min(family.size for family in good.families)
    assert model.errors == good.problem.errors(model.formula) <= good.optimum + SLACK
    assert model.proved == (model.errors == good.optimum)
    assert f"among {good.count} formulas" in str(model.notes[-1])
    assert "chosen (simplest)" in page(model)


def test_the_consensus_agrees_most_with_all_members(
    words: list[str], optimum: tuple[Model, RashomonSet], tmp_path: Path
) -> None:
    model, (_, good) = fitted(words, tmp_path, "choose=consensus"), optimum
    table = good.problem.table
    members = [m for family in good.families for m, _ in good.members(family)]
    answers = np.array([m.evaluate(table) for m in members])
    agreement = (answers[:, None] == answers[None]).mean(axis=(1, 2))
    mine = (answers == model.formula.evaluate(table)).mean()
    assert mine == pytest.approx(agreement.max())
    assert model.proved or "chosen among near-optimal formulas" in page(model)
    assert f"on {100 * mine:.1f} % of their answers" in str(model.notes[-1])


def test_a_given_formula_becomes_the_rule_where_it_is_good_enough(
    words: list[str], optimum: tuple[Model, RashomonSet], tmp_path: Path
) -> None:
    good = optimum[1]
    last = next(f for f in reversed(good.families) if f.size <= good.bound)
    model = fitted(words, tmp_path / "a", "choose=given", f"fit.given='{last.formula}'")
    assert model.formula == last.formula
    bad = min(good.problem.numerics, key=lambda n: n.column)
    with pytest.raises(UserError, match=r"fit.given: expected at most"):
        fitted(words, tmp_path / "b", "choose=given", f"fit.given='not {bad.proposition(1)}'")
    with pytest.raises(UserError, match=r"fit.given: expected a formula over this table"):
        fitted(words, tmp_path / "c", "choose=given", "fit.given='unknown_column'")
    with pytest.raises(UserError, match=r"fit.given: expected a formula of size 3 or less"):
        fitted(words, tmp_path / "e", "choose=given", "fit.given='a >= 4 and b >= 3 and c >= 2'")
    with pytest.raises(UserError, match=r"fit.given: expected a formula, found"):
        fitted(words, tmp_path / "d", "choose=given")
    assert parse(str(model.formula)) == model.formula
