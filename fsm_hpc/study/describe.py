"""Build the result of a fold: formula, accuracies and lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fsm_hpc.data.dataset import Dataset
from fsm_hpc.formulas.formula import Formula, Truth, missing_name
from fsm_hpc.search import rounding
from fsm_hpc.search.lengths import Split, describe_length
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.rounding import within_slack
from fsm_hpc.search.scan import ScanState, is_proved
from fsm_hpc.study import fingerprint
from fsm_hpc.study.fold import Fold, memory_mb, threads
from fsm_hpc.study.measures import Confusion, Scores, scores_of, smoothed_shares
from fsm_hpc.study.provenance import provenance
from fsm_hpc.study.result import INTERRUPTED, Accuracy, FoldResult, Seconds
from fsm_hpc.system import machine


def formula_result(fold: Fold, state: ScanState, splits: Sequence[Split]) -> FoldResult:
    assert state.final is not None
    assert state.final.best.formula is not None
    final, found = state.final, state.final.best.formula
    fitted = fold.problem(fold.rows.fitted)
    test = fold.problem(fold.rows.test) if len(fold.rows.test) else None  # the fold `all` has none
    formula = within_slack(fitted, found)
    validation = state.best_validation
    if not state.candidates:
        validation = splits[0].validation.accuracy(formula)
    return replace(
        common(
            fold,
            formula.evaluate(test.table) if test else np.zeros(0, bool),
            Seconds(round(state.scan_s, 3), round(final.seconds, 3)),
        ),
        accuracy=Accuracy(
            fitted.share_of_rows(formula), validation, test.share_of_rows(formula) if test else 0.0
        ),
        measure=fitted.measure,
        weight=None if fitted.weights is None else fitted.weight,
        weight_error=fitted.weight_error,
        measured=None
        if fitted.weights is None
        else Accuracy(
            fitted.accuracy(formula), validation, test.accuracy(formula) if test else 0.0
        ),
        stop_reason=state.stop_reason.value if state.stop_reason else INTERRUPTED,
        proved=is_proved(fitted, final),
        final_end=final.end.value if final.end else None,
        formula=str(formula),
        latex=formula.latex(),
        words=_sentence(fold.dataset, formula),
        size=formula.size,
        length_bound=final.length,
        errors=fitted.errors(formula),
        lower_bound=final.best.lower_bound,
        proved_length=final.best.proved_length,
        lengths=_length_rows(state, splits),
        phrases=_phrases(fold.dataset, formula),
        before_rounding=rounding.before(fitted, found, formula),
        scores=_scores(fold, formula, fitted, test) if test else None,
    )


def _scores(fold: Fold, formula: Formula, fitted: Problem, test: Problem) -> Scores:
    """The probability of a row: the share of positive rows among fitted rows of its prediction."""
    labels = fold.dataset.labels
    shares = smoothed_shares(formula.evaluate(fitted.table), labels[fold.rows.fitted])
    probabilities = np.where(formula.evaluate(test.table), shares[1], shares[0])
    return scores_of(labels[fold.rows.test], probabilities)


def _length_rows(state: ScanState, splits: Sequence[Split]) -> list[dict[str, Any]]:
    """The result of every length, with each split's own formula where there are several.

    A row of a length whose search has not ended has `finished: false`.
    """
    rows = [entry.row for entry in state.candidates]
    for row in rows[len(state.lengths) :]:
        row["finished"] = False
    if len(splits) > 1:
        for number, row in enumerate(rows):
            entries = [progress.candidates[number] for progress in state.by_split]
            row["splits"] = [
                {
                    "formula": str(entry.formula),
                    "errors": entry.errors,
                    "validation_accuracy": entry.validation_accuracy,
                }
                for entry in entries
            ]
    elif (
        len(rows) == len(state.lengths)
        and state.under_way is not None
        and state.under_way.best.formula is not None
    ):
        best = state.under_way.best.formula
        errors = splits[0].train.errors(best)
        entry = describe_length(splits[0], state.under_way, best, errors, False)
        rows.append(entry.row | {"finished": False})
    return rows


def common(fold: Fold, predicted: Truth, seconds: Seconds) -> FoldResult:
    """The fields that results of all methods have; the caller adds the others."""
    config, dataset, settings = fold.config, fold.dataset, fold.settings
    labels = dataset.labels[fold.rows.test]
    return FoldResult(
        dataset=dataset.name,
        method=config.method.name.value,
        fold=config.fold,
        solver=config.solver.name.value if config.method.name.finds_formula else "optuna",
        seed=config.seed,
        accuracy=Accuracy(0.0, 0.0, 0.0),
        confusion=Confusion.of(labels, predicted),
        rows={part: len(getattr(fold.rows, part)) for part in ("train", "validation", "test")},
        stop_reason="finished",
        proved=False,
        seconds=seconds,
        fingerprint=fingerprint.fingerprint(settings),
        settings=settings,
        provenance=provenance(config, threads(config), memory_mb(config)),
        target=dataset.target,
        positive=dataset.positive,
        negative=dataset.negative,
        peak_rss_mb=machine.peak_rss_mb(),
        variant=config.variant,
    )


def _phrases(dataset: Dataset, formula: Formula) -> dict[str, list[str]]:
    known = dataset.phrases()
    columns = {p.column for p in formula.propositions()}
    used = columns | set(map(missing_name, columns))
    return {column: list(known[column]) for column in sorted(used) if column in known}


def _sentence(dataset: Dataset, formula: Formula) -> str:
    condition = formula.words(dataset.phrases())
    yes, no = (f"{dataset.target} = {value}" for value in (dataset.positive, dataset.negative))
    return f"Predict {yes} when {condition}; otherwise {no}."
