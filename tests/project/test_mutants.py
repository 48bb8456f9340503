"""Deliberate mistakes in the solver are noticed by the checker: docs/explanation/checking.md."""

from __future__ import annotations

import pytest

from benchmarks import mutants
from benchmarks.mutant_list import MUTANTS, Mutant
from benchmarks.reproduction import ROOT, rewritten
from benchmarks.result_cache import ResultCache

KEPT = ResultCache(ROOT / mutants.OUT).results


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_changes_exactly_one_place(mutant: Mutant) -> None:
    text = (ROOT / "fsm_hpc" / mutants.NATIVE / mutant.file).read_text(encoding="utf-8")
    assert text.count(mutant.before) == 1, "adapt benchmarks/mutant_list.py to the changed solver"
    assert mutant.before != mutant.after


def test_the_checker_refutes_every_wrong_answer_of_a_mutant_and_no_right_one() -> None:
    rows = [mutants.summary(name, one) for name, one in KEPT.items()]
    assert len(rows) > 30
    assert sum(row["wrong and refuted"] for row in rows) > 200
    assert not any(row["wrong and verified"] or row["wrong and open"] for row in rows)
    assert not any(row["right and refuted"] for row in rows)


def test_the_page_shows_what_is_kept() -> None:
    text = (ROOT / mutants.PAGE).read_text(encoding="utf-8")
    made = rewritten(text, {"mutants": lambda: mutants.table_of(KEPT)})
    assert made == text, "python -m benchmarks.mutants write"
