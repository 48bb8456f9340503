"""What a person sees of one fold: plain lines in a file, a live line on a terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fsm_hpc.formulas.parser import parse
from fsm_hpc.models import progress
from fsm_hpc.models.progress import FoldProgress, print_result
from fsm_hpc.search.frontier import Frontier
from fsm_hpc.search.lengths import Length, LengthAttempt
from fsm_hpc.search.scan import ScanState
from fsm_hpc.search.solvers.base import Incumbent
from tests.support.made_studies import fold_result
from tests.support.scans import scan_state
from tests.support.screens import HIDE_CURSOR, SHOW_CURSOR, lines_of, said, screen

NAME = "bank/pivot/fold-0"
ONE = Length(1, parse("age >= 40"), 20, 0.75, 0.8, True, 0.5, "native")
BEGUN = scan_state(under_way=LengthAttempt(1))
BETTER = scan_state(under_way=LengthAttempt(1, Incumbent(parse("x"), 25, 0, 3)))
PROVED = scan_state(lengths=(ONE,))
NEXT = scan_state(lengths=(ONE,), under_way=LengthAttempt(2, Incumbent(parse("x"), 19, 1, 4)))
FINAL = scan_state(lengths=(ONE,), final=LengthAttempt(1, Incumbent(parse("x"), 30, 1, 5)))


# ------------------------------------------------------------------------------------ in a file


def lines(*states: ScanState) -> list[str]:
    """What is told of these states where there is no terminal, without the time."""
    console = screen(is_terminal=False)
    with FoldProgress(console, NAME) as shown:
        for state in states:
            shown.watch(state)
    return [line.partition("  elapsed 0:00:0")[0] for line in said(console).splitlines()]


def test_a_length_that_has_ended_is_a_line_and_one_that_only_gets_better_is_not() -> None:
    assert lines(BEGUN, BETTER, PROVED, NEXT, FINAL) == [
        f"{NAME}  length 1",
        f"{NAME}  length 1  errors 20  proved  best validation 80.0 %",
        f"{NAME}  final  length 1  errors 30  at least 5  best validation 80.0 %",
    ]


def test_a_bound_that_says_nothing_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PLAIN_EVERY_S", 0.0)
    state = scan_state(under_way=LengthAttempt(1, Incumbent(parse("x"), 25, 0, 0)))
    assert lines(state) == [f"{NAME}  length 1  errors 25"]


def test_how_far_a_length_is_stands_beside_its_errors() -> None:
    frontier = Frontier("digest", 2, None, None, (), None, 0.25, 60.0)
    attempt = LengthAttempt(2, Incumbent(parse("x"), 19, 1, 0, frontier))
    (line,) = lines(scan_state(lengths=(ONE,), under_way=attempt))
    assert "length 2  errors 19  25 % searched, 60 s to 9 min left" in line
    other = replace(attempt, length=3)  # the frontier is that of a smaller size still
    (line,) = lines(scan_state(lengths=(ONE,), under_way=other))
    assert "0 % searched  best" in line


def test_nothing_new_is_not_told_again_at_once() -> None:
    assert len(lines(BETTER, BETTER, BETTER)) == 1


def test_nothing_new_is_told_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PLAIN_EVERY_S", 0.0)
    assert len(lines(BETTER, BETTER, BETTER)) == 3


def test_a_line_in_a_file_has_no_control_codes_and_is_not_broken() -> None:
    console = screen(is_terminal=False, width=20)
    with FoldProgress(console, "[bold]name/pivot/fold-0") as shown:
        shown.watch(NEXT)
    assert "\x1b" not in said(console)
    assert said(console).count("\n") == 1
    assert said(console).startswith("[bold]name/pivot/fold-0  length 2")


def test_every_trial_of_a_baseline_is_a_line() -> None:
    console = screen(is_terminal=False)
    with FoldProgress(console, "bank/xgboost/fold-0") as shown:
        shown.on_trial(1, 0.75)
        shown.on_trial(2, 0.8125)
    assert said(console).splitlines() == [
        "bank/xgboost/fold-0  trial 1, best validation accuracy 75.0 %",
        "bank/xgboost/fold-0  trial 2, best validation accuracy 81.2 %",
    ]


# ---------------------------------------------------------------------------------- on a terminal


def test_a_terminal_shows_the_last_state_in_one_line_that_stays() -> None:
    console = screen(is_terminal=True)
    with FoldProgress(console, NAME) as shown:
        shown.watch(BEGUN)
        shown.watch(NEXT)
    expected = f"{NAME}  length 2  errors 19  at least 4  best validation 80.0 %  elapsed 0:00:0"
    assert lines_of(console)[-1].startswith(expected)


def test_a_terminal_shows_the_trials_of_a_baseline() -> None:
    console = screen(is_terminal=True)
    with FoldProgress(console, "bank/xgboost/fold-0") as shown:
        shown.on_trial(7, 0.75)
    expected = "bank/xgboost/fold-0  trial 7, best validation accuracy 75.0 %"
    assert lines_of(console)[-1] == expected


def test_a_terminal_gets_its_cursor_back() -> None:
    console = screen(is_terminal=True)
    with pytest.raises(KeyboardInterrupt), FoldProgress(console, NAME):
        raise KeyboardInterrupt
    assert said(console).rindex(SHOW_CURSOR) > said(console).rindex(HIDE_CURSOR)


# -------------------------------------------------------------------------------------- the result


@pytest.mark.parametrize("is_terminal", [False, True])
def test_a_result_is_its_formula_its_accuracies_and_its_lengths(is_terminal: bool) -> None:
    console = screen(is_terminal)
    print_result(console, fold_result("hepatitis", "pivot", 0))
    text = said(console)
    assert "albumin >= 2.9 and not ascites" in text
    assert "size 4 within 4, errors: 12 of 116 rows (10.3 %), proved optimal" in text
    assert "fitted 90.0 %, validation 87.5 %, held out 80.0 %; 12.0 s" in text
    assert "4*" in text
    assert "* chosen length" in text


def test_a_result_without_a_proof_says_its_bound() -> None:
    console = screen(is_terminal=False)
    print_result(console, fold_result("hepatitis", "pivot", 0, proved=False, lower_bound=9))
    assert "not proved (bound 9)" in said(console)


def test_a_baseline_is_told_with_its_parameters() -> None:
    console = screen(is_terminal=False)
    print_result(console, fold_result("hepatitis", "random_forest", 0))
    assert "random_forest n_estimators=120, max_depth=None, max_features=sqrt" in said(console)
    assert "held out 81.0 %" in said(console)
