"""Scan formula sizes upwards until larger ones no longer help, then fit the final formula."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from fsm_hpc.formulas.formula import Formula
from fsm_hpc.search.attempts import at_least_simple, attempt_length, is_hopeless, may_go_on
from fsm_hpc.search.lengths import (
    Length,
    LengthAttempt,
    Split,
    SplitProgress,
    best_within,
    describe_length,
    first_length,
    means,
    shortest_length,
)
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.rounding import snapped
from fsm_hpc.search.shortest import NoFormulaError
from fsm_hpc.search.solvers.base import Control, End, Incumbent, Solver
from fsm_hpc.search.solvers.simple import LITERAL_SIZE, SIMPLE_SIZE, best_simple, worth_of
from fsm_hpc.search.stop_reason import StopReason

UNPROVED_SHARE = 0.5  # of the scan, for lengths without proof where the proofs do not end in time
UNPROVED_LENGTHS = 4  # beyond the last one that is proved, where no length is the last
_FORCED = {
    End.TIMEOUT: StopReason.TIMEOUT,
    End.OUT_OF_MEMORY: StopReason.OUT_OF_MEMORY,
    End.TOO_LARGE: StopReason.TOO_LARGE,
}


@dataclass(frozen=True, slots=True)
class ScanState:
    """The state of a scan, from which it resumes."""

    by_split: tuple[SplitProgress, ...] = (SplitProgress(),)  # one for each split
    scan_s: float = 0.0
    stop_reason: StopReason | None = None
    final: LengthAttempt | None = None

    @property
    def lengths(self) -> tuple[Length, ...]:
        """The lengths that every split has finished, with mean accuracies."""
        return means([progress.lengths for progress in self.by_split])

    @property
    def candidates(self) -> tuple[Length, ...]:
        """The lengths to choose among: the finished ones, and those without proof."""
        return means([progress.candidates for progress in self.by_split])

    @property
    def under_way(self) -> LengthAttempt | None:
        return next((one.under_way for one in self.by_split if one.under_way is not None), None)

    @property
    def best_validation(self) -> float:
        return max((entry.validation_accuracy for entry in self.candidates), default=0.0)

    @property
    def chosen_length(self) -> int:
        """The smallest length with the best validation accuracy; 1 when none is finished."""
        best = self.best_validation
        return next((e.length for e in self.candidates if e.validation_accuracy == best), 1)

    @property
    def is_finished(self) -> bool:
        has_ended = self.final is not None and self.final.end is not None
        # an older end does not count once the scan resumes
        return has_ended and self.stop_reason is not None

    def aged(self, seconds: float) -> ScanState:
        """The same state, when the step under way has taken that much longer."""
        if self.stop_reason is None and self.under_way is not None:
            by_split = tuple(progress.aged(seconds) for progress in self.by_split)
            return replace(self, by_split=by_split, scan_s=self.scan_s + seconds)
        if self.final is not None:
            return replace(self, final=self.final.aged(seconds))
        return self


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """When a scan ends."""

    patience: int = 2
    max_length: int | None = None
    plateau: int | None = None

    def reason_to_stop(
        self, lengths: tuple[Length, ...], is_perfect: bool, is_exhausted: bool = False
    ) -> StopReason | None:
        """The reason to end the scan, if any."""
        if not lengths:
            return None
        accuracies = [entry.validation_accuracy for entry in lengths]
        best = max(accuracies)
        last = accuracies[-self.patience :]
        if len(last) == self.patience and all(accuracy < best for accuracy in last):
            return StopReason.EARLY_STOPPING
        if is_perfect:
            return StopReason.PERFECT
        if is_exhausted:
            return StopReason.EXHAUSTED
        if self.plateau is not None and len(lengths) - 1 - accuracies.index(best) >= self.plateau:
            return StopReason.PLATEAU
        if self.max_length is not None and lengths[-1].length >= self.max_length:
            return StopReason.MAX_LENGTH
        return None


@dataclass(frozen=True, slots=True)
class Limits:
    """Rules and budgets of a scan; `watch` receives the state whenever it changes."""

    rule: StoppingRule = field(default_factory=StoppingRule)
    scan_budget_s: float | None = None
    final_budget_s: float | None = None
    control: Control = field(default_factory=Control)
    watch: Callable[[ScanState], None] = lambda state: None
    gives_up: bool = False  # a length that is not expected to finish within the budget

    @property
    def proof_budget_s(self) -> float | None:
        """The time for lengths with proof: with `gives_up` some is left for lengths without."""
        if self.scan_budget_s is None or not self.gives_up:
            return self.scan_budget_s
        return (1 - UNPROVED_SHARE) * self.scan_budget_s


def scan(
    splits: Sequence[Split], solver: Solver, state: ScanState, limits: Limits
) -> Iterator[ScanState]:
    """The states of a scan after every length of every split, resumed from `state`.

    All splits are taken length by length. Ends with a `stop_reason`, or without one when it was
    asked to stop.
    """
    _check_reach(splits, limits.rule)
    state = reopen(state, limits, splits)
    if state.stop_reason is not None:
        yield state
    while state.stop_reason is None:
        state = _one_length(splits, solver, state, limits)
        yield state
        if state.stop_reason is None and state.under_way is not None:  # to be taken up again
            return
    if state.stop_reason is StopReason.TIMEOUT and limits.gives_up:
        for at in range(len(splits)):
            state = _without_proof(splits, at, solver, state, limits)
        yield state


def finish(
    problem: Problem, solver: Solver, state: ScanState, limits: Limits, length: int | None = None
) -> Iterator[ScanState]:
    """The states of the final solve, on all rows that are not held out, for the chosen length."""
    length = length or _final_length(problem, state, limits.rule)
    before = state.final
    if before is None or before.length != length:
        before = LengthAttempt(length, _seed(problem, state, length))
    elif not may_go_on(before, limits.final_budget_s):
        return

    def keep(attempt: LengthAttempt) -> ScanState:
        return replace(state, final=attempt)

    after, outcome = attempt_length(
        problem,
        solver,
        before,
        limits.control,
        limits.gives_up,
        limits.final_budget_s,
        lambda attempt: limits.watch(keep(attempt)),
        is_hopeless,
    )
    if outcome.end is End.STOPPED:  # to be taken up again
        yield keep(replace(after, end=None))
    else:
        yield keep(at_least_simple(problem, replace(after, end=outcome.end)))


def _final_length(problem: Problem, state: ScanState, rule: StoppingRule) -> int:
    """The chosen length; where time ended the scan before the length of the best simple formula,
    one with room for it."""
    chosen = max(state.chosen_length, shortest_length(problem))
    if state.stop_reason not in (None, *_FORCED.values()):
        return chosen
    simple = best_simple(problem, rule.max_length or SIMPLE_SIZE, worth_of(problem))
    least = LITERAL_SIZE if simple is None else max(LITERAL_SIZE, simple.size)
    if state.lengths and state.lengths[-1].length >= least:
        return chosen
    return max(chosen, min(least, rule.max_length or least))


def is_proved(problem: Problem, final: LengthAttempt) -> bool:
    """Whether the final formula is proved; with rounded weights it is not."""
    return final.end is End.PROVED and problem.has_exact_weights


def _check_reach(splits: Sequence[Split], rule: StoppingRule) -> None:
    first = first_length(splits)
    if rule.max_length is not None and first > rule.max_length:
        train = max((split.train for split in splits), key=shortest_length)
        raise NoFormulaError(
            f"max_length={rule.max_length}: no formula of that length meets the constraints "
            f"({train.constraints.text}); the shortest has size {first}: {train.shortest}"
        )


def reopen(state: ScanState, limits: Limits, splits: Sequence[Split]) -> ScanState:
    """The state to resume from under these limits: a longer scan serves a shorter one, and a
    larger budget continues a scan that had reached its time limit."""
    is_final = state.final is not None and state.final.end is None
    if state.stop_reason is StopReason.OUT_OF_MEMORY and is_final:
        return state  # the fallback is under way
    by_split = [progress.whole for progress in state.by_split[: len(splits)]]
    by_split += [SplitProgress()] * (len(splits) - len(by_split))
    for count in range(1, min(len(progress.lengths) for progress in by_split) + 1):
        view = tuple(progress.up_to(count) for progress in by_split)
        reason = _reason(view, splits, limits.rule)
        if reason is not None:
            spent = sum(progress.seconds for progress in view)
            return replace(state, by_split=view, stop_reason=reason, scan_s=spent)
    spent = sum(progress.seconds for progress in by_split)
    is_spent = limits.proof_budget_s is not None and spent + 0.01 >= limits.proof_budget_s
    reason = StopReason.TIMEOUT if is_spent else None
    return replace(state, by_split=tuple(by_split), scan_s=spent, stop_reason=reason)


def _reason(
    by_split: Sequence[SplitProgress], splits: Sequence[Split], rule: StoppingRule
) -> StopReason | None:
    """The reason to end; None also while some split has not finished the last length."""
    if len({len(progress.lengths) for progress in by_split}) > 1 or not by_split[0].lengths:
        return None
    is_perfect = all(
        progress.lengths[-1].errors == split.train.fewest_errors
        for progress, split in zip(by_split, splits, strict=True)
    )
    lengths = means([progress.lengths for progress in by_split])
    largest = [split.train.largest_size for split in splits]
    is_exhausted = all(size is not None and size <= lengths[-1].length for size in largest)
    return rule.reason_to_stop(lengths, is_perfect, is_exhausted)


def _seed(problem: Problem, state: ScanState, length: int) -> Incumbent:
    """A formula to beat: the best of the scan whose thresholds these rows have."""
    entries = [e for progress in state.by_split for e in progress.candidates if e.length == length]
    known = [snapped(problem, entry.formula) for entry in entries]
    found = [formula for formula in known if problem.admits(formula)]
    if not found:
        return Incumbent()
    best = min(found, key=lambda formula: (problem.errors(formula), formula.size))
    return Incumbent(best, problem.errors(best))


def _one_length(
    splits: Sequence[Split], solver: Solver, state: ScanState, limits: Limits
) -> ScanState:
    """The state after the next length of the split that is behind the others."""
    at = min(range(len(splits)), key=lambda index: len(state.by_split[index].lengths))
    split, progress = splits[at], state.by_split[at]
    before = progress.under_way or progress.next_attempt(first_length(splits))
    used_s = state.scan_s - before.seconds

    def keep(changed: SplitProgress, seconds: float) -> ScanState:
        by_split = (*state.by_split[:at], changed, *state.by_split[at + 1 :])
        return replace(state, by_split=by_split, scan_s=used_s + seconds)

    def report(attempt: LengthAttempt) -> None:
        limits.watch(keep(replace(progress, under_way=attempt), attempt.seconds))

    budget_s = None if limits.proof_budget_s is None else limits.proof_budget_s - used_s
    behind = sum(len(one.lengths) == len(progress.lengths) for one in state.by_split) - 1
    after, outcome = attempt_length(
        split.train,
        solver,
        before,
        limits.control,
        limits.gives_up,
        budget_s,
        report,
        partial(is_hopeless, behind=behind),
        needs_proof=True,
    )
    if not outcome.proved:
        state = keep(replace(progress, under_way=after), after.seconds)
        return replace(state, stop_reason=_FORCED.get(outcome.end))
    entry = describe_length(split, after, outcome.formula, outcome.errors, True)
    lengths = (*progress.lengths, entry)
    state = keep(replace(progress, lengths=lengths, under_way=None), after.seconds)
    return replace(state, stop_reason=_reason(state.by_split, splits, limits.rule))


def _without_proof(
    splits: Sequence[Split], at: int, solver: Solver, state: ScanState, limits: Limits
) -> ScanState:
    """The state with the longer lengths of a split, each with the best formula found in time."""
    split, progress = splits[at], state.by_split[at]
    begun = progress.under_way or progress.next_attempt(first_length(splits))
    last = limits.rule.max_length or begun.length + UNPROVED_LENGTHS - 1
    found: dict[Formula, Length] = {}

    def with_formula(attempt: LengthAttempt) -> ScanState:
        formula = attempt.best.formula
        if formula is not None and formula not in found:
            errors = split.train.errors(formula)
            found[formula] = describe_length(split, attempt, formula, errors, False)
        unproved = best_within(found.values(), begun.length, last)
        changed = replace(progress, unproved=unproved)
        by_split = (*state.by_split[:at], changed, *state.by_split[at + 1 :])
        return replace(state, by_split=by_split, scan_s=state.scan_s + attempt.seconds)

    assert limits.scan_budget_s is not None
    left_s = max(0.0, limits.scan_budget_s - state.scan_s) / (len(splits) - at)
    after, _ = attempt_length(
        split.train,
        solver,
        LengthAttempt(last, begun.best),
        replace(limits.control, needs_proof=False),
        limits.gives_up,
        left_s,
        lambda attempt: limits.watch(with_formula(attempt)),
        lambda *_: True,
    )
    return with_formula(after)
