"""The answer set programs of a language, a method and an encoding."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

from fsm_hpc.formulas.connectives import INFIX, connectives_of, joined
from fsm_hpc.formulas.language import Language
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.names import Encoding
from fsm_hpc.system.files import encodings_dir

_LITERALS = ("order", "literals")
NESTED = ("order",)  # of languages that only add connectives
HYPOTHESIS = {  # the parts of other languages; those of `at_least` depend on the encoding
    Language.DNF: (*_LITERALS, "dnf"),
    Language.CNF: (*_LITERALS, "cnf"),
    Language.CONJUNCTION: (*_LITERALS, "conjunction"),
    Language.DISJUNCTION: (*_LITERALS, "disjunction"),
    Language.AT_LEAST: ("literals", "quorum"),
}


def entry(problem: Problem, encoding: Encoding) -> Path:
    """The file that includes the common parts; for the paper's language it includes all parts."""
    name = "open" if problem.language is not Language.PAPER else problem.method.value
    return _path("", name, encoding)


def beside(problem: Problem, encoding: Encoding) -> tuple[Path, ...]:
    """Files that the entry does not include: the language, the method and the constraints."""
    return (*_of_language(problem, encoding), *_of_constraints(problem, encoding))


def _of_language(problem: Problem, encoding: Encoding) -> Iterator[Path]:
    language, method = problem.language, problem.method
    if language is Language.PAPER:
        return
    for name in HYPOTHESIS.get(language, NESTED):
        yield _path("hypothesis", name)
    if language is Language.AT_LEAST:
        yield _path("hypothesis", "at_least", encoding)
    is_median = method is Method.MEDIAN
    yield _path("booleanization", method.value, Encoding.FAST if is_median else encoding)


def _of_constraints(problem: Problem, encoding: Encoding) -> Iterator[Path]:
    if problem.constraints.binds:
        yield _path("hypothesis", "constraints")
        yield _path("hypothesis", "imagined", encoding)
        if problem.method is Method.INTERVAL:
            yield _path("booleanization", "reach", encoding)


def _path(folder: str, name: str, encoding: Encoding = Encoding.FAST) -> Path:
    prefix = "plain_" if encoding is Encoding.PLAIN else ""
    return encodings_dir() / folder / f"{prefix}{name}.lp"


def connectives(problem: Problem, encoding: Encoding) -> str:
    """The rules of binary connectives beyond the paper's: their symbols and their truth."""
    names = (name for name in connectives_of(problem.language.grammar) if name in INFIX)
    rules = _plain_rules if encoding is Encoding.PLAIN else _rules
    made = ((f"connective({name}).", *_symmetry(name), *rules(name)) for name in names)
    return "\n".join(itertools.chain.from_iterable(made))


def _symmetry(name: str) -> Iterator[str]:
    """Facts for order.lp: whether a connective commutes and associates."""
    truth = {(left, right): value for left, right, value in _cells(name)}
    if all(truth[a, b] == truth[b, a] for a, b in truth):
        yield f"commutes({name})."
    triples = itertools.product((False, True), repeat=3)
    if all(truth[a, truth[b, c]] == truth[truth[a, b], c] for a, b, c in triples):
        yield f"associates({name})."


def _rules(name: str) -> Iterator[str]:
    """The value of the connective at N follows from its operands at M and N-1."""
    for left, right, value in _cells(name):
        operands = f"{_sign(left)}true(M, D), {_sign(right)}true(N-1, D)"
        yield f":- apply(N, {name}, M), row(D), {_sign(not value)}true(N, D), {operands}."
    yield f"#heuristic at(N, {name}) : position(N). [l+2, true]"


def _plain_rules(name: str) -> Iterator[str]:
    """The formula at height H of the stack, from those at H and H+1 before position N."""
    for left, right, value in _cells(name):
        if value:
            operands = f"{_sign(left)}holds(D, N-1, H), {_sign(right)}holds(D, N-1, H+1)"
            yield f"holds(D, N, H) :- at(N, {name}), height(N, H), row(D), {operands}."


def _cells(name: str) -> list[tuple[bool, bool, bool]]:
    """The values of two operands, and of the connective."""
    pairs = itertools.product((False, True), repeat=2)
    return [(left, right, bool(joined(name, left, right))) for left, right in pairs]


def _sign(value: bool) -> str:
    return "" if value else "not "


def leaves(problem: Problem, length: int) -> int:
    """The largest number of attributes in a formula of that length."""
    is_list = problem.language is Language.AT_LEAST
    return max(1, length - 1) if is_list else (length + 1) // 2
