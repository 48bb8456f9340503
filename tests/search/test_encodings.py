"""The encodings: how they are laid out, and that no function loses its smallest formula."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import clingo
import numpy as np
import pytest

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.formulas.language import Language
from fsm_hpc.search.constraints import FREE, Constraints
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.clingo.parts import beside
from fsm_hpc.search.solvers.clingo.solver import ClingoDl
from fsm_hpc.search.solvers.clingo.worker import AnswerSet, Exhausted, Job, Message, solve
from fsm_hpc.search.solvers.names import Encoding
from fsm_hpc.system.files import encodings_dir

ENTRIES = [p for p in sorted(encodings_dir().glob("*.lp")) if p.stem != "input"]
PARTS = sorted({*encodings_dir().rglob("*.lp")} - {*ENTRIES})
FACTS = """
row(0..3). label(0..1,1). label(2..3,0). weight(0..3,1).
attribute(0). val(1,a(0),1). val(3,a(0),1).
"""
NUMERIC = "attribute(1). value(1,0..3). rd(0,1,0). rd(1,1,1). rd(2,1,2). rd(3,1,3)."


FORMULA_METHODS = (Method.MEDIAN, Method.PIVOT, Method.INTERVAL)


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(encodings_dir())) for path in paths]


def facts_for(entry: Path) -> str:
    return FACTS if "median" in entry.name else FACTS + NUMERIC


def test_every_method_and_other_languages_have_a_shipped_and_a_plain_entry() -> None:
    shipped = ["interval", "median", "open", "pivot"]
    assert [entry.stem for entry in ENTRIES] == [*shipped, *(f"plain_{one}" for one in shipped)]


@pytest.mark.parametrize("entry", ENTRIES, ids=names(ENTRIES))
def test_an_entry_only_includes(entry: Path) -> None:
    lines = [line for line in read(entry).splitlines() if line and not line.startswith("%")]
    assert all(re.fullmatch(r'#include "[\w/]+\.lp"\.', line) for line in lines)


@pytest.mark.parametrize("part", PARTS, ids=names(PARTS))
def test_a_part_opens_with_its_purpose_and_a_glossary(part: Path) -> None:
    lines = read(part).splitlines()
    header = lines[: next(i for i, line in enumerate(lines) if not line.startswith("%"))]
    assert header[0].startswith(f"% {part.name} - ")
    assert any(re.match(r"%   \w+.* - ", line) for line in header)


@pytest.mark.parametrize("part", PARTS, ids=names(PARTS))
def test_the_glossary_of_a_part_is_aligned(part: Path) -> None:
    entries = [line for line in read(part).splitlines() if re.match(r"%   \S.* - ", line)]
    assert len({line.index(" - ") for line in entries}) == 1


@pytest.mark.parametrize("part", PARTS, ids=names(PARTS))
def test_every_part_is_included_somewhere(part: Path) -> None:
    included = {name for entry in ENTRIES for name in re.findall(r'"(.+)"', read(entry))}
    constrained = Constraints(min_support=1)
    for method, language in itertools.product(FORMULA_METHODS, Language):
        problem = small_problem(method, language, constrained)
        included |= {name for e in Encoding for name in names([*beside(problem, e)])}
    assert str(part.relative_to(encodings_dir())) in included


def small_problem(method: Method, language: Language, constraints: Constraints = FREE) -> Problem:
    x, labels = np.array([1.0, 1.0, 2.0, 3.0]), np.array([True, True, False, True])
    columns = [Column("x", Kind.NUMERIC, x), Column("b", Kind.BOOLEAN, labels)]
    return Problem.build(columns, labels, method, language=language, constraints=constraints)


WHOLE = [entry for entry in ENTRIES if not entry.stem.endswith("open")]


@pytest.mark.parametrize("entry", WHOLE, ids=names(WHOLE))
def test_an_entry_solves_without_a_warning(entry: Path, capfd: pytest.CaptureFixture[str]) -> None:
    messages: list[Message] = []
    constants = {"l": 4}
    solve(
        Job(str(entry), facts_for(entry), constants, (), "median" not in entry.name),
        messages.append,
    )
    assert isinstance(messages[-1], Exhausted)
    assert isinstance(messages[0], AnswerSet)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("encoding", Encoding, ids=lambda encoding: encoding.value)
@pytest.mark.parametrize("language", Language, ids=lambda language: language.value)
def test_a_language_solves_without_a_warning(
    language: Language, encoding: Encoding, capfd: pytest.CaptureFixture[str]
) -> None:
    for method in FORMULA_METHODS:
        problem = small_problem(method, language)
        solver, messages = ClingoDl(encoding=encoding), list[Message]()
        job = solver.job(solver.instance(problem), 4, None)
        solve(replace(job, constants={"l": 4}), messages.append)
        assert isinstance(messages[-1], Exhausted)
        assert isinstance(messages[0], AnswerSet)
        assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("attributes", "size"), [(2, 11), (3, 10), (4, 9), (5, 7)])
def test_no_function_loses_its_smallest_formula(attributes: int, size: int) -> None:
    expected = smallest_sizes(attributes, size)
    constants = {0, (1 << (1 << attributes)) - 1}
    for exactly in range(1, size + 1):
        needed = {f for f, needs in expected.items() if needs == exactly} - constants
        found = {truth(sequence, attributes) for sequence in canonical(attributes, exactly)}
        assert needed <= found


def test_nine_symbols_still_reach_the_majority_of_three() -> None:
    majority = sum(1 << row for row in range(8) if row.bit_count() >= 2)
    assert smallest_sizes(3, 9)[majority] == 9
    assert majority in {truth(sequence, 3) for sequence in canonical(3, 9)}


def test_the_canonical_forms_of_size_5_are_few() -> None:
    """Chains of three in one order each; (a or b) and c with any attribute for c."""
    positive = [s for s in canonical(4, 5) if "neg" not in s]
    assert len(positive) == 2 * 4 + 2 * 6 * 4


def canonical(attributes: int, size: int) -> Iterator[list[str | int]]:
    """Every reverse Polish sequence of that size that the shipped encodings consider."""
    control = clingo.Control([f"-cl={size}", f"-cleast={size}", "0", "--project=show"])
    for part in ("sequence", "tree", "canonical"):
        control.load(str(encodings_dir() / "hypothesis" / f"{part}.lp"))
    control.add("base", [], f"attribute(0..{attributes - 1}). #show at/2.")
    control.ground([("base", [])])
    with control.solve(yield_=True) as models:
        for model in models:
            symbols = sorted(model.symbols(shown=True), key=lambda s: s.arguments[0].number)
            yield [
                s.arguments[1].arguments[0].number
                if s.arguments[1].name == "a"
                else s.arguments[1].name
                for s in symbols
            ]


def attribute_truth(index: int, attributes: int) -> int:
    return sum(1 << row for row in range(1 << attributes) if row >> index & 1)


def truth(sequence: list[str | int], attributes: int) -> int:
    """The truth table of a sequence, a bit for each assignment."""
    stack: list[int] = []
    for symbol in sequence:
        if isinstance(symbol, int):
            stack.append(attribute_truth(symbol, attributes))
        elif symbol == "neg":
            stack.append((1 << (1 << attributes)) - 1 - stack.pop())
        else:
            right, left = stack.pop(), stack.pop()
            stack.append(left & right if symbol == "and" else left | right)
    (table,) = stack
    return table


def smallest_sizes(attributes: int, size: int) -> dict[int, int]:
    """Truth table -> size of its smallest formula, for all within `size`."""
    full = (1 << (1 << attributes)) - 1
    by_size: list[set[int]] = [set(), {attribute_truth(i, attributes) for i in range(attributes)}]
    smallest = dict.fromkeys(by_size[1], 1)
    for total in range(2, size + 1):
        new = {full ^ f for f in by_size[total - 1]}
        for left in range(1, total - 1):
            pairs = ((f, g) for f in by_size[left] for g in by_size[total - 1 - left])
            new |= {h for f, g in pairs for h in (f & g, f | g)}
        by_size.append(new - smallest.keys())
        smallest |= dict.fromkeys(by_size[total], total)
    return smallest
