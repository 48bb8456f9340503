"""The optimality benchmark counts correctly, and its page is current."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from benchmarks import optimality
from benchmarks.optimality_packages import PACKAGES, Answer
from benchmarks.optimality_page import reproducers, results
from benchmarks.reproduction import ROOT, rewritten
from benchmarks.result_cache import ResultCache
from benchmarks.small_tables import Question, random_table

PARITY = Question(((0, 0), (0, 1), (1, 0), (1, 1)), (0, 1, 1, 0), 2)
NATIVE = next(package for package in PACKAGES if package.name == "fsm_hpc native")


def answer(predictions: list[int], leaves: int = 0, reported: float | None = None) -> Answer:
    return {
        "predictions": predictions,
        "is_optimal": True,
        "leaves": leaves,
        "reported": reported,
    }


def test_a_tree_of_depth_two_computes_parity_and_a_smaller_one_does_not() -> None:
    assert PARITY.optimum() == 0
    assert replace(PARITY, bound=1).optimum() == 2


def test_a_penalty_for_leaves_is_part_of_the_optimum() -> None:
    assert replace(PARITY, penalty=0.25).optimum() == 1.0  # four leaves
    assert replace(PARITY, penalty=1.0).optimum() == 3.0  # one leaf, two errors


def test_deeper_trees_make_no_more_errors_on_random_tables() -> None:
    for seed, is_boolean in itertools.product(range(20), (True, False)):
        question = Question(*random_table(seed, is_boolean), bound=0)
        optima = [replace(question, bound=depth).optimum() for depth in range(4)]
        assert optima == sorted(optima, reverse=True)
        assert optima[0] == min(sum(question.labels), question.labels.count(0))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (answer([0, 1, 1, 0]), "right"),
        (answer([0, 1, 1, 0], reported=0.0), "right"),
        (answer([0, 1, 1, 1]), "wrong"),  # one error more than necessary
        (answer([0, 1, 1, 0], reported=1.0), "wrong"),  # not what the model does
        (answer([0, 1, 1, 1]) | {"is_optimal": False}, "timed out"),
        ({"failed": "ValueError"}, "failed"),
        ({"timed out": 90.0}, "timed out"),
    ],
)
def test_an_answer_is_counted_by_the_predictions_of_its_model(given: Answer, expected: str) -> None:
    assert optimality.category(PARITY, given) == expected


def test_our_solver_is_asked_in_a_process_of_its_own() -> None:
    questions = [replace(PARITY, bound=bound, method="pivot") for bound in (3, 5)]
    answers = optimality.ask(NATIVE, questions)
    assert [optimality.category(*pair) for pair in zip(questions, answers, strict=True)] == [
        "right",
        "right",
    ]


def test_a_question_alone_has_the_same_answer() -> None:
    question = replace(PARITY, bound=5, method="pivot")
    (alone,) = optimality.ask(NATIVE, [question], "alone")
    assert optimality.category(question, alone) == "right"


def test_our_solvers_are_right_in_the_kept_results_and_every_wrong_answer_was_wrong_again() -> None:
    kept = ResultCache(ROOT / optimality.OUT).results
    own = [one for name, one in kept.items() if name.startswith("fsm_hpc")]
    assert len(own) == 2
    assert all(one["counts"] == {"right": one["questions"]} for one in own)
    assert all(one["wrong again"] == one["counts"].get("wrong", 0) for one in kept.values())


def test_the_page_shows_what_is_kept() -> None:
    kept = ResultCache(ROOT / optimality.OUT).results
    known = {"results": lambda: results(kept), "reproducers": lambda: reproducers(kept)}
    text = (ROOT / optimality.PAGE).read_text(encoding="utf-8")
    assert rewritten(text, known) == text, "python -m benchmarks.optimality --write"
