"""One fold from table to result.json, which is written once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from fsm_hpc.baselines import OnTrial
from fsm_hpc.data.dataset import Dataset
from fsm_hpc.formulas.formula import Formula, Truth
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.scan import Limits, ScanState, StoppingRule, describe_length, finish, scan
from fsm_hpc.search.solvers import make_solver
from fsm_hpc.search.solvers.base import Control, End, Solver
from fsm_hpc.study import checkpoint, result
from fsm_hpc.study.checkpoint import Keeper, MayWrite, Watch
from fsm_hpc.study.config import Config
from fsm_hpc.study.fold import Fold, final_result, memory_mb, prepare, threads
from fsm_hpc.study.provenance import provenance
from fsm_hpc.study.result import Accuracy, Confusion, FoldResult, Seconds
from fsm_hpc.system import machine

History = Callable[[], dict[str, Any]]
SolverOf = Callable[[Config], Solver]


def configured_solver(config: Config) -> Solver:
    return make_solver(config.solver.name, threads(config), **config.solver.options)


def run_fold(
    config: Config,
    stop: threading.Event | None = None,
    watch: Watch = lambda state: None,
    on_trial: OnTrial = lambda count, best: None,
    may_write: MayWrite = lambda: True,
    history: History = dict,
    solver_of: SolverOf = configured_solver,
) -> FoldResult | None:
    """Run one fold to its end; None when `stop` was set, and the next run goes on from there.

    `history` tells what the result's provenance says about the jobs that worked on it.
    """
    fold = prepare(config)
    done = final_result(fold)
    if done is not None:
        return done
    stop = stop or threading.Event()
    if not config.method.name.finds_formula:
        made = _run_baseline(fold, stop, on_trial)
    else:
        made = _run_formula(fold, solver_of(config), stop, watch, may_write)
    if made is None or not may_write():
        return None
    made = replace(made, provenance=made.provenance | history())
    result.save(fold.paths.result, made)
    return made


def _run_formula(
    fold: Fold, solver: Solver, stop: threading.Event, watch: Watch, may_write: MayWrite
) -> FoldResult | None:
    train, validation = fold.problem(fold.rows.train), fold.problem(fold.rows.validation)
    rows = checkpoint.key(train, validation)
    state = checkpoint.load(fold.paths.scan, rows)
    with Keeper(fold.paths.scan, rows, watch, may_write) as keep, closing(solver):
        limits = _limits(fold.config, stop, keep.note)
        for state in scan(train, validation, solver, state, limits):  # noqa: B020
            keep(state)
        if state.stop_reason is not None:
            for state in finish(fold.problem(fold.rows.fitted), solver, state, limits):  # noqa: B020
                keep(state)
    if not state.is_finished:
        return None
    return _describe(fold, state, train, validation)


def _describe(fold: Fold, state: ScanState, train: Problem, validation: Problem) -> FoldResult:
    assert state.final is not None
    assert state.final.best.formula is not None
    assert state.stop_reason is not None
    final, formula = state.final, state.final.best.formula
    fitted, test = fold.problem(fold.rows.fitted), fold.problem(fold.rows.test)
    lengths = list(state.lengths)
    if state.under_way is not None and state.under_way.best.formula is not None:
        open_ = state.under_way
        best = state.under_way.best.formula
        lengths.append(describe_length(train, validation, open_, best, train.errors(best), False))
    return replace(
        _common(
            fold,
            formula.evaluate(test.table),
            Seconds(round(state.scan_s, 3), round(final.seconds, 3)),
        ),
        accuracy=Accuracy(
            fitted.accuracy(formula),
            state.best_validation if state.lengths else validation.accuracy(formula),
            test.accuracy(formula),
        ),
        stop_reason=state.stop_reason.value,
        proved=final.end is End.PROVED,
        final_end=final.end.value if final.end else None,
        formula=str(formula),
        latex=formula.latex(),
        words=_sentence(fold.dataset, formula),
        size=formula.size,
        length_bound=final.length,
        errors=fitted.errors(formula),
        lower_bound=final.best.lower_bound,
        lengths=[checkpoint.length_to_dict(entry) for entry in lengths],
        phrases=_phrases(fold.dataset, formula),
    )


def _run_baseline(fold: Fold, stop: threading.Event, on_trial: OnTrial) -> FoldResult | None:
    from fsm_hpc.baselines import tuning

    config = fold.config
    assert config.method.trials is not None
    fitted = tuning.fit(
        fold.dataset,
        fold.rows,
        config.method.name,
        trials=config.method.trials,
        seed=config.seed,
        threads=threads(config),
        journal=fold.paths.trials,
        stop=stop,
        on_trial=on_trial,
    )
    if fitted is None:
        return None
    labels = fold.dataset.labels
    return replace(
        _common(fold, fitted.test, Seconds(round(fitted.scan_s, 3), round(fitted.final_s, 3))),
        accuracy=Accuracy(
            float(np.mean(fitted.fitted == labels[fold.rows.fitted])),
            fitted.validation_accuracy,
            float(np.mean(fitted.test == labels[fold.rows.test])),
        ),
        model=fitted.model,
    )


def _common(fold: Fold, predicted: Truth, seconds: Seconds) -> FoldResult:
    """What every method's result says; the parts of its own are filled in by the caller."""
    config, dataset, settings = fold.config, fold.dataset, fold.settings
    labels = dataset.labels[fold.rows.test]
    return FoldResult(
        dataset=dataset.name,
        method=config.method.name.value,
        fold=config.fold,
        solver=config.solver.name.value if config.method.name.finds_formula else "optuna",
        seed=config.seed,
        accuracy=Accuracy(0.0, 0.0, 0.0),
        confusion=Confusion(
            int(np.sum(predicted & labels)),
            int(np.sum(predicted & ~labels)),
            int(np.sum(~predicted & ~labels)),
            int(np.sum(~predicted & labels)),
        ),
        rows={part: len(getattr(fold.rows, part)) for part in ("train", "validation", "test")},
        stop_reason="finished",
        proved=False,
        seconds=seconds,
        fingerprint=result.fingerprint(settings),
        settings=settings,
        provenance=provenance(config, threads(config), memory_mb(config)),
        target=dataset.target,
        positive=dataset.positive,
        negative=dataset.negative,
        peak_rss_mb=machine.peak_rss_mb(),
    )


def _phrases(dataset: Dataset, formula: Formula) -> dict[str, list[str]]:
    known = dataset.phrases()
    used = {p.column for p in formula.propositions()}
    return {column: list(known[column]) for column in sorted(used) if column in known}


def _sentence(dataset: Dataset, formula: Formula) -> str:
    condition = formula.words(dataset.phrases())
    yes, no = (f"{dataset.target} = {value}" for value in (dataset.positive, dataset.negative))
    return f"Predict {yes} when {condition}; otherwise {no}."


def _limits(config: Config, stop: threading.Event, watch: Watch) -> Limits:
    return Limits(
        rule=StoppingRule(config.scan.patience, config.scan.max_length),
        scan_budget_s=config.scan.budget_h * 3600,
        final_budget_s=config.final.budget_h * 3600,
        control=Control(stop=stop, memory_mb=memory_mb(config)),
        watch=watch,
    )
