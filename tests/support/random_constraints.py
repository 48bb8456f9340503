"""Random constraints on small random tables, with everything else that can be asked for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from fsm_hpc.errors import UserError
from fsm_hpc.formulas.language import Language
from fsm_hpc.search.constraints import Constraints
from fsm_hpc.search.cuts import CutRule
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
    names = sorted({n for c in base.columns for n in (c.name, c.source) if n is not None})
    asked: dict[str, Any] = {}
    for kind in kinds:
        if kind == "min_support":
            asked[kind] = draw(st.integers(1, max(1, base.rows // 3)))
        elif kind == "max_columns":
            asked[kind] = draw(st.integers(1, 2))
        else:
            asked[kind] = draw(st.lists(st.sampled_from(names), min_size=1, max_size=2))
    try:
        wished = Constraints(**asked)
        bound = Problem.build(base.columns, base.labels, base.method, **wanted, constraints=wished)
    except UserError:
        assume(False)
    free = Problem.build(base.columns, base.labels, base.method, **wanted)
    assume(len(free.booleans) + len(free.numerics) <= MOST_PROPOSITIONS)
    assume(free.booleans or free.numerics)
    return Case(bound, free, wished)
