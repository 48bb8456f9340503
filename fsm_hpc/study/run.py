"""One fold from table to result.json, which is written once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fsm_hpc.baselines import OnTrial
from fsm_hpc.formulas.parser import parse
from fsm_hpc.search.claim import write_if_proved
from fsm_hpc.search.lengths import Split
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.scan import Limits, ScanState, StoppingRule, finish, scan
from fsm_hpc.search.solvers import make_solver
from fsm_hpc.search.solvers.base import Control, Solver
from fsm_hpc.study import alternatives, checkpoint, result
from fsm_hpc.study.checkpoint import CheckpointWriter, MayWrite, OutdatedError, Watch
from fsm_hpc.study.config import Config
from fsm_hpc.study.describe import common, formula_result
from fsm_hpc.study.fold import (
    Fold,
    final_result,
    memory_mb,
    prepare,
    quarantine_other_results,
    threads,
)
from fsm_hpc.study.fold_id import ALL
from fsm_hpc.study.measures import scores_of
from fsm_hpc.study.result import Accuracy, FoldResult, Seconds
from fsm_hpc.system import files, machine
from fsm_hpc.system.files import UnreadableError

if TYPE_CHECKING:
    from fsm_hpc.search.solvers.native.parts import Helpers

History = Callable[[], dict[str, Any]]
Say = Callable[[str], None]
SolverOf = Callable[[Config, "Helpers | None"], Solver]


def configured_solver(config: Config, helpers: Helpers | None = None) -> Solver:
    """The solver of a config; with `helpers` on other nodes for what it can share with them."""
    return make_solver(config.solver.name, threads(config), helpers, **config.solver.options)


def run_fold(
    config: Config,
    stop: threading.Event | None = None,
    watch: Watch = lambda state: None,
    on_trial: OnTrial = lambda count, best: None,
    may_write: MayWrite = lambda: True,
    history: History = dict,
    solver_of: SolverOf = configured_solver,
    say: Say = lambda text: None,
    helpers: Helpers | None = None,
    gives_up: bool = False,
    keeps_best: bool = False,
) -> FoldResult | None:
    """Run one fold to its end; None when `stop` was set, and the next run goes on from there.

    `history` tells what the result's provenance says about the jobs that worked on it; `say` hears
    of files that were not understood, and where they are kept; `helpers` are its other nodes;
    `gives_up`: a length that is not expected to end within the budget ends the scan; `keeps_best`:
    when it is stopped, the best formula so far is returned and not written. Of the fold `all` the
    result is not written either: `fit` completes it.
    """
    fold = prepare(config)
    done = final_result(fold)
    if done is not None:
        return done
    if not may_write():
        return None
    quarantine_other_results(fold, say)
    stop = stop or threading.Event()
    processor_s = machine.processor_s()
    if not config.method.name.finds_formula:
        made = _run_baseline(fold, stop, on_trial, say)
    else:
        solver = solver_of(config, helpers)
        limits = limits_of(config, stop, gives_up)
        made = _run_formula(fold, solver, limits, watch, may_write, say, helpers, keeps_best)
    if made is None or not may_write():
        return None
    helpers_lost = 0 if helpers is None else helpers.lost
    made = replace(
        made,
        provenance=made.provenance | history(),
        helpers_lost=helpers_lost,
        processor_s=round(machine.processor_s() - processor_s, 3),
    )
    if config.fold != ALL:
        result.save(fold.paths.result, made)
    return made


def _run_formula(
    fold: Fold,
    solver: Solver,
    limits: Limits,
    watch: Watch,
    may_write: MayWrite,
    say: Say,
    helpers: Helpers | None,
    keeps_best: bool,
) -> FoldResult | None:
    splits, stop = fold.splits, limits.control.stop
    fitted = fold.problem(fold.rows.fitted)
    alternatives.check(fold, fitted)
    state = search_formula(fold.paths.scan, splits, fitted, solver, limits, watch, may_write, say)
    if not state.is_finished and keeps_best:
        return formula_result(fold, _best_so_far(fold.config, fitted, solver, state), splits)
    if not state.is_finished:
        return None
    done = formula_result(fold, state, splits)
    found = alternatives.find_and_write(fold, fitted, done, stop, may_write, say, helpers)
    if found is None and fold.config.scan.alternatives is not None and stop.is_set():
        return None
    if fold.config.scan.claim and may_write():
        formula, bound = parse(done.formula or ""), done.length_bound or 0
        say(write_if_proved(fold.paths.claim, fitted, formula, bound, done.proved))
    return replace(done, alternatives=found)


def _best_so_far(config: Config, fitted: Problem, solver: Solver, state: ScanState) -> ScanState:
    """The state with a final formula, found without further search."""
    if state.final is not None and state.final.best.formula is not None:
        return state
    limits = replace(limits_of(config, threading.Event()), final_budget_s=0.0)
    with closing(solver):
        return list(finish(fitted, solver, replace(state, final=None), limits))[-1]


def search_formula(
    path: Path,
    splits: Sequence[Split],
    fitted: Problem,
    solver: Solver,
    limits: Limits,
    watch: Watch = lambda state: None,
    may_write: MayWrite = lambda: True,
    say: Say = lambda text: None,
) -> ScanState:
    """Scan the lengths, then find the final formula, from and to the state in the file."""
    rows = checkpoint.key(splits)
    state = _state_on_disk(path, rows, splits, fitted, say, may_write)
    with CheckpointWriter(path, rows, watch, may_write) as keep, closing(solver):
        limits = replace(limits, watch=keep.note)
        for state in scan(splits, solver, state, limits):  # noqa: B020
            keep(state)
        if state.stop_reason is not None:
            for state in finish(fitted, solver, state, limits):  # noqa: B020
                keep(state)
    return state


def _state_on_disk(
    path: Path,
    rows: str,
    splits: Sequence[Split],
    fitted: Problem,
    say: Say,
    may_write: MayWrite,
) -> ScanState:
    """Where to go on from; a file that is not understood, says what is not so, or is of other
    rows or settings, is kept under another name."""
    is_outdated = False
    try:
        state = checkpoint.load(path, rows)
        wrong = checkpoint.complaint(state, splits, fitted)
    except UnreadableError as error:
        if error.is_newer:
            raise
        wrong, is_outdated = str(error), isinstance(error, OutdatedError)
    if not wrong:
        return state
    if may_write():
        kept = files.rename_outdated(path) if is_outdated else files.quarantine(path).name
        say(f"{wrong}; begins anew, and what was there is kept as {kept}")
    return ScanState()


def _run_baseline(
    fold: Fold, stop: threading.Event, on_trial: OnTrial, say: Say
) -> FoldResult | None:
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
        record=fold.paths.trials,
        stop=stop,
        on_trial=on_trial,
        say=say,
        objective=config.objective,
        time_limit_s=config.method.time_limit_s,
    )
    if fitted is None:
        return None
    labels = fold.dataset.labels
    return replace(
        common(fold, fitted.test, Seconds(round(fitted.scan_s, 3), round(fitted.final_s, 3))),
        accuracy=Accuracy(
            float(np.mean(fitted.fitted == labels[fold.rows.fitted])),
            fitted.validation_accuracy,
            float(np.mean(fitted.test == labels[fold.rows.test])),
        ),
        measure=config.objective.measure(fold.dataset.weights is not None),
        model=fitted.model,
        scores=scores_of(labels[fold.rows.test], fitted.scores),
    )


def limits_of(config: Config, stop: threading.Event, gives_up: bool = False) -> Limits:
    """When a fold's scan and its final solve end."""
    return Limits(
        rule=StoppingRule(config.scan.patience, config.scan.max_length, config.scan.plateau),
        scan_budget_s=config.scan.budget_h * 3600,
        final_budget_s=config.final.budget_h * 3600,
        control=Control(stop=stop, memory_mb=memory_mb(config)),
        gives_up=gives_up,
    )
