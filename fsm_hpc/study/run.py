"""One job: one dataset x method x fold, from table to result.json."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from fsm_hpc.data.dataset import Dataset
from fsm_hpc.formulas.formula import Formula, Truth
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.scan import Limits, ScanState, StoppingRule, describe_length, finish, scan
from fsm_hpc.search.solvers import make_solver
from fsm_hpc.search.solvers.base import Control, End, Solver
from fsm_hpc.study import checkpoint, result
from fsm_hpc.study.checkpoint import Keeper, MayWrite, Watch
from fsm_hpc.study.config import Config
from fsm_hpc.study.job import Job, finished, memory_mb, prepare, threads
from fsm_hpc.study.provenance import provenance
from fsm_hpc.study.result import Accuracy, Confusion, FoldResult, Seconds
from fsm_hpc.system import machine

OnTrial = Callable[[int, float], None]


def run_fold(
    config: Config,
    stop: threading.Event | None = None,
    watch: Watch = lambda state: None,
    on_trial: OnTrial = lambda count, best: None,
    may_write: MayWrite = lambda: True,
) -> FoldResult | None:
    """Run one job to its end; None when `stop` was set, and the next run goes on from there."""
    job = prepare(config)
    done = finished(job)
    if done is not None:
        return done
    stop = stop or threading.Event()
    if not config.method.name.finds_formula:
        made = _run_baseline(job, stop, on_trial)
    else:
        made = _run_formula(job, stop, watch, may_write)
    if made is None or not may_write():
        return None
    result.save(job.paths.result, made)
    return made


def _run_formula(
    job: Job, stop: threading.Event, watch: Watch, may_write: MayWrite
) -> FoldResult | None:
    train, validation = job.problem(job.fold.train), job.problem(job.fold.validation)
    solver = _solver(job.config)
    rows = checkpoint.key(train, validation)
    state = checkpoint.load(job.paths.scan, rows)
    with Keeper(job.paths.scan, rows, watch, may_write) as keep, closing(solver):
        limits = _limits(job.config, stop, keep.note)
        for state in scan(train, validation, solver, state, limits):  # noqa: B020
            keep(state)
        if state.stop_reason is not None:
            for state in finish(job.problem(job.fold.fitted), solver, state, limits):  # noqa: B020
                keep(state)
    if not state.is_finished:
        return None
    return _describe(job, state, train, validation)


def _describe(job: Job, state: ScanState, train: Problem, validation: Problem) -> FoldResult:
    assert state.final is not None
    assert state.final.best.formula is not None
    assert state.stop_reason is not None
    final, formula = state.final, state.final.best.formula
    fitted, test = job.problem(job.fold.fitted), job.problem(job.fold.test)
    lengths = list(state.lengths)
    if state.under_way is not None and state.under_way.best.formula is not None:
        open_ = state.under_way
        best = state.under_way.best.formula
        lengths.append(describe_length(train, validation, open_, best, train.errors(best), False))
    return replace(
        _common(
            job,
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
        words=_sentence(job.dataset, formula),
        size=formula.size,
        length_bound=final.length,
        errors=fitted.errors(formula),
        lower_bound=final.best.lower_bound,
        lengths=[checkpoint.length_to_dict(entry) for entry in lengths],
        phrases=_phrases(job.dataset, formula),
    )


def _run_baseline(job: Job, stop: threading.Event, on_trial: OnTrial) -> FoldResult | None:
    from fsm_hpc.baselines import tuning as baselines

    config = job.config
    outcome = baselines.fit(
        job.dataset,
        job.fold,
        config.method.name,
        trials=config.method.trials,
        seed=config.seed,
        threads=threads(config),
        journal=job.paths.trials,
        stop=stop,
        on_trial=on_trial,
    )
    if outcome is None:
        return None
    labels = job.dataset.labels
    return replace(
        _common(job, outcome.test, Seconds(round(outcome.scan_s, 3), round(outcome.final_s, 3))),
        accuracy=Accuracy(
            float(np.mean(outcome.fitted == labels[job.fold.fitted])),
            outcome.validation_accuracy,
            float(np.mean(outcome.test == labels[job.fold.test])),
        ),
        model=outcome.model,
    )


def _common(job: Job, predicted: Truth, seconds: Seconds) -> FoldResult:
    """What every method's result says; the parts of its own are filled in by the caller."""
    config, dataset, settings = job.config, job.dataset, job.settings
    labels = dataset.labels[job.fold.test]
    return FoldResult(
        dataset=dataset.name,
        method=config.method.name.value,
        fold=config.fold,
        solver=config.solver.name if config.method.name.finds_formula else "optuna",
        seed=config.seed,
        accuracy=Accuracy(0.0, 0.0, 0.0),
        confusion=Confusion(
            int(np.sum(predicted & labels)),
            int(np.sum(predicted & ~labels)),
            int(np.sum(~predicted & ~labels)),
            int(np.sum(~predicted & labels)),
        ),
        rows={part: len(getattr(job.fold, part)) for part in ("train", "validation", "test")},
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


def _solver(config: Config) -> Solver:
    settings = config.solver
    options: dict[str, dict[str, Any]] = {
        "clingo_dl": {"encoding": settings.encoding},
        "portfolio": {"head_start_s": settings.head_start_s},
    }
    return make_solver(settings.name, threads(config), **options.get(settings.name, {}))


def _limits(config: Config, stop: threading.Event, watch: Watch) -> Limits:
    return Limits(
        rule=StoppingRule(config.scan.patience, config.scan.max_length),
        scan_budget_s=config.scan.budget_h * 3600,
        final_budget_s=config.final.budget_h * 3600,
        control=Control(stop=stop, memory_mb=memory_mb(config)),
        watch=watch,
    )
