"""The native solver: its functions, its kernels, and its answers against brute force."""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fsm_hpc.data.columns import Column
from fsm_hpc.formulas.functions import Tree, functions
from fsm_hpc.search.frontier import Frontier
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, End, Incumbent, Outcome
from fsm_hpc.search.solvers.clingo.solver import ClingoDl
from fsm_hpc.search.solvers.native import (
    Native,
    box_engine,
    cell_engine,
    engine_choice,
    row_sets,
    search,
    solver,
    table,
)
from fsm_hpc.search.solvers.native.box_engine import BoxEngine
from fsm_hpc.search.solvers.native.cell_engine import CellEngine
from fsm_hpc.search.solvers.native.engines import Blocks, units_of_plans
from fsm_hpc.search.solvers.native.kernels import boxes, columns, intervals
from fsm_hpc.search.solvers.native.kernels import pairs as pair_kernels
from fsm_hpc.search.solvers.native.kernels.boxes import choose_families
from fsm_hpc.search.solvers.native.kernels.columns import INTERVAL, POINT, SUFFIX
from fsm_hpc.search.solvers.native.kernels.kernel import kernel
from fsm_hpc.search.solvers.native.kernels.ranking import PAUSED
from fsm_hpc.search.solvers.native.kernels.shapes import BoxMemory, Data, PairQuery, View
from fsm_hpc.search.solvers.native.plans import PAIRS, plans
from fsm_hpc.search.solvers.native.row_sets import Layout, literal_sets, packed
from fsm_hpc.search.solvers.native.table import KernelTable
from tests.support.brute_force import fewest_errors
from tests.support.random_tables import FORMULA_METHODS, _columns, random_problem

by_method = pytest.mark.parametrize("method", FORMULA_METHODS, ids=lambda m: m.value)
by_engine = pytest.mark.parametrize("engine", ["cells", "boxes"], indirect=True)
LOW = -1000  # a goal that every literal reaches
(
    single,
    list_rows,
    literal_sums,
    profile,
    prune_pair,
    sweep,
    pair_of_intervals,
    pair_with_point,
    pair_with_cut,
) = (
    kernel(part.py_func)  # so that Python can call them
    for part in (
        columns.single,
        columns.list_rows,
        columns.literal_sums,
        columns.profile,
        columns.prune_pair,
        pair_kernels.sweep,
        intervals.pair_of_intervals,
        pair_kernels.pair_with_point,
        pair_kernels.pair_with_cut,
    )
)
PAIR_TRUTHS = {f: [values >> i & 1 for i in range(4)] for values, f in PAIRS.items()}


@pytest.fixture
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """One engine, whatever its predicted cost."""
    cost = math.inf if request.param == "boxes" else 0.0
    monkeypatch.setattr(engine_choice, "SET_COST", cost)
    return str(request.param)


def tiny_problem(seed: int, method: Method) -> Problem:
    """Two to eleven rows, up to four columns of all kinds, often with conflicting labels."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(2, 12))
    columns: list[Column] = []
    for index in range(int(rng.integers(1, 5))):
        kind = str(rng.choice(["boolean", "category", "numeric", "numeric"]))
        if sum(c.name.startswith("n") for c in columns) >= 2:
            kind = "boolean"
        codes = rng.integers(0, {"boolean": 2, "category": 3, "numeric": 4}[kind], rows)
        columns += _columns(f"{kind[0]}{index}", kind, codes)
    return Problem.build(columns, rng.integers(0, 2, rows).astype(bool), method)


def solve(
    problem: Problem, length: int, start: Incumbent | None = None, threads: int = 1
) -> Outcome:
    return Native(threads).solve(problem, length, start or Incumbent(), Control())


def assert_optima_of_every_bound(problem: Problem, length: int) -> None:
    expected = fewest_errors(problem, length)
    native = Native(1)
    for bound in range(1, length + 1):
        outcome = native.solve(problem, bound, Incumbent(), Control())
        assert (outcome.end, outcome.errors) == (End.PROVED, expected[bound - 1])
        assert outcome.errors == problem.errors(outcome.formula)
        assert outcome.formula.size == expected.index(outcome.errors) + 1


# ------------------------------------------------------------------------------------ functions


def evaluate(tree: Tree, values: tuple[int, ...]) -> int:
    if isinstance(tree, int):
        return values[tree]
    parts = [evaluate(part, values) for part in tree[1:]]
    if tree[0] == "not":
        return 1 - parts[0]
    return min(parts) if tree[0] == "and" else max(parts)


def size(tree: Tree) -> int:
    return 1 if isinstance(tree, int) else 1 + sum(size(part) for part in tree[1:])


@pytest.mark.parametrize("length", range(1, 10))
def test_the_tree_of_a_function_has_its_size_and_its_values(length: int) -> None:
    for function in functions(length):
        assert size(function.tree) == length
        for index in range(1 << function.variables):
            values = tuple(index >> v & 1 for v in range(max(1, function.variables)))
            assert evaluate(function.tree, values) == function.table >> index & 1


def test_no_function_of_three_variables_is_missing() -> None:
    by_size: list[set[int]] = [{0b10101010, 0b11001100, 0b11110000}]
    for length in range(2, 10):
        new = {255 ^ f for f in by_size[-1]}
        for left in range(1, length - 1):
            for a, b in itertools.product(by_size[left - 1], by_size[length - 2 - left]):
                new |= {a & b, a | b}
        by_size.append(new.difference(*by_size))
    for length, expected in enumerate(by_size, start=1):
        found: set[int] = set()
        for function in functions(length):
            if function.variables <= 3:
                found |= set(named(function.table, function.variables))
        assert found == expected


def named(values: int, variables: int) -> list[int]:
    """The table on three variables for all ways to call the function's variables."""
    return [
        sum(
            (values >> sum((index >> name & 1) << v for v, name in enumerate(names)) & 1) << index
            for index in range(8)
        )
        for names in itertools.permutations(range(3), variables)
    ]


@pytest.mark.parametrize("wide_pairs", [False, True])
@pytest.mark.parametrize("length", range(1, 10))
def test_every_function_is_reached_by_some_plan(length: int, wide_pairs: bool) -> None:
    reached = set()
    for plan in plans(length, wide_pairs):
        for f, tree in plan.trees.items():
            variables = plan.boxed + plan.free
            bits = 0
            for index in range(1 << variables):
                values = tuple(index >> v & 1 for v in range(variables))
                state = plan.states[index & ((1 << plan.boxed) - 1)]
                inner = values[plan.boxed :]
                filled = inner[0] ^ f if plan.free == 1 else PAIR_TRUTHS[f][inner[0] + 2 * inner[1]]
                expected = (0, 1, filled, 1 - filled)[state]
                assert evaluate(tree, values) == expected
                bits |= expected << index
            reached.add((variables, least(bits, variables)))
    assert {(f.variables, f.table) for f in functions(length) if f.variables} == reached


def least(bits: int, variables: int) -> int:
    """The least table that naming the variables can give."""
    tables = []
    for names in itertools.permutations(range(variables)):
        moved = 0
        for index in range(1 << variables):
            source = sum((index >> name & 1) << v for v, name in enumerate(names))
            moved |= (bits >> source & 1) << index
        tables.append(moved)
    return min(tables)


# -------------------------------------------------------------------------------------- kernels


def truths_of(values: Any, kind: int, card: int) -> list[Any]:
    """Where each literal of a column holds; of numeric columns also the one that holds nowhere."""
    if kind == POINT:
        return [values == v for v in range(1, card)]
    ends = [(a, card) for a in range(card + 1)]
    if kind == INTERVAL:
        ends = [(a, b) for a in range(card) for b in range(a, card + 1)]
    return [(values >= a) & (values < b) for a, b in ends]


def best_pair(x: Any, y: Any, weights: Any, mask: int) -> int:
    scores = []
    for a, b in itertools.product(x, y):
        for f, truth in PAIR_TRUTHS.items():
            if mask >> f & 1:
                scores.append(weights[np.array(truth)[a.astype(int) + 2 * b] == 1].sum())
    return int(max(scores))


def random_hole(seed: int) -> tuple[Any, Any, Any, int, int, int]:
    rng = np.random.default_rng(seed)
    rows, card_x, card_y = (int(v) for v in rng.integers(2, 9, 3))
    x = rng.integers(0, card_x, rows).astype(np.int32)
    y = rng.integers(0, card_y, rows).astype(np.int32)
    weights = rng.integers(-3, 4, rows).astype(np.int32)
    return x, y, weights, card_x, card_y, int(rng.integers(1, 256))


@dataclass(frozen=True)
class Asked:
    """The columns 0 and 1 as a query, with all the room that an answer may need."""

    query: PairQuery
    data: Data
    memory: BoxMemory
    view: View


def asked(
    x: Any,
    y: Any,
    weights: Any,
    kinds: tuple[int, int],
    cards: tuple[int, int],
    mask: int,
    goal: int = LOW,
) -> Asked:
    kept = np.flatnonzero(weights)
    layout = Layout.of(weights[kept])
    ranks, kind = layout.placed(np.stack([x, y])[:, kept]), np.array(kinds, np.int32)
    signed = layout.placed(weights[kept])
    starts = np.cumsum([0, *(card + 2 for card in cards)])
    sets, sets_from, shifts = literal_sets(ranks, np.array(cards), kind != POINT, layout)
    fields: dict[str, Any] = dict.fromkeys(Data._fields, np.zeros(4, np.int32))
    fields |= {"ranks": ranks, "weights": signed, "sets": sets, "sets_from": sets_from}
    fields |= {"shifts": shifts}
    fields |= {"full": layout.full, "planes": layout.planes, "spans": layout.spans}
    fields |= {"factors": layout.factors, "words": int((layout.full != 0).sum())}
    fields |= {"positives": layout.positives, "is_plain": layout.is_plain, "starts": starts}
    fields |= {"kinds": kind, "cards": np.array(cards, np.int32), "has_windows": False}
    data = Data(**fields | {"widest": 0, "many": 0})
    columns = [SimpleNamespace(card=card, kind=k) for card, k in zip(cards, kinds, strict=True)]
    table: Any = SimpleNamespace(rows=kept, columns=columns, weights=weights[kept], data=data)
    table.largest_table, table.starts = 200, starts
    worker = BoxEngine(table).worker()
    memory = worker.memory
    assert isinstance(memory, BoxMemory)
    memory.gained[:], memory.lost[:] = packed(signed > 0), packed(signed < 0)
    memory.cards[:] = cards
    gains, losses = int(weights[weights > 0].sum()), int(-weights[weights < 0].sum())
    counts = len(kept), int((weights > 0).sum())
    words = layout.positives
    view = View(0, data.words, 0, 0, gains, losses, *counts, 0, words, words)
    list_rows(data, memory, view, 1)
    for column in range(2):
        literal_sums(data, memory, column, view, 1)
        profile(data, memory, column, view, goal + 1)
    sides = (*kinds, *cards, 0, 0)
    query = PairQuery(
        0, 1, *sides, mask, goal, False, gains, losses, 0, 0, *counts, ranks[0], ranks[1]
    )
    return Asked(query, data, memory, view)


def pairs(on: Asked) -> Iterator[int]:
    """The pair in all ways that fit its columns."""
    room, flag = (on.query, on.data, on.memory), np.zeros(1, np.int32)
    if on.query.kind_y == SUFFIX:
        yield int(pair_with_cut(*room, on.view, flag))
    else:
        yield int(pair_with_point(*room, on.view))
    if on.query.kind_x == SUFFIX:
        yield int(sweep(on.query, on.memory, flag))


@pytest.mark.parametrize("most_bytes", [row_sets.MOST_BYTES, 0])
@pytest.mark.parametrize(
    "kinds", [(POINT, POINT), (POINT, SUFFIX), (POINT, INTERVAL), (SUFFIX, SUFFIX)]
)
def test_a_pair_scores_what_the_best_two_literals_score(
    kinds: tuple[int, int], most_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_sets, "MOST_BYTES", most_bytes)
    for seed in range(100):
        x, y, weights, card_x, card_y, mask = random_hole(seed)
        expected = best_pair(
            truths_of(x, kinds[0], card_x), truths_of(y, kinds[1], card_y), weights, mask
        )
        on = asked(x, y, weights, kinds, (card_x, card_y), mask)
        assert (on.data.shifts.max() > 0) == (most_bytes == 0 and kinds != (POINT, POINT))
        assert set(pairs(on)) == {expected}


@pytest.mark.parametrize("kind_x", [POINT, SUFFIX, INTERVAL])
@pytest.mark.parametrize("kind_y", [POINT, SUFFIX, INTERVAL])
def test_two_columns_are_never_bounded_below_what_they_score(kind_x: int, kind_y: int) -> None:
    passed_over = 0
    for seed in range(30):
        x, y, weights, card_x, card_y, _ = random_hole(seed)
        literals = truths_of(x, kind_x, card_x), truths_of(y, kind_y, card_y)
        for function in range(8):
            mask = 1 << function
            best = int(best_pair(*literals, weights, mask))
            for goal in (best - 1, best + 2):
                on = asked(x, y, weights, (kind_x, kind_y), (card_x, card_y), mask, goal)
                found = prune_pair(*on.memory.extremes, mask, on.view.loss, goal)
                assert found == mask or goal > best
                passed_over += found == 0
    assert passed_over > 0


def test_branch_and_bound_scores_what_the_best_two_intervals_score() -> None:
    for seed in range(100):
        x, y, weights, card_x, card_y, mask = random_hole(seed)
        literals = truths_of(x, INTERVAL, card_x), truths_of(y, INTERVAL, card_y)
        on = asked(x, y, weights, (INTERVAL, INTERVAL), (card_x, card_y), mask)
        found = pair_of_intervals(on.query, on.data, on.memory)
        assert found == best_pair(*literals, weights, mask)


@pytest.mark.parametrize("kind", [POINT, SUFFIX, INTERVAL])
def test_a_single_scores_what_the_best_literal_scores(kind: int) -> None:
    for seed in range(100):
        x, _, weights, card, _, mask = random_hole(seed)
        mask = mask % 3 + 1
        scores = []
        for truth in truths_of(x, kind, card):
            scores += [weights[truth].sum()] * (mask & 1)
            scores += [weights[~truth].sum()] * (mask >> 1)
        on = asked(x, x, weights, (kind, kind), (card, card), mask)
        assert single(on.query, on.data, on.memory, True) == max(scores)


def test_kernels_do_not_count_references() -> None:
    solve(random_problem(np.random.default_rng(0), Method.PIVOT, 40, 3, 3, 30), 5)
    (compiled,) = boxes.search.inspect_asm().values()
    assert "NRT_incref" not in compiled


# -------------------------------------------------------------------------------------- optima


@by_engine
@by_method
def test_errors_and_sizes_up_to_bound_9_are_those_of_brute_force(
    method: Method, engine: str
) -> None:
    for seed in range(100):
        assert_optima_of_every_bound(tiny_problem(seed, method), 9)


@by_engine
@by_method
@pytest.mark.parametrize(
    ("numerics", "count"),
    [(3, 40), (4, 15), *(pytest.param(n, 300, marks=pytest.mark.slow) for n in (3, 4))],
)
def test_three_and_four_numeric_columns_are_as_in_brute_force(
    method: Method, engine: str, numerics: int, count: int
) -> None:
    rng = np.random.default_rng(numerics)
    for _ in range(count):
        rows = int(rng.integers(3, 10))
        columns = [
            column
            for index in range(numerics)
            for column in _columns(f"n{index}", "numeric", rng.integers(0, 3, rows))
        ]
        problem = Problem.build(columns, rng.integers(0, 2, rows).astype(bool), method)
        assert_optima_of_every_bound(problem, 6)


@pytest.mark.slow
@by_engine
@by_method
def test_errors_and_sizes_up_to_bound_9_are_those_of_brute_force_on_many(
    method: Method, engine: str
) -> None:
    for seed in range(1000, 1600):
        assert_optima_of_every_bound(tiny_problem(seed, method), 9)


@by_engine
@by_method
def test_errors_and_sizes_are_those_of_clingo_dl(method: Method, engine: str) -> None:
    rng = np.random.default_rng(7)
    other = ClingoDl(2)
    for _ in range(12):
        problem = random_problem(rng, method, int(rng.integers(20, 60)), 3, 3, 6)
        ours = solve(problem, 5)
        theirs = other.solve(problem, 5, Incumbent(), Control())
        assert (ours.errors, ours.formula.size) == (theirs.errors, theirs.formula.size)
    other.close()


def test_pairs_too_wide_to_ask_are_boxed_with_the_same_optima(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine_choice, "SET_COST", math.inf)
    monkeypatch.setattr(table, "WIDE_PAIR", 8)
    for seed in range(30):
        assert_optima_of_every_bound(tiny_problem(seed, Method.INTERVAL), 8)


@by_method
def test_columns_of_too_many_values_for_a_set_of_each_give_the_same_formula(
    method: Method, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_choice, "SET_COST", math.inf)
    problem = random_problem(np.random.default_rng(3), method, 80, 2, 3, 12)
    expected = solve(problem, 7).formula
    monkeypatch.setattr(row_sets, "MOST_BYTES", 0)
    assert solve(problem, 7).formula == expected


@pytest.mark.parametrize("seed", range(4))
def test_pivots_of_many_values_are_swept_to_the_same_formula(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_choice, "SET_COST", math.inf)
    problem = random_problem(np.random.default_rng(seed), Method.PIVOT, 400, 1, 3, 400)
    expected = solve(problem, 5).formula
    monkeypatch.setattr(row_sets, "MOST_BYTES", 0)
    assert solve(problem, 5).formula == expected


@by_method
def test_units_of_few_holes_have_the_same_optima(
    method: Method, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_choice, "SET_COST", math.inf)
    monkeypatch.setattr(box_engine, "MOST_CANDIDATES", 2)
    for seed in range(40):
        assert_optima_of_every_bound(tiny_problem(seed, method), 8)


def test_sets_of_more_literals_than_can_be_searched_end_with_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = random_problem(np.random.default_rng(3), Method.MEDIAN, 60, 3, 3, 8)
    monkeypatch.setattr(cell_engine, "MOST_VARIABLES", 2)
    control = Control(deadline=time.monotonic() + 0.5)
    outcome = Native(1).solve(problem, 7, Incumbent(), control)
    assert outcome.end is End.TIMEOUT
    assert outcome.proved_length < 7


def test_functions_of_more_literals_than_a_table_has_are_not_listed() -> None:
    problem = random_problem(np.random.default_rng(3), Method.MEDIAN, 20, 0, 3, 2)
    engine = cell_engine.CellEngine(table.KernelTable(problem))
    groups = [g for g in engine.units_of_size(11) if isinstance(g, cell_engine.CellUnits)]
    assert max(group.tree.variables for group in groups) <= engine.sets.count < 6


@by_method
@pytest.mark.parametrize("name", ["MOST_SUMS", "MOST_REMEMBERED"])
def test_cells_without_room_for_what_they_remember_give_the_same_formula(
    name: str, method: Method, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_choice, "SET_COST", 0.0)
    problems = [tiny_problem(seed, method) for seed in range(20)]
    expected = [solve(problem, 9).formula for problem in problems]
    monkeypatch.setattr(cell_engine, name, 0)
    assert [solve(problem, 9).formula for problem in problems] == expected


@by_engine
@pytest.mark.parametrize("method", [Method.PIVOT, Method.INTERVAL])
@pytest.mark.parametrize("copies", [2, 3])
def test_columns_that_put_the_rows_in_one_order_have_a_cut_each(
    copies: int, method: Method, engine: str
) -> None:
    values = np.array([2.0, -1.0, 0.5, 3.5, 1.0, 3.0])
    named = _columns("a", "numeric", values)
    columns = [replace(c, name=f"a{n}", values=c.values**3) for n in range(copies) for c in named]
    for labels in ([1, 0, 0, 0, 1, 0], [1, 0, 1, 0, 0, 1]):
        assert_optima_of_every_bound(Problem.build(columns, np.array(labels) > 0, method), 7)


@by_engine
@pytest.mark.parametrize("method", [Method.PIVOT, Method.INTERVAL])
def test_a_column_that_alone_can_hold_nowhere_is_no_copy_of_another(
    method: Method, engine: str
) -> None:
    """Rows 3 and 4 agree but for their label and leave the search, and with them a value of a."""
    a = _columns("a", "numeric", np.array([0, 1, 2, 2]))
    b = _columns("b", "numeric", np.array([0, 1, 1, 1]))
    labels = np.array([False, False, True, False])
    for either in (a + b, b + a):
        assert_optima_of_every_bound(Problem.build(either, labels, method), 5)


def test_labels_that_all_conflict_are_proved_at_once() -> None:
    columns = _columns("b", "boolean", np.array([0, 0, 1, 1]))
    problem = Problem.build(columns, np.array([True, False, True, False]), Method.PIVOT)
    outcome = solve(problem, 9)
    assert (outcome.end, outcome.errors, outcome.formula.size) == (End.PROVED, 2, 1)


def test_heavy_rows_count_as_often_as_they_occur() -> None:
    rng = np.random.default_rng(1)
    columns = [c for i in range(4) for c in _columns(f"b{i}", "boolean", rng.integers(0, 2, 500))]
    problem = Problem.build(columns, rng.integers(0, 2, 500).astype(bool), Method.MEDIAN)
    assert_optima_of_every_bound(problem, 7)


# ----------------------------------------------------------------------------- canonical answers


@by_engine
@by_method
def test_the_formula_is_the_same_for_any_number_of_threads(method: Method, engine: str) -> None:
    rng = np.random.default_rng(11)
    for _ in range(6):
        problem = random_problem(rng, method, 60, 4, 3, 6)
        formulas = {solve(problem, 8, threads=threads).formula for threads in (1, 2, 3, 4)}
        assert len(formulas) == 1


@by_engine
@by_method
def test_the_formula_is_the_same_from_a_fresh_start_and_resumed(
    method: Method, engine: str
) -> None:
    rng = np.random.default_rng(13)
    for _ in range(6):
        problem = random_problem(rng, method, 50, 3, 3, 5)
        fresh = solve(problem, 7)
        first = solve(problem, 4)
        resumed = Incumbent(first.formula, first.errors, first.proved_length)
        assert solve(problem, 7, resumed).formula == fresh.formula


@by_engine
@by_method
def test_a_formula_to_beat_does_not_change_the_answer(method: Method, engine: str) -> None:
    rng = np.random.default_rng(17)
    for _ in range(6):
        problem = random_problem(rng, method, 50, 3, 3, 5)
        fresh = solve(problem, 6)
        other = ClingoDl(1)
        theirs = other.solve(problem, 6, Incumbent(), Control())
        other.close()
        hint = Incumbent(theirs.formula, theirs.errors, 0)
        assert solve(problem, 6, hint).formula == fresh.formula


def test_a_solver_that_goes_on_answers_like_a_new_one() -> None:
    problem = random_problem(np.random.default_rng(19), Method.PIVOT, 60, 3, 3, 8)
    native = Native(2)
    formulas = [native.solve(problem, n, Incumbent(), Control()).formula for n in (3, 7, 5, 8)]
    assert formulas == [solve(problem, n).formula for n in (3, 7, 5, 8)]


def test_every_proved_size_is_told() -> None:
    told: list[Incumbent] = []
    problem = random_problem(np.random.default_rng(23), Method.PIVOT, 60, 3, 3, 8)
    Native(2).solve(problem, 6, Incumbent(), Control(report=told.append))
    assert {i.proved_length for i in told} >= set(range(1, 7))


def test_a_stop_before_a_large_table_is_read_still_gives_a_formula(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    never, stop = threading.Event(), threading.Event()
    monkeypatch.setattr(solver, "SMALL", 0)
    monkeypatch.setattr(solver.ProblemCache, "of", lambda problem, threads: never.wait())
    stop.set()
    problem = tiny_problem(1, Method.PIVOT)
    frontier = Frontier("digest", 3, None, None, ())
    outcome = Native(1).solve(problem, 3, Incumbent(frontier=frontier), Control(stop=stop))
    never.set()
    assert (outcome.end, outcome.proved_length) == (End.STOPPED, 0)
    assert outcome.errors == problem.errors(outcome.formula)
    assert outcome.frontier == frontier  # how far it had come is not lost either


def test_a_large_table_is_read_in_the_background_with_the_same_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = random_problem(np.random.default_rng(29), Method.PIVOT, 60, 3, 3, 8)
    expected = solve(problem, 5).formula
    monkeypatch.setattr(solver, "SMALL", 0)
    assert solve(problem, 5).formula == expected


def test_a_chunk_of_work_may_pause_as_often_as_it_has_to(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_problem(np.random.default_rng(41), Method.MEDIAN, 60, 3, 3, 8)
    expected = solve(problem, 5).formula
    monkeypatch.setattr(search, "QUICK_SIZE", 0)
    real, calls = CellEngine.search, itertools.count(1)

    def often(*arguments: Any) -> int:
        return PAUSED if next(calls) % 1000 else real(*arguments)

    monkeypatch.setattr(CellEngine, "search", often)
    assert solve(problem, 5).formula == expected


def test_a_share_of_no_thread_is_one_thread() -> None:
    problem = random_problem(np.random.default_rng(37), Method.PIVOT, 60, 3, 3, 8)
    native = Native(2)
    native.share(0)
    assert native.solve(problem, 6, Incumbent(), Control()).formula == solve(problem, 6).formula


def test_no_thread_searches_on_after_an_interrupt() -> None:
    problem = random_problem(np.random.default_rng(31), Method.INTERVAL, 400, 8, 6, 60)
    before = threading.active_count()
    began = time.monotonic()

    class Interrupted(Control):
        def reason_to_end(self, used_mb: float | None = None) -> End | None:
            if time.monotonic() > began + 0.5:
                raise KeyboardInterrupt
            return None

    with pytest.raises(KeyboardInterrupt):
        Native(2).solve(problem, 12, Incumbent(), Interrupted())
    deadline = time.monotonic() + 10
    while threading.active_count() > before:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_bound_out_of_reach_is_not_claimed() -> None:
    problem = random_problem(np.random.default_rng(31), Method.INTERVAL, 400, 8, 6, 60)
    deadline = time.monotonic() + 1.0
    outcome = Native(2).solve(problem, 12, Incumbent(), Control(deadline=deadline))
    assert outcome.end is End.TIMEOUT
    assert outcome.proved_length < 12
    assert outcome.errors == problem.errors(outcome.formula)


@pytest.mark.parametrize("size", [5, 7, 8])
def test_units_number_every_choice_of_columns_once_and_in_order(size: int) -> None:
    """Interchangeable variables take their columns in order, no numeric column is taken twice."""
    table = KernelTable(random_problem(np.random.default_rng(1), Method.PIVOT, 40, 3, 3, 6))
    count = len(table.families.column)
    for units in units_of_plans(table, size, lambda plan: Blocks(1, 1)):
        boxed, after = units.plan.boxed, units.plan.after
        chosen = np.zeros(boxed, np.int32)
        numbered = [
            tuple(chosen.tolist())
            for index in range(units.units)
            if choose_families.py_func(index, units.families, units.arrays, chosen)
        ]
        assert numbered == [
            choice
            for choice in itertools.product(range(count), repeat=boxed)
            if all(before < 0 or choice[before] < choice[i] for i, before in enumerate(after))
            and is_choice(table, choice)
        ]
        assert units.units == units.plan.choices(count)


def is_choice(table: KernelTable, choice: tuple[int, ...]) -> bool:
    families = table.families
    numeric = [families.column[one] for one in choice if families.numeric[one]]
    return len(set(choice)) == len(choice) and len(set(numeric)) == len(numeric)
