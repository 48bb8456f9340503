"""The smallest size at which some formula meets the constraints, and such a formula."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fsm_hpc.errors import UserError
from fsm_hpc.formulas.connectives import LISTS, formula_of
from fsm_hpc.formulas.formula import Atom, Formula, Proposition
from fsm_hpc.formulas.language import Language
from fsm_hpc.formulas.read_once import Skeleton, smallest_with
from fsm_hpc.search.constraints import ColumnConstraint, Constraints
from fsm_hpc.search.features import BooleanFeature, NumericFeature

if TYPE_CHECKING:
    from fsm_hpc.search.problem import Problem

# up to so many propositions those without a direction are tried in every role; beyond, they have
# the role of rising ones, which costs nothing in a language with `and` or `or`
MOST_UNDIRECTED = 12


class NoFormulaError(UserError):
    """No formula within a length meets the constraints."""


def check_length(problem: Problem, length: int) -> None:
    """Reject a length without any formula."""
    may_be_none = problem.constraints.binds or not problem.features
    if may_be_none and problem.shortest.size > length:
        raise NoFormulaError(
            f"no formula of length {length} meets the constraints ({problem.constraints.text}); "
            f"the shortest has size {problem.shortest.size}: {problem.shortest}"
        )


def lengths_without(problem: Problem) -> Iterator[str]:
    """Notes about lengths below the first one of the scan."""
    least = problem.shortest.size if problem.constraints.binds else 1
    if least > 1:
        yield f"no formula of length {least - 1} or less meets the constraints"


@dataclass(frozen=True, slots=True)
class _Choice:
    """A proposition that may satisfy required columns."""

    constraint: ColumnConstraint
    proposition: Proposition

    @property
    def is_falling(self) -> bool:
        return self.constraint.sign < 0


def shortest(
    booleans: Sequence[BooleanFeature],
    numerics: Sequence[NumericFeature],
    language: Language,
    constraints: Constraints,
    rows: int,
) -> Formula:
    """A formula over as few of these propositions as the constraints allow.

    Each occurs once. One that may only make the formula false needs a negation above it; how many
    symbols that takes follows from the table of the language.
    """
    choices = list(_choices(booleans, numerics))
    if not choices and not constraints.support:
        raise NoFormulaError(
            f"no column that may be used has a value on any of the {rows} fitted rows; forbid "
            "fewer columns"
        )
    if not choices:
        raise NoFormulaError(
            f"rule.min_support={constraints.support}: no proposition holds on, and fails on, so "
            f"many of the {rows} fitted rows"
        )
    if not constraints.require:
        options: list[tuple[_Choice, ...]] = [(choice,) for choice in choices]
    else:
        options = _covers(choices, constraints)
    made = (_joined(language, option) for option in options)
    return min(made, key=lambda formula: formula.size)


def _choices(
    booleans: Iterable[BooleanFeature], numerics: Iterable[NumericFeature]
) -> Iterator[_Choice]:
    """One proposition of each kind: those with the same constraints are interchangeable here."""
    cut = [_Choice(feature.constraint, _first(feature)) for feature in numerics]
    fixed = [_Choice(feature.constraint, feature.proposition) for feature in booleans]
    kinds: dict[tuple[int, int, str], _Choice] = {}
    for choice in (*cut, *fixed):
        constraint = choice.constraint
        kinds.setdefault((constraint.sign, constraint.needs, constraint.origin), choice)
    return iter(kinds.values())


def _first(feature: NumericFeature) -> Proposition:
    return feature.proposition(*next(feature.literals))


def _covers(choices: Sequence[_Choice], constraints: Constraints) -> list[tuple[_Choice, ...]]:
    """Minimal sets of propositions that satisfy all required columns."""
    found: list[tuple[_Choice, ...]] = [()]
    for bit, name in enumerate(constraints.require):
        able = [choice for choice in choices if choice.constraint.needs >> bit & 1]
        if not able:
            raise NoFormulaError(
                f"rule.require: no proposition about {name!r} holds on, and fails on, at least "
                f"{constraints.support} of the fitted rows; require another column, or ask for "
                "less support"
            )
        found = [
            cover if any(choice.constraint.needs >> bit & 1 for choice in cover) else (*cover, more)
            for cover in found
            for more in able
        ]
        found = list(_different(found))
    return found


def _different(covers: Iterable[tuple[_Choice, ...]]) -> Iterator[tuple[_Choice, ...]]:
    """The fewest propositions, and the fewest falling ones, for each set of names and columns."""
    kept: dict[tuple[int, int, frozenset[str]], tuple[_Choice, ...]] = {}
    for cover in covers:
        needs = 0
        for choice in cover:
            needs |= choice.constraint.needs
        falling = sum(choice.is_falling for choice in cover)
        key = (needs, falling, frozenset(choice.constraint.origin for choice in cover))
        if key not in kept or len(cover) < len(kept[key]):
            kept[key] = cover
    return iter(kept.values())


def _joined(language: Language, choices: Sequence[_Choice]) -> Formula:
    """One formula of the language that depends on each, in the direction that it may."""
    by_sign = {sign: [c for c in choices if c.constraint.sign == sign] for sign in (1, -1, 0)}
    if len(choices) > MOST_UNDIRECTED:
        by_sign = {1: by_sign[1] + by_sign[0], -1: by_sign[-1], 0: []}
    counts = tuple(map(len, by_sign.values()))
    left = {sign: iter(some) for sign, some in by_sign.items()}
    return _filled(smallest_with(language, counts), left)


def _filled(skeleton: Skeleton, left: dict[int, Iterator[_Choice]]) -> Formula:
    """The formula with the next proposition of each direction in its place."""
    if isinstance(skeleton, int):
        return Atom(next(left[skeleton]).proposition)
    name, *parts = skeleton
    label = f"{name} {len(parts)}" if name in LISTS else name
    return formula_of(label, [_filled(part, left) for part in parts])
