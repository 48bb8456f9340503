"""Which constraints a formula violates on the fitted rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.formulas.formula import Formula, Proposition, Relation
from fsm_hpc.formulas.truth_table import influences
from fsm_hpc.search.constraints import Constraints


def constraint_violations(
    constraints: Constraints, columns: Sequence[Column], formula: Formula
) -> Iterator[str]:
    """The violated constraints in words; `columns` are the allowed ones on the fitted rows.

    For required columns, a proposition that is constant on these rows counts as that constant.
    For directions it does not, since other rows may differ.
    """
    propositions = list(dict.fromkeys(formula.propositions()))
    owners = {p: _owner(columns, p) for p in propositions}
    if None in owners.values():
        absent = next(p for p, owner in owners.items() if owner is None)
        yield f"{absent} is about no column that may be used"
        return
    by_proposition = {
        p: constraints.of_column(owner) for p, owner in owners.items() if owner is not None
    }
    table = {column.name: column.values for column in columns}
    held = {p: p.evaluate(table) for p in propositions}
    for p, truth in held.items():
        if min(np.count_nonzero(truth), np.count_nonzero(~truth)) < constraints.min_support:
            yield f"{p} holds or fails on fewer than {constraints.min_support} rows"
    origins = {one.origin for one in by_proposition.values()}
    if constraints.max_columns is not None and len(origins) > constraints.max_columns:
        yield f"it has {len(origins)} columns, not {constraints.max_columns} at most"
    if any(one.sign for one in by_proposition.values()):
        for p, influence in influences(formula).items():
            if influence.falls and by_proposition[p].sign > 0:
                yield f"it may become false as {p} becomes true"
            if influence.rises and by_proposition[p].sign < 0:
                yield f"it may become true as {p} becomes true"
    if constraints.require:
        fixed = {p: bool(truth[0]) for p, truth in held.items() if (truth == truth[0]).all()}
        depends = [p for p, one in influences(formula, fixed).items() if one.is_any]
        found = 0
        for p in depends:
            found |= by_proposition[p].needs
        for bit, name in enumerate(constraints.require):
            if not found >> bit & 1:
                yield f"it does not depend on {name}"


def _owner(columns: Sequence[Column], proposition: Proposition) -> Column | None:
    for column in columns:
        if column.kind is Kind.BOOLEAN and column.proposition == proposition:
            return column
        is_cut = proposition.relation not in (Relation.MISSING, Relation.HOLDS)
        if column.kind is Kind.NUMERIC and column.name == proposition.column and is_cut:
            return column
    return None
