"""Choose a length, find its best formula, and state what a time limit prevented."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.formulas.formula import Formula, Truth
from fsm_hpc.models.model import BeforeRounding, Class, Coverage, Rule
from fsm_hpc.models.notes import Note, NoteKind, of_rounded_weights
from fsm_hpc.search import rounding
from fsm_hpc.search.attempts import at_least_simple
from fsm_hpc.search.lengths import Split
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.rounding import within_slack
from fsm_hpc.search.scan import (
    Limits,
    ScanState,
    StoppingRule,
    finish,
    is_proved,
    scan,
)
from fsm_hpc.search.solvers.base import End, Solver
from fsm_hpc.search.stop_reason import StopReason
from fsm_hpc.system import clock

SHARE_OF_SCAN = 0.7  # of the time that the choice of the length may take
# causes of an end before longer formulas were compared without proof
_CAUSES: dict[StopReason | None, str] = {
    StopReason.OUT_OF_MEMORY: "memory limit",
    StopReason.TOO_LARGE: "number of formulas",
}
Watch = Callable[[ScanState], None]


@dataclass(frozen=True)
class SearchResult:
    """The rule of a finished search."""

    rule: Rule
    notes: tuple[Note, ...]
    interrupted: bool = False


def figures_of(problem: Problem, formula: Formula) -> dict[str, Any]:
    """What a rule states of its formula on the fitted rows."""
    covered = coverage(formula.evaluate(problem.table), problem.labels, problem.sample)
    return {
        "errors": problem.errors(formula),
        "precision": covered.precision or 0.0,
        "support": covered.support,
        "recall": covered.recall,
    }


def coverage(truth: Truth, labels: Truth, sample: NDArray[np.float64] | None) -> Coverage:
    """Support, precision and recall of a formula's truth on the fitted rows.

    Rows count with their sample weights; weights of classes and costs never count.
    """
    weights = np.ones(len(labels)) if sample is None else sample
    found, held, of_class = (weights[rows].sum() for rows in (truth & labels, truth, labels))
    return Coverage(
        int(np.count_nonzero(truth)),
        float(found / held) if held else None,
        float(found / of_class) if of_class else None,
    )


def learn(
    fitted: Problem,
    prediction: Class,
    splits: Sequence[Split],
    solver: Solver,
    rule: StoppingRule,
    length: int | None,
    time_limit_s: float | None,
    watch: Watch = lambda state: None,
    started: float | None = None,
) -> SearchResult:
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
            limits = Limits(rule, left(SHARE_OF_SCAN), watch=see, gives_up=True)
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
        state = replace(state, final=at_least_simple(fitted, state.final))
    lengths = tuple(entry.row for entry in state.candidates)
    return described(fitted, prediction, state, lengths, length, interrupted)


def _final(rule: StoppingRule, budget_s: float | None, watch: Watch) -> Limits:
    return Limits(rule, final_budget_s=budget_s, watch=watch)


def described(
    fitted: Problem,
    prediction: Class,
    state: ScanState,
    lengths: tuple[dict[str, Any], ...],
    length: int | None = None,
    interrupted: bool = False,
) -> SearchResult:
    """The rule of a search that has ended in this state; `length` where it was given."""
    assert state.final is not None
    final, best, proved = state.final, state.final.best, is_proved(fitted, state.final)
    assert best.formula is not None
    reason = "" if length is not None else "interrupted"
    if state.stop_reason is not None:
        reason = state.stop_reason.value
    ended = (StopReason.TIMEOUT, StopReason.OUT_OF_MEMORY, StopReason.TOO_LARGE)
    forced = (None, *ended)
    timed_out = length is None and state.stop_reason in forced
    cause = "Ctrl-C" if interrupted else _CAUSES.get(state.stop_reason, "time limit")
    notes = [*of_rounded_weights(fitted.weight_error, fitted.measure)]
    if timed_out:
        last = state.lengths[-1].length if state.lengths else _last_finished(lengths)
        if cause == "time limit":
            notes.append(Note.of(NoteKind.LENGTH_TIMED_OUT, cause=cause, length=last))
        else:
            notes.append(Note.of(NoteKind.LENGTH_INTERRUPTED, cause=cause, length=last + 1))
    if final.end is not End.PROVED:
        cause = cause if interrupted else "time limit"
        notes.append(Note.of(NoteKind.NOT_PROVED, cause=cause, length=final.length))
    formula = within_slack(fitted, best.formula)
    rule = Rule(
        formula=formula,
        prediction=prediction,
        length=final.length,
        proved=proved,
        weight=None if fitted.weights is None else fitted.weight,
        lower_bound=best.lower_bound if fitted.has_exact_weights else 0,
        proved_length=best.proved_length if fitted.has_exact_weights else 0,
        stop_reason=reason,
        timed_out=timed_out,
        lengths=lengths,
        before_rounding=cast(BeforeRounding | None, rounding.before(fitted, best.formula, formula)),
        **figures_of(fitted, formula),
    )
    return SearchResult(rule, tuple(notes), interrupted)


def _last_finished(rows: Sequence[dict[str, Any]]) -> int:
    """The last length of result.json whose search has ended; 0 where none has."""
    return max((int(row["length"]) for row in rows if row.get("finished", True)), default=0)


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
