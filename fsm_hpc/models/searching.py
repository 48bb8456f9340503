"""The search that `FormulaClassifier.fit` runs: a problem for each rule, and one time limit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, check_random_state

from fsm_hpc.baselines.compare import Compare
from fsm_hpc.data.columns import Column
from fsm_hpc.data.fold_kind import Folding
from fsm_hpc.data.folds import make_splits
from fsm_hpc.formulas.language import Language
from fsm_hpc.models import combine, comparison, inputs, learn, notes, parameters
from fsm_hpc.models.combine import ClassRule
from fsm_hpc.models.comparison import Comparison, Pair
from fsm_hpc.models.fitted import FitResult
from fsm_hpc.models.learn import SearchResult
from fsm_hpc.models.model import Class
from fsm_hpc.models.weighing import RowWeights
from fsm_hpc.search.lengths import Split
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.scan import StoppingRule
from fsm_hpc.search.solvers import make_solver
from fsm_hpc.search.solvers.names import SolverName
from fsm_hpc.system import clock

LEAST_S = 0.01  # that each class may take, however little time is left


def search(estimator: Any, X: Any, y: Any, sample_weight: Any, started: float) -> FitResult:
    """The model of an estimator's parameters for these rows."""
    parameters.check(estimator)
    classes, labels, weights = inputs.classes_of(estimator, X, y, sample_weight)
    columns, sources = inputs.fitted_columns(estimator, X, weights)
    named = classes.tolist()
    predicted = range(1 if len(named) == 2 else 0, len(named))
    problems = [_problem(estimator, columns, labels == at, weights) for at in predicted]
    pairs = [] if estimator.length is not None else _pairs_of(estimator, X, labels, weights)
    predictions = [named[at] for at in predicted]
    results = _results(estimator, problems, predictions, pairs, started)
    target = inputs.name_of(y)
    fitted = []
    for problem, result in zip(problems, results, strict=True):
        rule, yes = result.rule, result.rule.prediction
        no = named[0] if len(named) == 2 else f"not {yes}"
        about = (problem, rule.formula, target, (no, yes), not estimator.class_weight)
        fitted.append(ClassRule(rule, problem, (*result.notes, *notes.of_formula(*about))))
    constraints = parameters.constraints_of(estimator).named
    figures = {"majority": float(np.bincount(labels).max() / len(labels))}
    facts = {"constraints": constraints, "figures": figures}
    model = combine.build(target, named, labels, fitted, sources, **facts)
    return FitResult.of(model, {one.rule.prediction: one.problem for one in fitted}, classes)


def _problem(
    estimator: Any, columns: list[Column], labels: NDArray[np.bool_], weights: RowWeights
) -> Problem:
    wanted = (parameters.cuts_of(estimator), Language(estimator.language), weights.objective)
    constraints = parameters.constraints_of(estimator)
    rest = (*wanted, weights.given, constraints, weights.sample)
    return Problem.build(columns, labels, Method(estimator.method), None, *rest)


def _results(
    estimator: Any,
    problems: list[Problem],
    predictions: list[Class],
    pairs: list[Pair],
    started: float,
) -> list[SearchResult]:
    """The search of each problem; the time limit is for all of them together."""
    solver, prepared = estimator.solver, clock.monotonic()
    if isinstance(solver, str):
        solver = make_solver(SolverName(solver), parameters.threads_of(estimator.n_jobs))
    started += clock.monotonic() - prepared  # compilation is outside of the time limit
    rule = StoppingRule(estimator.patience, estimator.max_length, estimator.patience)
    length = None if estimator.length is None else int(estimator.length)
    results: list[SearchResult] = []
    with closing(solver), learn.shown(estimator.verbose, "formula") as watch:
        for at, (problem, yes) in enumerate(zip(problems, predictions, strict=True)):
            splits = [Split(*(problem.on(rows) for rows in pair)) for pair in pairs]
            now, limit_s = clock.monotonic(), estimator.time_limit_s
            if limit_s is not None:
                limit_s = max(LEAST_S, (limit_s - (now - started)) / (len(problems) - at))
            if any(result.interrupted for result in results):
                limit_s = LEAST_S
            found = learn.learn(problem, yes, splits, solver, rule, length, limit_s, watch, now)
            results.append(found)
    return results


def _pairs_of(estimator: Any, X: Any, labels: NDArray[Any], weights: RowWeights) -> list[Pair]:
    """Rows to fit on and rows to choose by, among those that count, as `cv` asks for."""
    pairs = []
    for pair in _parts_of(estimator, X, labels, weights):
        parts = [np.asarray(part) for part in pair]
        if any(part.size == 0 for part in parts):
            raise ValueError("cv: expected rows on both sides of every split, found none")
        pairs.append((parts[0], parts[1]))
    if not pairs:
        raise ValueError("cv: expected at least one split, found none")
    return pairs


def _parts_of(estimator: Any, X: Any, labels: NDArray[Any], weights: RowWeights) -> Iterable[Any]:
    cv = estimator.cv
    if isinstance(cv, Integral):
        seed = estimator.random_state
        if not isinstance(seed, Integral):
            seed = check_random_state(seed).randint(2**31 - 1)
        fraction = estimator.validation_fraction
        folding = Folding(seed=int(seed), validation_fraction=fraction, splits=int(cv))
        return make_splits(np.arange(len(labels)), labels, None, folding)
    if hasattr(cv, "split"):
        kept = X if weights.keeps_all else _safe_indexing(X, weights.kept)
        pairs: Iterable[Any] = cv.split(kept, labels)
        return pairs
    return ([weights.renumbered(part) for part in pair] for pair in cv)


def compare(estimator: Any, X: Any, y: Any, cv: Any, models: str) -> Comparison:
    """Unfitted copies of an estimator and other models on the same folds."""
    classes, labels, weights = inputs.classes_of(estimator, X, y, None)
    columns, _ = inputs.fitted_columns(clone(estimator), X, weights)
    table = np.column_stack([column.values.astype(np.float64) for column in columns])
    pairs = list(check_cv(cv, labels, classifier=True).split(table, labels))
    predicted = []
    for fitted, test in pairs:
        copy = clone(estimator).fit(_safe_indexing(X, fitted), classes[labels[fitted]])
        answers = copy.predict(_safe_indexing(X, test))
        predicted.append(np.searchsorted(classes, answers))
    held_out = np.concatenate([test for _, test in pairs])
    rule = np.concatenate(predicted)
    class_weight = estimator.class_weight
    if isinstance(class_weight, Mapping):
        class_weight = {at: class_weight.get(one, 1) for at, one in enumerate(classes.tolist())}
    methods = Compare(models).methods
    others = comparison.predictions(table, labels, pairs, methods, class_weight)
    return comparison.compare(labels[held_out], rule, others, class_weight == "balanced")
