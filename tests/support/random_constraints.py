"""Random constraints on small random tables, with everything else that can be asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from fsm_hpc.data.columns import Kind
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.language import Language
from fsm_hpc.search.constraints import DIRECTIONS, Constraints
from fsm_hpc.search.cuts import CutRule
from fsm_hpc.search.method import Method
from fsm_hpc.search.objective import ACCURACY, Objective, ObjectiveName
from fsm_hpc.search.problem import Problem
from tests.support.random_tables import problems, problems_with_cuts

KINDS = ("require", "forbid", "increasing", "decreasing", "min_support", "max_columns")
OBJECTIVES = (
    ACCURACY,
    Objective(ObjectiveName.BALANCED),
    Objective(ObjectiveName.COSTS, 1.0, 5.0),
)
MOST_PROPOSITIONS = 6


class Case(NamedTuple):
    """A problem, the same without constraints, and those."""

    bound: Problem
    free: Problem
    wished: Constraints


@st.composite
def constrained(draw: st.DrawFn, kinds: tuple[str, ...], is_plain: bool) -> Case:
    """A problem under some constraints.

    Unless `is_plain` it has any objective, language and cuts, perhaps with missing values.
    """
    if is_plain:
        base = draw(problems())
        wanted: dict[str, Any] = {"cuts": base.cuts}
    else:
        rule = draw(st.sampled_from(list(CutRule)))
        base = draw(problems_with_cuts(rule, draw(st.booleans())))
        given = np.array(
            draw(st.lists(st.sampled_from([1.0, 2.0, 0.5]), min_size=base.rows, max_size=base.rows))
        )
        weights = draw(st.sampled_from([None, given]))
        language = draw(st.sampled_from(list(Language)))
        wanted = {
            "cuts": base.cuts,
            "language": language,
            "objective": draw(st.sampled_from(OBJECTIVES)),
            "given": weights,
        }
    asked = {kind: value for kind in kinds if (value := draw(_one(kind, base)))}
    for one, other in (("forbid", "require"), ("decreasing", "increasing")):
        taken = _origins(base, asked.get(other, ()))
        if one in asked:  # what contradicts itself is refused, and no problem
            asked[one] = [n for n in asked[one] if not _origins(base, [n]) & taken]
    if "max_columns" in asked:
        required = len(_origins(base, asked.get("require", ())))
        asked["max_columns"] = max(asked["max_columns"], required)
    try:
        wished = Constraints(**asked)
        bound = Problem.build(base.columns, base.labels, base.method, **wanted, constraints=wished)
    except UserError:
        assume(False)
    free = Problem.build(base.columns, base.labels, base.method, **wanted)
    assume(len(free.booleans) + len(free.numerics) <= MOST_PROPOSITIONS)
    assume(free.booleans or free.numerics)
    return Case(bound, free, wished)


def _one(kind: str, base: Problem) -> st.SearchStrategy[Any]:
    """What a constraint may ask for on this table."""
    if kind == "min_support":
        return st.integers(1, max(1, base.rows // 3))
    if kind == "max_columns":
        return st.integers(1, 2)
    columns = [
        c for c in base.columns if c.kind is Kind.BOOLEAN or not _has_no_direction(kind, base)
    ]
    names = sorted({n for c in columns for n in (c.name, c.source) if n is not None})
    if not names:
        return st.just([])
    return st.lists(st.sampled_from(names), min_size=1, max_size=2)


def _has_no_direction(kind: str, base: Problem) -> bool:
    return kind in DIRECTIONS and base.method is Method.INTERVAL


def _origins(base: Problem, names: Iterable[str]) -> set[str]:
    """The columns of the table that names are about."""
    return {c.source or c.name for c in base.columns for n in names if n in (c.name, c.source)}
