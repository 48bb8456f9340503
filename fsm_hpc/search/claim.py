"""The claim that a formula is optimal, as a file for the independent checker."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.formulas.formula import Formula, Proposition, Relation
from fsm_hpc.formulas.truth_table import replaced
from fsm_hpc.search.problem import Problem
from fsm_hpc.system import files

FORMAT = 1
_TABLE = ("columns", "labels", "weights")


def claim_of(problem: Problem, formula: Formula, bound: int) -> dict[str, Any]:
    """The content of a claim file; it contains the rows of the table that were fitted."""
    claim: dict[str, Any] = {
        "format": FORMAT,
        "method": problem.method.value,
        "language": problem.language.value,
        "constraints": problem.constraints.text if problem.constraints.binds else "",
        "bound": bound,
        "formula": str(replaced(formula, Proposition.with_numbers)),
        "errors": problem.errors(formula),
        "columns": [*_fixed(problem), *_numeric(problem, formula)],
        "labels": problem.labels.astype(int).tolist(),
        "weights": None if problem.weights is None else problem.weights.tolist(),
    }
    content = json.dumps([claim[key] for key in _TABLE])
    return claim | {"table": hashlib.sha256(content.encode()).hexdigest()}


def write_claim(path: Path, claim: dict[str, Any]) -> None:
    """Write the file; the same claim gives the same bytes."""
    files.write_atomically(path, gzip.compress(json.dumps(claim).encode(), mtime=0))


def write_if_proved(
    path: Path, problem: Problem, formula: Formula, bound: int, proved: bool
) -> str:
    """Write the claim of a proved formula; a message about the file."""
    if not proved:
        return f"{path.name} is not written, as the formula is not proved to be the best"
    write_claim(path, claim_of(problem, formula, bound))
    return f"wrote {path.name}, which contains the fitted rows of the table"


def digest_of(claim: dict[str, Any]) -> str:
    """SHA-256 of the content, which does not depend on the compression."""
    return hashlib.sha256(json.dumps(claim).encode()).hexdigest()


def _fixed(problem: Problem) -> list[dict[str, Any]]:
    """The columns with one proposition each."""
    entries = []
    for feature in problem.booleans:
        proposition = feature.proposition
        if proposition.relation is Relation.ABOVE:
            column = next(c for c in problem.columns if c.name == proposition.column)
            entries.append(_number_entry(column, [proposition.low]))
            continue
        kind = "missing" if proposition.relation is Relation.MISSING else "boolean"
        values = feature.holds.astype(int).tolist()
        entries.append({"name": proposition.column, "kind": kind, "values": values})
    return entries


def _numeric(problem: Problem, formula: Formula) -> list[dict[str, Any]]:
    """The columns whose thresholds are chosen; rewritten thresholds of the formula are added."""
    used: dict[str, list[float]] = {}
    for proposition in formula.propositions():
        if proposition.relation in (Relation.AT_LEAST, Relation.WITHIN):
            has_two = proposition.relation is Relation.WITHIN
            used[proposition.column] = [proposition.low, proposition.high][: 1 + has_two]
    by_name = {column.name: column for column in problem.columns if column.kind is Kind.NUMERIC}
    return [
        _number_entry(by_name[f.column], [*f.thresholds.tolist(), *used.get(f.column, [])])
        for f in problem.numerics
    ]


def _number_entry(column: Column, thresholds: list[float]) -> dict[str, Any]:
    values = np.asarray(column.values, dtype=np.float64)
    observed = np.unique(values[~np.isnan(values)])
    is_observed = np.array_equal(observed, np.unique(thresholds))
    listed = [None if value != value else value for value in values.tolist()]
    return {
        "name": column.name,
        "kind": "numeric",
        "values": listed,
        "thresholds": "observed" if is_observed else sorted(set(thresholds)),
    }
