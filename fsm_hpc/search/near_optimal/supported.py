"""Which problems the Rashomon set is defined for; others are rejected with a message."""

from __future__ import annotations

from dataclasses import MISSING, fields

from fsm_hpc.errors import UserError
from fsm_hpc.search.problem import Problem

WORDS = {"given": "weights"}  # the user's name of a field


def check_supported(problem: Problem) -> None:
    """Reject weights, other languages, constraints, other thresholds and missing values."""
    for field in fields(Problem):
        # all fields but columns, labels and method have a default
        usual = field.default
        value = usual if usual is MISSING else getattr(problem, field.name)
        if value is not usual and not _is_equal(value, usual):
            raise UserError(
                "alternatives need unweighted rows, the paper's language, observed thresholds and "
                "no constraints; this problem does not have the default "
                f"{WORDS.get(field.name, field.name)}: fit it again with the default"
            )
    if any(b.is_missing_indicator for b in problem.booleans) or not all(
        n.is_always_reached for n in problem.numerics
    ):
        raise UserError(
            "alternatives need a table without missing values: fill them in or drop these rows, "
            "and fit again"
        )


def _is_equal(value: object, usual: object) -> bool:
    try:
        return bool(value == usual)
    except ValueError:  # an array differs from the default None
        return False
