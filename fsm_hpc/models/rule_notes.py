"""What a user of a rule has to know: what time has cut, and how it compares with one answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fsm_hpc.formulas.formula import Formula
from fsm_hpc.models.model import Model
from fsm_hpc.search.objective import ACCURACY
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.stop_reason import StopReason
from fsm_hpc.study.result import FoldResult
from fsm_hpc.system.numbers import counted, percent

IMBALANCED = 0.1  # share of the rarer class below which balanced classes are suggested
NOTE = "note: "  # for the reader of the rule, and no reason for a warning
WARNING = "warning: "


def notes_on(
    fitted: Problem, formula: Formula, classes: Sequence[Any], advice: str | None
) -> list[str]:
    """Where a constant is as good on the fitted rows, or one class is so rare that it may be.

    Without advice the user has weighted the classes already.
    """
    positives, negatives = fitted.positives, fitted.weight - fitted.positives
    rare, frequent = classes if positives > negatives else (classes[1], classes[0])
    told = []
    if fitted.errors(formula) >= min(positives, negatives):
        told.append(f"{NOTE}on the fitted rows it does not beat always saying {frequent}")
    share = min(positives, negatives) / fitted.weight
    if advice and share < IMBALANCED and fitted.objective == ACCURACY:
        of = "rows" if fitted.weights is None else "weight"
        told.append(
            f"{NOTE}the class {rare} has only {percent(share)} of the {of}; with {advice} both "
            "classes count the same"
        )
    return told


def one_answer(
    fitted: Problem, formula: Formula, target: str, classes: Sequence[Any]
) -> Iterator[str]:
    """What to tell of a formula that holds on each fitted row, or on none."""
    truth = formula.evaluate(fitted.table)
    if truth.all() or not truth.any():
        always = classes[int(truth[0])]
        yield (
            f"it says {target} = {always} on each of its rows: no formula of this "
            "length does better than one answer for all"
        )


def notes_of_search(
    model: Model, is_complete: bool, results: Sequence[FoldResult]
) -> Iterator[str]:
    """What a user of the rule has to know."""
    if not is_complete:
        yield (
            f"the time was spent before the rule was proved to be the best of length "
            f"{model.length}: a larger fit.budget_h goes on"
        )
    if model.cut:
        yield "the time ended the choice of the length: a larger fit.budget_h goes on"
    cut = [one.fold for one in results if one.stop_reason == StopReason.TIMEOUT.value]
    unproved = [one.fold for one in results if not one.proved and not one.weight_error]
    if cut or unproved:
        these = len({*cut, *unproved})
        were = "was" if these == 1 else "were"
        yield (
            f"{these} of {counted(len(results), 'fold')} {were} cut by time, so that these figures "
            "may be too low"
        )
    expected = model.figures.get("accuracy")
    if expected is not None and expected["value"] is not None:
        yield from _against_majority(model, expected)


def _against_majority(model: Model, expected: dict[str, Any]) -> Iterator[str]:
    majority, accuracy = model.figures["majority"], expected["value"]
    if accuracy <= majority:
        yield (
            f"{WARNING}with {percent(accuracy)} it does not beat always saying the more frequent "
            f"answer, which is right on {percent(majority)} of the rows"
        )
    elif expected["interval"] is not None and expected["interval"][0] <= majority:
        yield (
            f"its {percent(accuracy)} may be chance: always saying the more frequent answer is "
            f"right on {percent(majority)} of the rows"
        )
    recall = model.figures["recall"]["value"]
    if recall is not None and recall < 0.5:
        yield (
            f"{WARNING}of the rows with {model.target} = {model.classes[1]} it finds only "
            f"{percent(recall)}"
        )
