"""Explaining: the sentence, the truth on a row, and the parts that decide it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.data.dataset import Dataset
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds.base import ColumnSchema
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Formula, Proposition
from fsm_hpc.formulas.parser import parse
from fsm_hpc.models import explanation
from fsm_hpc.report import explain
from fsm_hpc.study import result
from tests.support.command_line import run_command
from tests.support.made_studies import fold_result

TABLE = Dataset(
    "patients",
    (
        Column("albumin", Kind.NUMERIC, np.array([3.5, 2.0, 4.0] * 4)),
        Column("ascites", Kind.BOOLEAN, np.array([True, False, False] * 4)),
        Column("job_a", Kind.BOOLEAN, np.array([True, False, False] * 4), "job", "a"),
        Column("job_b", Kind.BOOLEAN, np.array([False, True, True] * 4), "job", "b"),
    ),
    np.array([True, False, False] * 4),
    "outcome",
    "lives",
    "dies",
    0,
    schemas=(ColumnSchema("job", KindName.CATEGORICAL, ("a", "b")),),
)


def told(formula: str, row: int) -> str:
    done = fold_result("patients", "pivot", 0, formula=formula)
    return "\n".join(explain.on_row(done, TABLE, row))


def values_of(formula: Formula, truths: Mapping[str, bool]) -> dict[Proposition, bool]:
    return {p: truths[p.column] for p in formula.propositions()}


def run_explain(*words: str) -> int:
    return run_command("explain", *words)


# ------------------------------------------------------------------------------------------ rows


def test_a_row_is_told_the_answer_the_label_and_whether_they_agree() -> None:
    text = told("albumin >= 2.9 and not ascites", 2)
    assert "the formula is true, so the prediction is outcome = lives." in text
    assert "The class in the table is outcome = dies: wrong." in text


def test_every_part_is_told_with_its_truth_and_what_the_row_says() -> None:
    lines = [line.split("  ") for line in told("albumin >= 2.9 or job_a", 1).splitlines()]
    flat = [[word.strip() for word in line if word.strip()] for line in lines]
    assert ["false", "decides", "albumin is at least 2.9", "albumin = 2"] in flat
    assert ["false", "decides", "job is a", "job = b"] in flat


def test_a_negated_proposition_is_one_part() -> None:
    text = told("albumin >= 2.9 and not ascites", 0)
    assert "false  decides    ascites is not true" in text
    assert text.count("ascites = true") == 1


def test_what_is_enough_is_named_when_the_rest_does_not_matter() -> None:
    text = told("albumin >= 2.9 or job_b", 2)  # both hold, so neither decides alone
    assert "Sufficient conditions: albumin is at least 2.9." in text
    assert "true              albumin is at least 2.9" in text


def test_held_out_rows_are_told_from_those_it_was_fitted_on() -> None:
    roles = [told("ascites", row).splitlines()[0] for row in range(TABLE.rows)]
    assert sum("held out" in role for role in roles) == 2  # of 12 rows in 10 folds, fold 0
    assert sum("fitted" in role for role in roles) == 10


@pytest.mark.parametrize("row", [-1, 12])
def test_a_row_that_is_not_there_is_the_users_mistake(row: int) -> None:
    with pytest.raises(UserError, match=f"--row: expected 0 to 11, found {row}"):
        told("ascites", row)


# -------------------------------------------------------------------------------------- deciding


@pytest.mark.parametrize(
    ("formula", "truths", "fewest"),
    [
        ("a and b", {"a": True, "b": True}, ["a", "b"]),
        ("a and b", {"a": False, "b": True}, ["a"]),
        ("a or b", {"a": True, "b": True}, ["a"]),
        ("a or (b and c)", {"a": False, "b": True, "c": True}, ["b", "c"]),
        ("a and (b or not b)", {"a": True, "b": True}, ["a"]),
        ("b or not b", {"b": True}, []),
    ],
)
def test_the_fewest_propositions_that_fix_the_answer_are_found(
    formula: str, truths: dict[str, bool], fewest: list[str]
) -> None:
    parsed = parse(formula)
    found = explanation.sufficient(parsed, values_of(parsed, truths))
    assert found is not None
    assert [p.column for p in found] == fewest


def formulas() -> st.SearchStrategy[str]:
    return st.recursive(
        st.sampled_from(["a", "b", "c", "d"]),
        lambda inner: st.one_of(
            inner.map(lambda f: f"not ({f})"),
            st.tuples(inner, inner).map(lambda p: f"(({p[0]}) and ({p[1]}))"),
            st.tuples(inner, inner).map(lambda p: f"(({p[0]}) or ({p[1]}))"),
        ),
        max_leaves=6,
    )


@given(formulas(), st.tuples(*[st.booleans()] * 4))
@settings(max_examples=60, deadline=None)
def test_what_is_enough_leaves_no_doubt_and_nothing_smaller_does(
    text: str, truths: tuple[bool, ...]
) -> None:
    formula = parse(text)
    values = values_of(formula, dict(zip("abcd", truths, strict=True)))
    found = explanation.sufficient(formula, values)
    assert found is not None
    answer = explanation.truth_of(formula, values)

    def is_fixed_by(kept: tuple[Any, ...]) -> bool:
        rest = [p for p in values if p not in kept]
        guesses = product([False, True], repeat=len(rest))
        return all(
            explanation.truth_of(formula, {**values, **dict(zip(rest, g, strict=True))}) == answer
            for g in guesses
        )

    assert is_fixed_by(found)
    assert not any(is_fixed_by(tuple(p for p in found if p != left)) for left in found)


@given(formulas(), st.tuples(*[st.booleans()] * 4))
@settings(max_examples=60, deadline=None)
def test_the_truth_is_that_of_the_formula_itself(text: str, truths: tuple[bool, ...]) -> None:
    formula = parse(text)
    named = dict(zip("abcd", truths, strict=True))
    table = {name: np.array([truth]) for name, truth in named.items()}
    assert explanation.truth_of(formula, values_of(formula, named)) == formula.evaluate(table)[0]


def test_the_whole_formula_always_decides() -> None:
    formula = parse("albumin >= 2.9 or ascites")
    values = values_of(formula, {"albumin": True, "ascites": True})
    assert [p.decides for p in explanation.parts_of(formula, values, {}, str)] == [
        True,
        False,
        False,
    ]


# ------------------------------------------------------------------------------------- the command


def test_without_a_row_the_formula_is_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result.save(tmp_path / "result.json", fold_result("hepatitis", "pivot", 0))
    assert run_explain(str(tmp_path)) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "hepatitis/pivot/fold-0: albumin >= 2.9 and not ascites"
    assert said[1].startswith("Predict outcome = lives when albumin is at least 2.9 and")


def test_a_table_of_ones_own_is_explained_with_its_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("x,y\n" + "".join(f"{n},{int(n > 5)}\n" for n in range(12)))
    words = [f"dataset.path={table}", "dataset.target=y"]
    digest = explain.table_of(
        tmp_path / "result.json",
        fold_result("mine", "pivot", 0, settings={"data": _digest(words)}),
        words,
    ).digest
    made = fold_result("mine", "pivot", 0, formula="x >= 6", settings={"data": digest})
    result.save(tmp_path / "result.json", made)
    assert run_explain(str(tmp_path / "result.json"), "--row", "7", *words) == 0
    assert "x = 7" in capsys.readouterr().out


def _digest(words: list[str]) -> str:
    from fsm_hpc.data.dataset import load
    from fsm_hpc.study.compose import compose

    return load(compose(["dataset=csv", "method=pivot", *words]).dataset, None).digest


def test_a_table_of_ones_own_without_its_path_is_the_users_mistake(tmp_path: Path) -> None:
    result.save(tmp_path / "result.json", fold_result("mine", "pivot", 0))
    with pytest.raises(UserError, match=r"add dataset\.path= and dataset\.target="):
        run_explain(str(tmp_path), "--row", "0")


def test_a_table_that_has_changed_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("x,y\n" + "".join(f"{n},{int(n > 5)}\n" for n in range(12)))
    result.save(tmp_path / "result.json", fold_result("mine", "pivot", 0))
    with pytest.raises(UserError, match="its content differs"):
        run_explain(str(tmp_path), "--row", "0", f"dataset.path={table}", "dataset.target=y")


def test_a_baseline_has_nothing_to_explain(tmp_path: Path) -> None:
    result.save(tmp_path / "result.json", fold_result("hepatitis", "xgboost", 0))
    with pytest.raises(UserError, match="is a result of xgboost, which has no formula"):
        run_explain(str(tmp_path))


def test_a_file_that_is_no_result_is_the_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text("{}")
    with pytest.raises(UserError, match=r"result\.json is invalid"):
        run_explain(str(tmp_path))


def test_an_interval_of_one_value_is_said_as_that_value() -> None:
    assert parse("3.5 <= albumin <= 3.5").words() == "albumin is 3.5"
    assert parse("not 3.5 <= albumin <= 3.5").words() == "albumin is not 3.5"
