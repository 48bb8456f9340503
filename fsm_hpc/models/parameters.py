"""Check the parameters of an estimator, each by name, before anything is computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from numbers import Integral, Real
from typing import Any

from fsm_hpc.errors import UserError
from fsm_hpc.formulas.language import Language
from fsm_hpc.models.weighing import check_class_weight
from fsm_hpc.search.constraints import Constraints
from fsm_hpc.search.cuts import CutRule, Cuts
from fsm_hpc.search.method import Method
from fsm_hpc.search.solvers.names import SolverName
from fsm_hpc.system import machine

SOLVERS = [solver.value for solver in SolverName]
Check = tuple[str, Callable[[Any], bool]]  # what is expected, and whether a value is that


def _one_of(known: Sequence[str]) -> Check:
    return f"one of {', '.join(known)}", lambda value: value in known


def _at_least(least: int) -> Check:
    return f"at least {least}", lambda value: _is_whole(value, least)


def _or_none(check: Check) -> Check:
    expected, is_valid = check
    return f"None or {expected}", lambda value: value is None or is_valid(value)


_CHECKS = {
    "method": _one_of([method.value for method in Method if method.finds_formula]),
    "language": _one_of([language.value for language in Language]),
    "solver": (_one_of(SOLVERS)[0], lambda v: hasattr(v, "solve") or v in SOLVERS),
    "length": _or_none(_at_least(1)),
    "max_length": _or_none(_at_least(1)),
    "missing": _one_of(["error", "keep"]),
    "patience": _at_least(1),
    "n_quantiles": _at_least(1),
    "rounding_tolerance": _at_least(0),
    "verbose": ("at least 0", lambda v: isinstance(v, bool) or _is_whole(v, 0)),
    "n_jobs": _or_none(("a whole number other than 0", lambda v: _is_whole(v) and v != 0)),
    "time_limit_s": _or_none(("more than 0", lambda v: _is_number(v) and v > 0)),
    "validation_fraction": ("between 0 and 1", lambda v: _is_number(v) and 0 < v < 1),
}


def check(estimator: Any) -> None:
    """Raise a ValueError that says what was expected and what was found."""
    for name, (expected, is_valid) in _CHECKS.items():
        value = getattr(estimator, name)
        if not is_valid(value):
            raise ValueError(f"{name}: expected {expected}, found {value!r}")
    cuts_of(estimator)
    constraints_of(estimator)
    _check_cv(estimator.cv)
    check_class_weight(estimator.class_weight)


def cuts_of(estimator: Any) -> Cuts:
    """The thresholds of numbers, as `cuts`, `n_quantiles` and `rounding_tolerance` say."""
    if isinstance(estimator.cuts, Mapping):
        return Cuts.of_lists(estimator.cuts)
    names = [rule.value for rule in CutRule if rule is not CutRule.GIVEN]
    if not isinstance(estimator.cuts, str) or estimator.cuts not in names:
        raise ValueError(
            f"cuts: expected one of {', '.join(names)}, or a dict with a list for each column, "
            f"found {estimator.cuts!r}"
        )
    return Cuts(
        CutRule(estimator.cuts), n=estimator.n_quantiles, slack=estimator.rounding_tolerance
    )


def constraints_of(estimator: Any) -> Constraints:
    """What a formula has to have, as `require` to `max_columns` say; messages name those."""
    try:
        return Constraints(**{f.name: getattr(estimator, f.name) for f in fields(Constraints)})
    except UserError as error:
        raise UserError(str(error).replace("rule.", "")) from None


def threads_of(n_jobs: int | None) -> int:
    """The number of threads: None or -1 means all cores, -2 all but one."""
    cores = machine.available_cores()
    if n_jobs is None:
        return cores
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def _check_cv(cv: Any) -> None:
    if isinstance(cv, Real) and not _is_whole(cv, 1):
        raise ValueError(f"cv: expected a number from 1, found {cv!r}")
    if cv is None or isinstance(cv, str):
        raise ValueError(f"cv: expected a number, a splitter or pairs, found {cv!r}")


def _is_whole(value: Any, least: float = -math.inf) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
