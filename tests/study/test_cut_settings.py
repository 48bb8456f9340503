"""Rules for cuts in studies: the fingerprint, the variant, and what a result states."""

from __future__ import annotations

from pathlib import Path

import pytest

from fsm_hpc.errors import UserError
from fsm_hpc.search.cuts import OBSERVED, CutRule, Cuts
from fsm_hpc.search.method import Method
from fsm_hpc.study import fingerprint, result, variants
from fsm_hpc.study.building import build
from fsm_hpc.study.compose import compose
from fsm_hpc.study.config import Config
from fsm_hpc.study.fold import fold_paths
from fsm_hpc.study.run import run_fold

RULES = [
    ["cuts=midpoints"],
    ["cuts=rounded"],
    ["cuts=rounded", "cuts.slack=2"],
    ["cuts=quantiles"],
    ["cuts=quantiles", "cuts.n=3"],
    ["cuts=given", "cuts.given.age=[30,40]"],
    ["cuts=given", "cuts.given.age=[30,50]"],
]


def settings(*words: str, method: str = "pivot") -> dict[str, object]:
    return fingerprint.settings_that_matter(
        compose(["dataset=hepatitis", f"method={method}", *words]), ""
    )


def test_observed_cuts_leave_the_fingerprint_as_it_was() -> None:
    assert not [name for name in settings() if name.startswith("cuts")]
    assert settings("cuts=observed") == settings()


def test_every_other_rule_is_another_answer() -> None:
    made = [settings(*words) for words in RULES]
    assert len({fingerprint.fingerprint(one) for one in [*made, settings()]}) == len(RULES) + 1


@pytest.mark.parametrize("method", ["median", "random_forest"])
@pytest.mark.parametrize("words", RULES)
def test_what_has_no_cuts_to_choose_stays_the_same(method: str, words: list[str]) -> None:
    assert settings(*words, method=method) == settings(method=method)


@pytest.mark.parametrize("words", RULES)
def test_a_rule_is_read_back_from_what_is_written_down(words: list[str]) -> None:
    config = compose(["dataset=hepatitis", "method=pivot", *words])
    assert build(Config, config.to_dict()) == config
    assert config.cuts.of(Method.PIVOT).rule is CutRule(words[0].partition("=")[2])
    assert config.cuts.of(Method.MEDIAN) == OBSERVED


def test_a_variant_is_named_by_its_rule(tmp_path: Path) -> None:
    plain = compose(["dataset=hepatitis", "method=pivot", f"results_dir={tmp_path}"])
    variants.save_defaults(variants.assign_variants([plain]))
    words = ["dataset=hepatitis", "method=pivot", f"results_dir={tmp_path}", "cuts=rounded"]
    (other,) = variants.assign_variants([compose(words)])
    assert other.variant == "cuts=rounded"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cuts=given"], "cuts=given: expected a list, such as"),
        (["cuts=given", "cuts.given.age=[]"], "cuts.given.age: expected a list of numbers"),
        (["cuts=given", "cuts.given.age=[old]"], "cuts.given.age: expected a list of numbers"),
        (["cuts=quantiles", "cuts.n=0"], "cuts.n: expected at least 1, found 0"),
        (["cuts=rounded", "cuts.slack=-1"], "cuts.slack: expected at least 0, found -1"),
        (["cuts=round"], "did you mean rounded"),
    ],
)
def test_what_is_no_rule_is_refused_before_anything_runs(words: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        compose(["dataset=hepatitis", "method=pivot", *words])


def test_a_result_with_slack_states_both_formulas(tmp_path: Path) -> None:
    words = ["dataset=hepatitis", "method=pivot", "scan.max_length=2", f"results_dir={tmp_path}"]
    config = compose([*words, "solver=native", "cuts=rounded", "cuts.slack=5"])
    done = run_fold(config)
    assert done is not None
    read = result.read(fold_paths(config).result, config.id)
    assert read is not None
    assert read.before_rounding == done.before_rounding
    if done.before_rounding is not None:
        assert done.before_rounding["errors"] == done.lower_bound
        assert done.errors is not None
        assert done.errors <= done.before_rounding["errors"] + 5


def test_lists_are_sorted_and_each_number_is_there_once() -> None:
    assert Cuts.of_lists({"x": [3, 1, 3.0, 2]}).given == (("x", (1.0, 2.0, 3.0)),)
