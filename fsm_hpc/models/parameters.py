"""Check the parameters of an estimator, each by name, before anything is computed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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

METHODS = [method.value for method in Method if method.finds_formula]
LANGUAGES = [language.value for language in Language]
SOLVERS = [solver.value for solver in SolverName]
_COUNTS = (("patience", 1), ("verbose", 0), ("n_quantiles", 1), ("rounding_tolerance", 0))


def check(estimator: Any) -> None:
    """Raise a ValueError that says what was expected and what was found."""
    _check_name("method", estimator.method, METHODS)
    _check_name("language", estimator.language, LANGUAGES)
    if not hasattr(estimator.solver, "solve"):
        _check_name("solver", estimator.solver, SOLVERS)
    for name in ("length", "max_length"):
        value = getattr(estimator, name)
        if value is not None and not _is_whole(value, 1):
            raise ValueError(f"{name}: expected None or at least 1, found {value!r}")
    cuts_of(estimator)
    constraints_of(estimator)
    _check_name("missing", estimator.missing, ["error", "keep"])
    for name, least in _COUNTS:
        value = getattr(estimator, name)
        if not _is_whole(value, least) and not (name == "verbose" and isinstance(value, bool)):
            raise ValueError(f"{name}: expected at least {least}, found {value!r}")
    jobs = estimator.n_jobs
    if jobs is not None and (not _is_whole(jobs, -(10**6)) or jobs == 0):
        raise ValueError(f"n_jobs: expected None or a whole number other than 0, found {jobs!r}")
    _check_cv(estimator.cv)
    check_class_weight(estimator.class_weight)
    limit = estimator.time_limit_s
    if limit is not None and not (_is_number(limit) and limit > 0):
        raise ValueError(f"time_limit_s: expected None or more than 0, found {limit!r}")
    fraction = estimator.validation_fraction
    if not (_is_number(fraction) and 0 < fraction < 1):
        raise ValueError(f"validation_fraction: expected between 0 and 1, found {fraction!r}")


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


def _check_name(parameter: str, value: Any, known: Sequence[str]) -> None:
    if value not in known:
        raise ValueError(f"{parameter}: expected one of {', '.join(known)}, found {value!r}")


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
