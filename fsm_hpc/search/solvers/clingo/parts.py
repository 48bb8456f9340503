"""Which answer set programs make up a language, a method and an encoding."""

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
_BUILDS = {  # languages that leave out formulas, and evaluate the others as the paper's does
    Language.DNF: (*_LITERALS, "dnf"),
    Language.CNF: (*_LITERALS, "cnf"),
    Language.CONJUNCTION: (*_LITERALS, "conjunction"),
    Language.DISJUNCTION: (*_LITERALS, "disjunction"),
}
HYPOTHESIS: dict[Encoding, dict[Language, tuple[str, ...]]] = {
    Encoding.FAST: {
        **_BUILDS,
        Language.AT_LEAST: ("literals", "quorum", "at_least"),
    },
    Encoding.PLAIN: {
        **_BUILDS,
        Language.AT_LEAST: ("literals", "quorum", "plain_at_least"),
    },
}
NESTED = ("order",)  # what languages have that only add connectives, beside `connectives`

CONSTRAINTS = {  # the last one for intervals only
    Encoding.FAST: ("hypothesis/constraints", "hypothesis/imagined", "booleanization/reach"),
    Encoding.PLAIN: (
        *("hypothesis/constraints", "hypothesis/plain_imagined"),
        "booleanization/plain_reach",
    ),
}


def entry(problem: Problem, encoding: Encoding) -> Path:
    """The file that includes what is common; the paper's language has all of it in one."""
    name = "open" if problem.language is not Language.PAPER else problem.method.value
    return encodings_dir() / f"{_prefix(encoding)}{name}.lp"


def beside(problem: Problem, encoding: Encoding) -> tuple[Path, ...]:
    """What the entry does not include: parts of the language, the method and the constraints."""
    wanted = _of_constraints(problem, encoding)
    if problem.language is Language.PAPER:
        return wanted
    folder, method = encodings_dir(), problem.method
    is_plain_cut = encoding is Encoding.PLAIN and method is not Method.MEDIAN
    cuts = f"{'plain_' if is_plain_cut else ''}{method.value}"
    own = HYPOTHESIS[encoding].get(problem.language, NESTED)
    return (
        *(folder / "hypothesis" / f"{name}.lp" for name in own),
        folder / "booleanization" / f"{cuts}.lp",
        *wanted,
    )


def _of_constraints(problem: Problem, encoding: Encoding) -> tuple[Path, ...]:
    if not problem.constraints.binds:
        return ()
    *names, of_intervals = CONSTRAINTS[encoding]
    if problem.method is Method.INTERVAL:
        names.append(of_intervals)
    return tuple(encodings_dir() / f"{name}.lp" for name in names)


def connectives(problem: Problem, encoding: Encoding) -> str:
    """The rules of connectives of two parts beyond the paper's: their symbols and their truth."""
    names = (name for name in connectives_of(problem.language.grammar) if name in INFIX)
    rules = _plain_rules if encoding is Encoding.PLAIN else _rules
    made = ((f"connective({name}).", *_symmetry(name), *rules(name)) for name in names)
    return "\n".join(itertools.chain.from_iterable(made))


def _symmetry(name: str) -> Iterator[str]:
    """What order.lp may assume: that operands can be exchanged, and chains lean to the left."""
    truth = {(left, right): value for left, right, value in _cells(name)}
    if all(truth[a, b] == truth[b, a] for a, b in truth):
        yield f"commutes({name})."
    triples = itertools.product((False, True), repeat=3)
    if all(truth[a, truth[b, c]] == truth[truth[a, b], c] for a, b, c in triples):
        yield f"associates({name})."


def _rules(name: str) -> Iterator[str]:
    """No value of the connective at N but that of its operands at M and N-1."""
    for left, right, value in _cells(name):
        operands = f"{_said(left)}true(M, D), {_said(right)}true(N-1, D)"
        yield f":- apply(N, {name}, M), row(D), {_said(not value)}true(N, D), {operands}."
    yield f"#heuristic at(N, {name}) : position(N). [l+2, true]"


def _plain_rules(name: str) -> Iterator[str]:
    """The formula at height H of the stack, from those at H and H+1 before position N."""
    for left, right, value in _cells(name):
        if value:
            operands = f"{_said(left)}holds(D, N-1, H), {_said(right)}holds(D, N-1, H+1)"
            yield f"holds(D, N, H) :- at(N, {name}), height(N, H), row(D), {operands}."


def _cells(name: str) -> list[tuple[bool, bool, bool]]:
    """The values of two operands, and of the connective."""
    pairs = itertools.product((False, True), repeat=2)
    return [(left, right, bool(joined(name, left, right))) for left, right in pairs]


def _said(value: bool) -> str:
    return "" if value else "not "


def leaves(problem: Problem, length: int) -> int:
    """How many attributes a formula of that length has at most."""
    is_list = problem.language is Language.AT_LEAST
    return max(1, length - 1) if is_list else (length + 1) // 2


def _prefix(encoding: Encoding) -> str:
    return "plain_" if encoding is Encoding.PLAIN else ""
