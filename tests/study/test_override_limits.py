"""An argument that would take minutes to read or to list is refused at once."""

from __future__ import annotations

import time
import tracemalloc
from contextlib import suppress

import pytest

from fsm_hpc.cli.main import main
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.parser import parse
from fsm_hpc.study import hydra
from fsm_hpc.study.compose import expand
from fsm_hpc.study.override_syntax import MOST_FOLDS, check_sweep, unescaped
from fsm_hpc.study.overrides import Override

SWEEP = ("dataset=hepatitis", "method=median", "cluster=local")
THOUSAND = ",".join(map(str, range(1000)))


@pytest.mark.parametrize(
    "words",
    [
        ["fold=range(0,10000000)"],
        ["fold=range(0,1000000000000)"],
        ["seed=range(0,10000000)", "fold=0"],
        ["seed=range(10000000,0,-1)", "fold=0"],
        ["scan.budget_h=range(0,1,0.0000001)"],
        ["seed=shuffle(range(0,10000000))"],
        [f"seed={THOUSAND}", f"scan.patience=choice({THOUSAND})"],
        ["seed=range(0,1000)", "scan.patience=range(1,1000)", "fold=0"],
        ["seed=range(0,99999)", "fold=0,1"],
        ["dataset=glob(*)", "seed=range(0,50000)", "fold=0"],
        ["folds=10000000"],
        ["folds=20000", "seed=0,1,2,3,4,5"],
    ],
    ids=lambda words: " ".join(words)[:60],
)
def test_a_sweep_that_is_too_large_is_refused_before_it_is_listed(words: list[str]) -> None:
    expand(SWEEP[:3])  # what is loaded once
    tracemalloc.start()
    began = time.process_time()
    with pytest.raises(UserError, match="expected at most 100,000 folds in a command, found"):
        expand([*SWEEP, *words])
    spent_s, peak = time.process_time() - began, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert spent_s < 30
    assert peak < 2**26


@pytest.mark.parametrize("command", ["status", "cancel", "plan", "collect", "resume"])
def test_no_command_lists_a_huge_range(
    command: str, tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["fold=range(0,1000000000)", f"results_dir={tmp_path}", *SWEEP[:2]]
    assert main([command, *words]) == 2
    assert "at most 100,000 folds" in capsys.readouterr().err


def test_a_filter_does_not_go_through_a_huge_range() -> None:
    with pytest.raises(UserError, match="at most 100,000 folds"):
        Override("fold=range(0,1000000000)").names("7")


@pytest.mark.parametrize("signs", ["[]", "{}", "()"])
def test_an_argument_nested_too_deeply_is_refused(signs: str) -> None:
    opening, closing = (sign * 10_000 for sign in signs)
    with pytest.raises(UserError, match="at most 24 nested brackets"):
        hydra.parse([f"dataset.drop={opening}a{closing}"])
    with pytest.raises(UserError, match="at most 24 nested brackets"):
        hydra.composed([f"dataset.drop={opening}a{closing}"])


def test_brackets_in_a_quoted_text_are_no_nesting() -> None:
    (override,) = hydra.parse([f'study="{"(" * 100}"'])
    assert unescaped(override.value()) == "(" * 100


def test_an_argument_of_a_megabyte_is_refused_and_not_repeated() -> None:
    began = time.process_time()
    with pytest.raises(UserError, match="at most 100,000 characters") as caught:
        hydra.parse(["seed=" + "1" * 10**6])
    assert time.process_time() - began < 5
    assert len(str(caught.value)) < 1000
    assert "put a long list into a config file" in str(caught.value)


LONG = "x" * 10**6
PROSE = "x " * (10**6 // 2)


@pytest.mark.parametrize(
    "words",
    [
        [LONG],
        ["status", LONG],
        [f"dataset={LONG[:90_000]}", "method=median"],
        [f"{LONG[:90_000]}=1", *SWEEP],
        [f"method={PROSE[:90_000]}"],
        ["predict", LONG],
        ["predict", PROSE],
        ["export", LONG, "--to", "sql"],
        ["export", "model.json", "--to", LONG],
        [f"--{LONG}"],
        ["report", f"--{PROSE}"],
        ["fit", LONG, "dataset.target=y"],
        [f"dataset.path={LONG[:90_000]}", "dataset=csv", "dataset.target=y", "method=median"],
        ["status", f"study={LONG[:90_000]}"],
        ["logs", f"fold={LONG[:90_000]}"],
        ["explain", LONG],
        ["compile", LONG],
        ["datasets", LONG],
    ],
    ids=lambda words: " ".join(words)[:40],
)
def test_no_message_repeats_a_megabyte(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with suppress(SystemExit):  # of argparse
        assert main(words) != 0
    shown = capsys.readouterr()
    assert 0 < len(shown.err + shown.out) < 10_000


@pytest.mark.parametrize(
    "text",
    ["not (" * 100_000, "(" * 100_000, "a and " * 100_000, "at least 2 of (" * 50_000, LONG + " ?"],
    ids=["not", "brackets", "chain", "at least", "long name"],
)
def test_a_hostile_formula_is_refused_in_a_short_message(text: str) -> None:
    with pytest.raises(ValueError, match="formula") as caught:
        parse(text)
    assert len(str(caught.value)) < 5000


def test_the_largest_sweep_is_counted_and_not_refused() -> None:
    parsed = hydra.parse([f"seed=range(0,{MOST_FOLDS})"])
    check_sweep(parsed)
    with pytest.raises(UserError, match="found 200,000"):
        check_sweep(parsed, 2)
