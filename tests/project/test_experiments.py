"""The experiments behind docs/reproduction.md do what the page says of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.agreement import AgreementCell, Climb, proved_further, table
from benchmarks.paper_formulas import EXAMPLES, Example, read
from benchmarks.study_tables import Beside
from benchmarks.ties import Optima, scanned
from fsm_hpc.cluster.watch.states import FoldState
from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.formulas.parser import parse
from fsm_hpc.report.collect import FoldGroup, Row
from fsm_hpc.report.tables import paper
from fsm_hpc.search.lengths import Split
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control
from fsm_hpc.study import result
from fsm_hpc.study.fold_id import FoldId

RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture(scope="module")
def problem() -> Problem:
    """Numbers from 0 to 9 four times over and two Booleans; true from 5 on where `a` is not."""
    rng = np.random.default_rng(1)
    numbers, a, b = np.tile(np.arange(10.0), 4), rng.random(40) < 0.5, rng.random(40) < 0.5
    columns = (
        Column("x", Kind.NUMERIC, numbers),
        Column("a", Kind.BOOLEAN, a),
        Column("b", Kind.BOOLEAN, b),
    )
    labels = (numbers >= 5) & ~a
    return Problem.build(columns, labels, Method.PIVOT)


def test_a_draw_is_one_of_the_optima_of_its_length(problem: Problem) -> None:
    optima, rng = Optima(problem, Control()), np.random.default_rng(0)
    assert optima.reach(4)
    for length, pool in enumerate(optima.pools, 1):
        drawn = [pool.draw(rng) for _ in range(20)]
        best = problem.errors(pool.own), pool.own.size
        assert {(problem.errors(one), one.size) for one in drawn} == {best}
        assert pool.own.size <= length
        assert len(set(map(str, drawn))) <= pool.count


def test_a_scan_of_draws_stops_by_the_rule_of_the_paper(problem: Problem) -> None:
    optima = Optima(problem, Control())
    optima.reach(4)
    state = scanned(Split(problem, problem), optima.pools, lambda pool: pool.own)
    assert [entry.length for entry in state.lengths] == list(range(1, len(state.lengths) + 1))
    assert state.best_validation == max(e.validation_accuracy for e in state.lengths)


def test_both_solvers_prove_the_same_and_go_on_from_there(problem: Problem) -> None:
    kept: list[AgreementCell] = []
    proved_further(problem, AgreementCell(), 60.0, kept.append)
    assert len(kept[-1].proofs) > 1
    assert kept[-1].agrees
    again: list[AgreementCell] = []
    proved_further(problem, AgreementCell(kept[0].proofs, 1.0), 60.0, again.append)
    figures = [[(p.errors, p.size) for p in cell.proofs] for cell in (kept[-1], again[-1])]
    assert figures[0] == figures[1]
    assert all(proof.is_of_both for proof in again[-1].proofs)


def test_a_length_that_native_has_no_time_for_is_told_and_not_counted(problem: Problem) -> None:
    kept: list[AgreementCell] = []
    proved_further(problem, AgreementCell(), 60.0, kept.append)
    out_of_time = Climb(problem, 0.0)
    proofs = tuple(map(out_of_time.beside, kept[-1].proofs))
    assert not any(proof.is_of_both for proof in proofs)
    lines = table({"d pivot": AgreementCell(proofs, 60.0)})
    assert lines[-2].startswith("0 of 0 lengths")
    assert lines[-1].startswith(f"{len(proofs)} more, with a star")


def test_a_length_on_which_the_solvers_differ_is_told(problem: Problem) -> None:
    kept: list[AgreementCell] = []
    proved_further(problem, AgreementCell(), 60.0, kept.append)
    wrong = replace(kept[-1].proofs[0], errors=kept[-1].proofs[0].errors + 1)
    cell = AgreementCell((wrong, *kept[-1].proofs[1:]), 60.0)
    assert not cell.agrees
    assert "| NO |" in table({"d pivot": cell})[2]


def test_a_letter_without_a_name_is_read_as_kindly_as_can_be(problem: Problem) -> None:
    found = read(Example("d", "pivot", "p and not q", {"p": (5,), "q": None}, {}), problem)
    assert str(found.formula) == "x >= 5 and not a"
    assert found.errors == problem.errors(found.formula) == 0
    turned = read(Example("d", "pivot", "not p", {"p": (5,)}, {"p": "x"}), problem)
    assert turned.errors == problem.errors(turned.formula) == problem.errors(parse("x >= 5"))


def test_the_paper_prints_one_formula_for_each_dataset_and_method() -> None:
    printed = {(example.dataset, example.method) for example in EXAMPLES}
    assert printed == set(paper.average_size())
    assert len(printed) == len(EXAMPLES)


def test_a_difference_is_counted_in_standard_errors_of_two_means() -> None:
    kept = RESULTS / "paper" / "hepatitis" / "xgboost"
    done = [result.read(kept / f"fold-{fold}" / "result.json") for fold in range(10)]
    rows = [
        Row(FoldId("hepatitis", "xgboost", n), FoldState.DONE, "", r) for n, r in enumerate(done)
    ]
    one = Beside(FoldGroup("hepatitis", "xgboost", tuple(rows)))
    mean, deviation = paper.accuracy()["hepatitis", "xgboost"]
    ours = np.array([100 * r.accuracy.test for r in done if r is not None])
    squared_error = ours.var(ddof=1) / 10 + deviation**2 / 9
    assert one.standard_errors == pytest.approx((ours.mean() - mean) / np.sqrt(squared_error))
