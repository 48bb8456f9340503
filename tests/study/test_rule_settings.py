"""Constraints in studies: words, fingerprint, variants, what a fold is searched with."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.cluster.submit.plan import decide
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.parser import parse
from fsm_hpc.search.constraints import Constraints
from fsm_hpc.study import fingerprint, variants
from fsm_hpc.study.compose import compose
from fsm_hpc.study.config import Config
from fsm_hpc.study.fold import prepare
from fsm_hpc.study.run import run_fold
from fsm_hpc.study.saved_config import of_any_version

RULE = {f.name for f in fields(Constraints)}
WORDS = ("dataset=hepatitis", "method=pivot", "solver=native", "cluster=local")


def composed(*words: str) -> Config:
    return compose([*WORDS, *words])


def matters(*words: str) -> dict[str, Any]:
    return fingerprint.settings_that_matter(composed(*words), "")


def test_words_set_constraints() -> None:
    made = composed("rule.require=[age]", "rule.forbid=sex", "rule.min_support=5")
    assert made.rule == Constraints(require=("age",), forbid=("sex",), min_support=5)
    assert of_any_version(made.to_dict()) == made


def test_a_config_of_before_asks_for_nothing() -> None:
    saved = composed().to_dict()
    del saved["rule"]
    assert of_any_version(saved).rule == Constraints()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rule.require=age", "rule.forbid=age"], "rule.require and rule.forbid both name 'age'"),
        (["rule.max_columns=0"], "rule.max_columns: expected a whole number from 1 on"),
        (["rule.min_support=-3"], "rule.min_support: expected a whole number from 0 on"),
        (["rule.min_support=2.5"], "rule.min_support: expected a whole number"),
    ],
)
def test_contradictions_are_refused_when_the_words_are_read(words: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        composed(*words)


def test_a_name_that_is_no_column_is_refused_before_anything_runs(tmp_path: Path) -> None:
    config = replace(composed("rule.require=agee"), results_dir=tmp_path)
    for look in (partial(prepare, config), partial(decide, [config])):
        with pytest.raises(UserError, match=r"rule.require: no column is called 'agee'"):
            look()


def test_the_default_leaves_the_fingerprint_alone() -> None:
    assert not set(matters()) & set(RULE)
    assert matters("rule.max_columns=2") == matters() | {"max_columns": 2}
    one, other = matters("rule.require=[age,sex]"), matters("rule.require=[sex,age]")
    assert one == other == matters() | {"require": ["age", "sex"]}


def test_constraints_are_a_variant_by_their_words(tmp_path: Path) -> None:
    plain, asked = (
        replace(composed(*words), results_dir=tmp_path, study="s")
        for words in ([], ["rule.require=[age,sex]", "rule.min_support=5"])
    )
    found = [one.variant for one in variants.assign_variants([plain, asked])]
    assert found == ["", "rule.min_support=5+rule.require=age~sex"]


def test_a_baseline_knows_no_constraints() -> None:
    made = compose(["dataset=hepatitis", "method=random_forest", "rule.require=age"])
    assert "require" not in fingerprint.settings_that_matter(made, "")


def test_a_fold_obeys_and_its_result_says_what(tmp_path: Path) -> None:
    words = ("rule.require=[age]", "rule.decreasing=[age]", "rule.min_support=10")
    config = replace(composed(*words, "scan.max_length=4"), results_dir=tmp_path)
    done = run_fold(config)
    assert done is not None
    assert {k: done.settings[k] for k in RULE if k in done.settings} == {
        "require": ["age"],
        "decreasing": ["age"],
        "min_support": 10,
    }
    fold = prepare(config)
    assert fold.problem(fold.rows.fitted).meets_constraints(parse(done.formula or ""))
    assert [row["length"] for row in done.lengths] == [2, 3, 4]
