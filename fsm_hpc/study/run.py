"""Run one fold from its table to result.json, which is written once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
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
    """The solver of a config; `helpers`: processes on other nodes."""
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
    """Run one fold to its end; None if `stop` was set, and the next run continues.

    `history`: provenance of the jobs; `say`: receives messages about invalid files; `helpers`: its
    processes on other nodes; `gives_up`: end the scan at a length that is not expected to end in
    time; `keeps_best`: when stopped, return the best formula so far without writing it. The result
    of the fold `all` is not written, as `fit` completes it.
    """
    fold = prepare(config)
    done = final_result(fold)
    if done is not None:
        return done
    if not may_write():
        return None
    quarantine_other_results(fold, say)
    run = _Run(fold, stop or threading.Event(), watch, may_write, say, helpers)
    processor_s = machine.processor_s()
    if not config.method.name.finds_formula:
        new = run.baseline(on_trial)
    else:
        limits = limits_of(config, run.stop, gives_up)
        new = run.formula(solver_of(config, helpers), limits, keeps_best)
    if new is None or not may_write():
        return None
    new = replace(
        new,
        provenance=new.provenance | history(),
        helpers_lost=0 if helpers is None else helpers.lost,
        processor_s=round(machine.processor_s() - processor_s, 3),
    )
    if config.fold != ALL:
        result.save(fold.paths.result, new)
    return new


@dataclass(frozen=True)
class _Run:
    """A run of a fold, with its callbacks and its helpers on other nodes."""

    fold: Fold
    stop: threading.Event
    watch: Watch
    may_write: MayWrite
    say: Say
    helpers: Helpers | None

    def formula(self, solver: Solver, limits: Limits, keeps_best: bool) -> FoldResult | None:
        """Search for the formula, and write its claim and its alternatives if configured."""
        fold, scan_settings, splits = self.fold, self.fold.config.scan, self.fold.splits
        fitted = fold.problem(fold.rows.fitted)
        alternatives.check(fold, fitted)
        state = self._search(splits, fitted, solver, limits)
        if not state.is_finished and keeps_best:
            return formula_result(fold, _best_so_far(fold.config, fitted, solver, state), splits)
        if not state.is_finished:
            return None
        done = formula_result(fold, state, splits)
        callbacks = (self.stop, self.may_write, self.say, self.helpers)
        row = alternatives.find_and_write(fold, fitted, done, *callbacks)
        if row is None and scan_settings.alternatives is not None and self.stop.is_set():
            return None
        if scan_settings.claim and self.may_write():
            formula, bound = parse(done.formula or ""), done.length_bound or 0
            self.say(write_if_proved(fold.paths.claim, fitted, formula, bound, done.proved))
        return replace(done, alternatives=row)

    def _search(
        self, splits: Sequence[Split], fitted: Problem, solver: Solver, limits: Limits
    ) -> ScanState:
        """Scan the lengths, then find the final formula; continues from the state in scan.json."""
        path, rows = self.fold.paths.scan, checkpoint.key(splits)
        state = self._state_on_disk(rows, splits, fitted)
        with CheckpointWriter(path, rows, self.watch, self.may_write) as keep, closing(solver):
            limits = replace(limits, watch=keep.note)
            for state in scan(splits, solver, state, limits):  # noqa: B020
                keep(state)
            if state.stop_reason is not None:
                for state in finish(fitted, solver, state, limits):  # noqa: B020
                    keep(state)
        return state

    def _state_on_disk(self, rows: str, splits: Sequence[Split], fitted: Problem) -> ScanState:
        """The state to continue from; renames a file that is invalid, wrong, or of other rows or
        settings."""
        path, is_outdated = self.fold.paths.scan, False
        try:
            state = checkpoint.load(path, rows)
            wrong = checkpoint.complaint(state, splits, fitted)
        except UnreadableError as error:
            if error.is_newer:
                raise
            wrong, is_outdated = str(error), isinstance(error, OutdatedError)
        if not wrong:
            return state
        if self.may_write():
            kept = files.rename_outdated(path) if is_outdated else files.quarantine(path).name
            self.say(f"{wrong}; starting again, the old file is kept as {kept}")
        return ScanState()

    def baseline(self, on_trial: OnTrial) -> FoldResult | None:
        """Tune and fit another model."""
        from fsm_hpc.baselines import tuning

        fold, config = self.fold, self.fold.config
        assert config.method.trials is not None
        fitted = tuning.fit(
            fold.dataset,
            fold.rows,
            config.method.name,
            trials=config.method.trials,
            seed=config.seed,
            threads=threads(config),
            record=fold.paths.trials,
            stop=self.stop,
            on_trial=on_trial,
            say=self.say,
            objective=config.objective,
            time_limit_s=config.method.time_limit_s,
        )
        if fitted is None:
            return None
        labels = fold.dataset.labels
        seconds = Seconds(round(fitted.scan_s, 3), round(fitted.final_s, 3))
        return replace(
            common(fold, fitted.test, seconds),
            accuracy=Accuracy(
                float(np.mean(fitted.fitted == labels[fold.rows.fitted])),
                fitted.validation_accuracy,
                float(np.mean(fitted.test == labels[fold.rows.test])),
            ),
            measure=config.objective.measure(fold.dataset.weights is not None),
            model=fitted.model,
            scores=scores_of(labels[fold.rows.test], fitted.scores),
        )


def _best_so_far(config: Config, fitted: Problem, solver: Solver, state: ScanState) -> ScanState:
    """The state with a final formula, without further search."""
    if state.final is not None and state.final.best.formula is not None:
        return state
    limits = replace(limits_of(config, threading.Event()), final_budget_s=0.0)
    with closing(solver):
        return list(finish(fitted, solver, replace(state, final=None), limits))[-1]


def limits_of(config: Config, stop: threading.Event, gives_up: bool = False) -> Limits:
    """The limits of the scan and of the final search."""
    return Limits(
        rule=StoppingRule(config.scan.patience, config.scan.max_length, config.scan.plateau),
        scan_budget_s=config.scan.budget_h * 3600,
        final_budget_s=config.final.budget_h * 3600,
        control=Control(stop=stop, memory_mb=memory_mb(config)),
        gives_up=gives_up,
    )
