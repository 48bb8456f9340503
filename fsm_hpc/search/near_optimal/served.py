"""Which problems the near-optimal set is defined for; others are refused in plain words."""

from __future__ import annotations

from dataclasses import MISSING, fields

from fsm_hpc.errors import UserError
from fsm_hpc.search.problem import Problem

WORDS = {"given": "weights"}  # what a user calls it


def check_served(problem: Problem) -> None:
    """Errors on rows, the paper's language, observed cuts, no missing value."""
    for field in fields(Problem):
        # whatever says more than columns, labels and method has a default, which says nothing
        usual = field.default
        value = usual if usual is MISSING else getattr(problem, field.name)
        if value is not usual and not _is_equal(value, usual):
            raise UserError(
                f"alternatives are counted for the plain problem only (every row counts once, "
                f"the paper's language, observed cuts, no requirement); this one has "
                f"{WORDS.get(field.name, field.name)} of its own: fit it again without, or go "
                "without alternatives"
            )
    if any(b.says_missing for b in problem.booleans) or not all(
        n.is_always_reached for n in problem.numerics
    ):
        raise UserError(
            "alternatives are counted for tables without missing values; this one has some: fill "
            "them or leave those rows out, and fit again"
        )


def _is_equal(value: object, usual: object) -> bool:
    try:
        return bool(value == usual)
    except ValueError:  # arrays: they say something
        return False
