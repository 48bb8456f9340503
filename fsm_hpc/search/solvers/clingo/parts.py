"""Which answer set programs make up a language, a method and an encoding."""

from __future__ import annotations

from pathlib import Path

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
        Language.XOR: ("order", "xor"),
        Language.IMPLIES: ("order", "implies"),
        Language.AT_LEAST: ("literals", "quorum", "at_least"),
    },
    Encoding.PLAIN: {
        **_BUILDS,
        Language.XOR: ("order", "plain_xor"),
        Language.IMPLIES: ("order", "plain_implies"),
        Language.AT_LEAST: ("literals", "quorum", "plain_at_least"),
    },
}

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
    own = HYPOTHESIS[encoding][problem.language]
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


def leaves(problem: Problem, length: int) -> int:
    """How many attributes a formula of that length has at most."""
    is_list = problem.language is Language.AT_LEAST
    return max(1, length - 1) if is_list else (length + 1) // 2


def _prefix(encoding: Encoding) -> str:
    return "plain_" if encoding is Encoding.PLAIN else ""
