"""Choose a length, find its best formula, and say what time has cut: the engine of a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from fsm_hpc.formulas.formula import Formula
from fsm_hpc.search.ladder import Length, Split
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.scan import (
    Limits,
    ScanState,
    StoppingRule,
    finish,
    is_proved,
    scan,
    with_a_literal,
)
from fsm_hpc.search.solvers.base import End, Solver
from fsm_hpc.search.stop_reason import StopReason
from fsm_hpc.study.measures import rounding_in_words
from fsm_hpc.system import clock

SHARE_OF_SCAN = 0.7  # of the time that the choice of the length may take
Watch = Callable[[ScanState], None]


def shares(fitted: Problem, formula: Formula) -> tuple[float, float]:
    """Of the rows where it is false, and where it is true, the share that it is right on.

    Rows count with their sample weights; weights of classes and costs never count.
    """
    truth = formula.evaluate(fitted.table)
    weights = np.ones(fitted.rows) if fitted.sample is None else fitted.sample
    parts = ((~truth, ~fitted.labels), (truth, fitted.labels))
    no, yes = (
        float(np.average(right[said], weights=weights[said])) if said.any() else 0.5
        for said, right in parts
    )
    return no, yes


@dataclass(frozen=True)
class Learnt:
    """A formula, and how it was come by."""

    formula: Formula
    length: int
    proved: bool
    stop_reason: str
    cut: bool  # whether time, or Ctrl-C, ended the choice of the length
    lengths: tuple[Length, ...]
    told: tuple[str, ...]  # what was cut


def learn(
    fitted: Problem,
    splits: Sequence[Split],
    solver: Solver,
    rule: StoppingRule,
    length: int | None,
    time_limit_s: float | None,
    watch: Watch = lambda state: None,
    started: float | None = None,
) -> Learnt:
    """The best formula of the chosen length, or of the given one; Ctrl-C keeps the best so far.

    The time limit counts from `started`, on the clock of clock.monotonic().
    """
    began = clock.monotonic() if started is None else started
    latest = [ScanState()]

    def see(state: ScanState) -> None:
        latest[0] = state
        watch(state)

    def left(share: float = 1.0) -> float | None:
        if time_limit_s is None:
            return None
        return max(0.0, share * time_limit_s - (clock.monotonic() - began))

    interrupted = False
    try:
        if length is None:
            limits = Limits(rule, scan_budget_s=left(SHARE_OF_SCAN), watch=see)
            for state in scan(splits, solver, ScanState(), limits):
                see(state)
        for state in finish(fitted, solver, latest[0], _final(rule, left(), see), length):
            see(state)
    except KeyboardInterrupt:
        interrupted = True
    state = latest[0]
    if state.final is None or state.final.best.formula is None:
        state = list(finish(fitted, solver, state, _final(rule, 0.0, lambda _: None), length))[-1]
    elif interrupted:
        state = replace(state, final=with_a_literal(fitted, state.final))
    return _described(fitted, state, length, interrupted)


def _final(rule: StoppingRule, budget_s: float | None, watch: Watch) -> Limits:
    return Limits(rule, final_budget_s=budget_s, watch=watch)


def _described(fitted: Problem, state: ScanState, length: int | None, interrupted: bool) -> Learnt:
    assert state.final is not None
    assert state.final.best.formula is not None
    reason = "" if length is not None else "interrupted"
    if state.stop_reason is not None:
        reason = state.stop_reason.value
    forced = (StopReason.TIMEOUT, StopReason.OUT_OF_MEMORY)
    cut = length is None and (state.stop_reason is None or state.stop_reason in forced)
    told = [*rounding_in_words(fitted.weight_error, fitted.measure)]
    by = "Ctrl-C" if interrupted else "time_limit_s"
    if cut:
        told.append(
            f"{by} ended the choice of the length after length "
            f"{state.lengths[-1].length if state.lengths else 0}; the best so far is taken"
        )
    if state.final.end is not End.PROVED:
        told.append(
            f"{by} ended the search for the best formula of length {state.final.length}; the best "
            "so far is taken, and is not proved"
        )
    return Learnt(
        state.final.best.formula,
        state.final.length,
        is_proved(fitted, state.final),
        reason,
        cut,
        state.lengths,
        tuple(told),
    )


@contextmanager
def shown(verbose: int, name: str) -> Iterator[Watch]:
    """Progress in terminals and notebooks, where it is wanted."""
    if not verbose:
        yield lambda state: None
        return
    from fsm_hpc.models.progress import FoldProgress
    from fsm_hpc.system.terminal import PlainConsole

    with FoldProgress(PlainConsole(stderr=True), name) as progress:
        yield progress.watch
