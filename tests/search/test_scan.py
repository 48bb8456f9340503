"""The length scan: its stopping rules, its fallback, and how it goes on after an interruption."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.formulas.parser import parse
from fsm_hpc.search.lengths import Length, LengthAttempt, Split
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.scan import Limits, ScanState, StoppingRule, finish, scan
from fsm_hpc.search.solvers.base import Control, End
from fsm_hpc.search.stop_reason import StopReason
from tests.support.fakes import LadderSolver
from tests.support.random_tables import random_problem
from tests.support.scans import scan_state


def _length(length: int, validation: float, errors: int = 5) -> Length:
    return Length(length, parse("a"), errors, 0.9, validation, True, 1.0, "fake")


def _lengths(*accuracies: float) -> tuple[Length, ...]:
    return tuple(_length(i + 1, accuracy) for i, accuracy in enumerate(accuracies))


def _problems() -> tuple[Problem, Problem]:
    rng = np.random.default_rng(7)
    whole = random_problem(rng, Method.PIVOT, 60, 6, 2, 5)
    rows = np.arange(60)
    parts = (rows[:40], rows[40:])
    train, validation = (
        Problem.build(whole.columns, whole.labels, whole.method, part) for part in parts
    )
    return train, validation


def _run(solver: LadderSolver, state: ScanState, limits: Limits) -> list[ScanState]:
    train, validation = _problems()
    return list(scan([Split(train, validation)], solver, state, limits))


@pytest.mark.parametrize(
    ("accuracies", "reason"),
    [
        ((0.8,), None),
        ((0.8, 0.7), None),
        ((0.8, 0.7, 0.7), StopReason.EARLY_STOPPING),
        ((0.8, 0.7, 0.8, 0.7), None),
        ((0.8, 0.8, 0.8, 0.8), None),
        ((0.7, 0.8, 0.7, 0.75), StopReason.EARLY_STOPPING),
        ((0.8, 0.7, 0.9, 0.85), None),
    ],
)
def test_two_misses_in_a_row_stop_the_scan(
    accuracies: tuple[float, ...], reason: StopReason | None
) -> None:
    assert StoppingRule(patience=2).reason_to_stop(_lengths(*accuracies), False) is reason


def test_patience_counts_lengths_in_a_row() -> None:
    assert StoppingRule(patience=3).reason_to_stop(_lengths(0.8, 0.7, 0.7), False) is None
    assert StoppingRule(patience=1).reason_to_stop(_lengths(0.8, 0.7), False) is not None


def test_the_fewest_possible_errors_end_the_scan() -> None:
    assert StoppingRule().reason_to_stop((_length(1, 0.9, errors=3),), True) is StopReason.PERFECT


def test_the_longest_length_allowed_ends_the_scan() -> None:
    rule = StoppingRule(max_length=2)
    assert rule.reason_to_stop(_lengths(0.8), False) is None
    assert rule.reason_to_stop(_lengths(0.8, 0.9), False) is StopReason.MAX_LENGTH


def test_the_smallest_length_with_the_best_validation_accuracy_is_chosen() -> None:
    assert scan_state(lengths=_lengths(0.7, 0.9, 0.8, 0.9)).chosen_length == 2
    assert ScanState().chosen_length == 1


def test_every_length_starts_from_the_formula_of_the_one_before() -> None:
    solver = LadderSolver()
    states = _run(solver, ScanState(), Limits(StoppingRule(max_length=4)))
    assert [length for length, _ in solver.calls] == [1, 2, 3, 4][: len(states)]
    for (length, start), before in zip(solver.calls[1:], states, strict=False):
        assert start.formula == before.lengths[-1].formula
        assert start.proved_length == length - 1


def test_a_spent_budget_falls_back_and_more_budget_goes_on() -> None:
    solver = LadderSolver(ends={2: End.TIMEOUT})
    limits = Limits(StoppingRule(max_length=4), scan_budget_s=1000)
    stopped = _run(solver, ScanState(), limits)[-1]
    assert stopped.stop_reason is StopReason.TIMEOUT
    assert len(stopped.lengths) == 2
    assert stopped.under_way is not None
    (progress,) = stopped.by_split
    spent = replace(stopped, by_split=(progress.aged(1000.0),))
    assert _run(LadderSolver(), spent, limits)[-1].stop_reason is StopReason.TIMEOUT
    more = _run(LadderSolver(), spent, replace(limits, scan_budget_s=2000))[-1]
    whole = _run(LadderSolver(), ScanState(), limits)[-1]
    assert more.stop_reason is whole.stop_reason
    assert _essence(more) == _essence(whole)


def test_a_scan_that_gives_up_compares_longer_formulas_without_proof() -> None:
    solver = LadderSolver(ends={2: End.TIMEOUT, 3: End.TIMEOUT})
    limits = Limits(StoppingRule(max_length=7), scan_budget_s=1000, gives_up=True)
    state = _run(solver, ScanState(), limits)[-1]
    assert state.stop_reason is StopReason.TIMEOUT
    assert [length for length, _ in solver.calls] == [1, 2, 3, 7]
    assert [entry.length for entry in state.lengths] == [1, 2]
    assert [entry.length for entry in state.candidates] == [1, 2, 3, 4, 5, 6, 7]
    assert all(entry.size <= entry.length for entry in state.candidates)
    assert not any(entry.proved for entry in state.candidates[2:])
    assert state.under_way is not None
    assert state.under_way.length == 3  # which a larger budget goes on with
    best = max(entry.validation_accuracy for entry in state.candidates)
    assert state.candidates[state.chosen_length - 1].validation_accuracy == best
    (final,) = finish(_problems()[0], LadderSolver(), state, limits)
    assert final.final is not None
    assert final.final.length == max(state.chosen_length, 2)


def test_lengths_without_proof_are_searched_again_with_a_larger_budget() -> None:
    solver = LadderSolver(ends={2: End.TIMEOUT, 3: End.TIMEOUT})
    limits = Limits(StoppingRule(max_length=7), scan_budget_s=1000, gives_up=True)
    state = _run(solver, ScanState(), limits)[-1]
    more = _run(LadderSolver(), state, replace(limits, scan_budget_s=2000))[-1]
    whole = _run(LadderSolver(), ScanState(), limits)[-1]
    assert _essence(more) == _essence(whole)
    assert more.candidates == more.lengths


def test_memory_that_ran_out_falls_back_and_the_next_run_goes_on() -> None:
    limits = Limits(StoppingRule(max_length=4))
    stopped = _run(LadderSolver(ends={1: End.OUT_OF_MEMORY}), ScanState(), limits)[-1]
    assert stopped.stop_reason is StopReason.OUT_OF_MEMORY
    whole = _run(LadderSolver(), ScanState(), limits)[-1]
    assert _essence(_run(LadderSolver(), stopped, limits)[-1]) == _essence(whole)


@pytest.mark.parametrize("call", range(4))
def test_a_scan_stopped_in_any_length_goes_on_to_the_same_lengths(call: int) -> None:
    limits = Limits(StoppingRule(max_length=4))
    whole = _run(LadderSolver(), ScanState(), limits)
    broken = _run(LadderSolver(ends={call: End.STOPPED}), ScanState(), limits)
    assert broken[-1].stop_reason is None
    assert _essence(broken[-1]) == _essence(whole[-1])[:call]
    resumed = _run(LadderSolver(), broken[-1], limits)
    assert _essence(resumed[-1]) == _essence(whole[-1])


def test_an_interrupted_length_keeps_its_incumbent_as_the_bound_to_start_from() -> None:
    limits = Limits(StoppingRule(max_length=3))
    broken = _run(LadderSolver(ends={1: End.STOPPED}), ScanState(), limits)[-1]
    assert broken.under_way is not None
    solver = LadderSolver()
    _run(solver, broken, limits)
    assert solver.calls[0] == (2, broken.under_way.best)


def test_a_longer_scan_serves_a_shorter_one_without_solving_again() -> None:
    whole = _run(LadderSolver(), ScanState(), Limits(StoppingRule(max_length=4)))[-1]
    solver = LadderSolver()
    cut = _run(solver, whole, Limits(StoppingRule(max_length=2)))[-1]
    assert not solver.calls
    assert _essence(cut) == _essence(whole)[:2]
    assert cut.stop_reason is StopReason.MAX_LENGTH
    assert cut.scan_s == pytest.approx(sum(entry.seconds for entry in cut.lengths))
    again = _run(solver, cut, Limits(StoppingRule(max_length=4)))[-1]
    assert not solver.calls
    assert _essence(again) == _essence(whole)


def test_memory_that_ran_out_is_not_tried_again_while_the_fallback_is_under_way() -> None:
    limits = Limits(StoppingRule(max_length=4))
    stopped = _run(LadderSolver(ends={1: End.OUT_OF_MEMORY}), ScanState(), limits)[-1]
    solver = LadderSolver()
    resumed = _run(solver, replace(stopped, final=LengthAttempt(1)), limits)[-1]
    assert not solver.calls
    assert resumed.stop_reason is StopReason.OUT_OF_MEMORY


def test_the_final_solve_starts_from_the_formula_of_the_scan() -> None:
    train, validation = _problems()
    limits = Limits(StoppingRule(max_length=4))
    state = list(scan([Split(train, validation)], LadderSolver(), ScanState(), limits))[-1]
    solver = LadderSolver()
    list(finish(train, solver, state, Limits()))
    (_, start), chosen = solver.calls[0], state.lengths[state.chosen_length - 1]
    assert start.formula == chosen.formula
    assert start.proved_length == 0


def test_time_of_earlier_attempts_counts() -> None:
    state = scan_state(under_way=LengthAttempt(1, seconds=70.0), scan_s=70.0)
    after = _run(LadderSolver(), state, Limits(StoppingRule(max_length=1), scan_budget_s=100))[-1]
    assert after.scan_s >= 70.0
    assert after.lengths[0].seconds >= 70.0


def test_the_deadline_of_a_length_is_what_is_left_of_the_budget() -> None:
    state = scan_state(under_way=LengthAttempt(1, seconds=100.0), scan_s=100.0)
    after = _run(LadderSolver(), state, Limits(scan_budget_s=100.0))[-1]
    assert after.stop_reason is StopReason.TIMEOUT


def test_the_final_formula_is_fitted_for_the_chosen_length() -> None:
    train, _ = _problems()
    solver = LadderSolver()
    state = scan_state(lengths=_lengths(0.7, 0.9, 0.9), stop_reason=StopReason.MAX_LENGTH)
    done = list(finish(train, solver, state, Limits()))[-1]
    assert done.is_finished
    assert [length for length, _ in solver.calls] == [2]


def test_a_spent_budget_falls_back_to_the_best_validation_length() -> None:
    train, _ = _problems()
    solver = LadderSolver()
    state = scan_state(lengths=_lengths(0.9, 0.8, 0.9, 0.8), stop_reason=StopReason.TIMEOUT)
    list(finish(train, solver, state, Limits()))
    assert [length for length, _ in solver.calls] == [1]


def test_a_final_solve_that_was_stopped_goes_on_and_one_that_timed_out_needs_more_budget() -> None:
    train, _ = _problems()
    state = scan_state(lengths=_lengths(0.9), stop_reason=StopReason.MAX_LENGTH)
    stopped = list(finish(train, LadderSolver(ends={0: End.STOPPED}), state, Limits()))[-1]
    assert not stopped.is_finished
    assert list(finish(train, LadderSolver(), stopped, Limits()))[-1].is_finished
    late = list(finish(train, LadderSolver(ends={0: End.TIMEOUT}), state, Limits()))[-1]
    assert late.is_finished
    assert list(finish(train, LadderSolver(), late, Limits(final_budget_s=0.0))) == []
    more = list(finish(train, LadderSolver(), late, Limits(final_budget_s=100.0)))[-1]
    assert more.final is not None
    assert more.final.end is End.PROVED


def test_a_stop_event_is_honoured_before_the_first_length() -> None:
    control = Control(stop=threading.Event())
    control.stop.set()
    states = _run(LadderSolver(), ScanState(), Limits(control=control))
    assert len(states) == 1
    assert states[0].lengths == ()


def test_conflicting_rows_are_the_fewest_errors_and_end_the_scan() -> None:
    values = np.array([1.0, 1.0, 2.0, 2.0])
    column = Column("n", Kind.NUMERIC, values)
    problem = Problem.build([column], np.array([True, False, True, True]), Method.PIVOT)
    assert problem.fewest_errors == 1
    last = list(scan([Split(problem, problem)], LadderSolver(), ScanState(), Limits()))[-1]
    assert last.stop_reason is StopReason.PERFECT
    assert last.lengths[-1].errors == 1


def _essence(state: ScanState) -> list[tuple[int, str, int, float]]:
    return [(e.length, str(e.formula), e.errors, e.validation_accuracy) for e in state.lengths]


# --------------------------------------------------------------------------- plateau and splits


@pytest.mark.parametrize(
    ("accuracies", "reason"),
    [
        ((0.8, 0.8, 0.8), None),
        ((0.8, 0.8, 0.8, 0.8), StopReason.PLATEAU),  # ties are not new
        ((0.7, 0.8, 0.8, 0.8), None),
        ((0.7, 0.8, 0.7, 0.8, 0.8), StopReason.PLATEAU),
        ((0.7, 0.8, 0.7, 0.8, 0.9), None),
    ],
)
def test_lengths_in_a_row_without_a_new_best_end_the_scan(
    accuracies: tuple[float, ...], reason: StopReason | None
) -> None:
    rule = StoppingRule(patience=9, plateau=3)
    assert rule.reason_to_stop(_lengths(*accuracies), False) is reason


def _splits(count: int) -> list[Split]:
    rng = np.random.default_rng(11)
    whole = random_problem(rng, Method.PIVOT, 60, 6, 2, 5)
    made = []
    for _ in range(count):
        rows = rng.permutation(60)
        train, validation = (
            Problem.build(whole.columns, whole.labels, whole.method, part)
            for part in (rows[:40], rows[40:])
        )
        made.append(Split(train, validation))
    return made


def test_several_splits_are_taken_length_by_length_and_their_mean_chooses() -> None:
    splits, limits = _splits(3), Limits(StoppingRule(patience=9, max_length=4))
    states = list(scan(splits, LadderSolver(), ScanState(), limits))
    counts = [[len(progress.lengths) for progress in state.by_split] for state in states]
    assert counts[:4] == [[1, 0, 0], [1, 1, 0], [1, 1, 1], [2, 1, 1]]
    last = states[-1]
    assert last.stop_reason is StopReason.MAX_LENGTH
    for number, entry in enumerate(last.lengths):
        mine = [progress.lengths[number].validation_accuracy for progress in last.by_split]
        assert entry.validation_accuracy == pytest.approx(sum(mine) / 3)
    best = max(entry.validation_accuracy for entry in last.lengths)
    chosen = [e.length for e in last.lengths if e.validation_accuracy == best]
    assert last.chosen_length == chosen[0]


@pytest.mark.parametrize("call", range(1, 9))
def test_splits_that_were_interrupted_go_on_to_the_same_end(call: int) -> None:
    splits, limits = _splits(3), Limits(StoppingRule(patience=9, max_length=3))
    whole = list(scan(splits, LadderSolver(), ScanState(), limits))[-1]
    broken = list(scan(splits, LadderSolver(ends={call: End.STOPPED}), ScanState(), limits))[-1]
    assert broken.stop_reason is None
    again = list(scan(splits, LadderSolver(), broken, limits))[-1]
    assert [e.validation_accuracy for e in again.lengths] == [
        e.validation_accuracy for e in whole.lengths
    ]
    assert again.chosen_length == whole.chosen_length


def test_only_lengths_that_every_split_finished_count() -> None:
    splits = _splits(2)
    limits = Limits(StoppingRule(patience=9), scan_budget_s=1000)
    state = list(scan(splits, LadderSolver(ends={3: End.TIMEOUT}), ScanState(), limits))[-1]
    assert state.stop_reason is StopReason.TIMEOUT
    assert [len(progress.lengths) for progress in state.by_split] == [2, 1]
    assert [entry.length for entry in state.lengths] == [1]


def test_a_scan_that_goes_on_is_not_finished_by_the_end_of_the_one_before() -> None:
    train, _ = _problems()
    limits = Limits(StoppingRule(max_length=4), scan_budget_s=1000)
    cut = _run(LadderSolver(ends={2: End.TIMEOUT}), ScanState(), limits)[-1]
    done = list(finish(train, LadderSolver(), cut, limits))[-1]
    assert done.is_finished
    stopped = _run(LadderSolver(ends={0: End.STOPPED}), done, replace(limits, scan_budget_s=2000))
    assert stopped[-1].stop_reason is None
    assert not stopped[-1].is_finished
