"""Small random tables for hypothesis: every kind of column, conflicts and constants included."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem

FORMULA_METHODS = [Method.MEDIAN, Method.PIVOT, Method.INTERVAL]


@st.composite
def problems(
    draw: st.DrawFn,
    max_rows: int = 9,
    max_columns: int = 4,
    max_values: int = 4,
    max_numeric: int = 2,
) -> Problem:
    """A problem of at most that many rows, columns, values in a numeric column, numeric columns."""
    rows = draw(st.integers(2, max_rows))
    columns: list[Column] = []
    for index in range(draw(st.integers(1, max_columns))):
        numeric = sum(c.kind is Kind.NUMERIC for c in columns) < max_numeric
        kind = draw(st.sampled_from(["boolean", "category"] + ["numeric"] * 2 * numeric))
        bound = {"boolean": 1, "category": 2, "numeric": max_values - 1}[kind]
        codes = np.array(draw(st.lists(st.integers(0, bound), min_size=rows, max_size=rows)))
        columns += _columns(f"c{index}", kind, codes)
    labels = np.array(draw(st.lists(st.booleans(), min_size=rows, max_size=rows)))
    return Problem.build(columns, labels, draw(st.sampled_from(FORMULA_METHODS)))


def random_problem(
    rng: np.random.Generator, method: Method, rows: int, booleans: int, numerics: int, values: int
) -> Problem:
    """A larger problem with a hidden rule and some noise."""
    columns = [
        column
        for kind, count, bound in (("boolean", booleans, 2), ("numeric", numerics, values))
        for index in range(count)
        for column in _columns(f"{kind[0]}{index}", kind, rng.integers(0, bound, rows))
    ]
    scores = sum(rng.normal() * c.values / max(1, c.values.max()) for c in columns[:4])
    noise = rng.normal(scale=0.5, size=rows)
    labels = np.asarray(scores + noise > np.median(np.asarray(scores)))
    return Problem.build(columns, labels, method)


def _columns(
    name: str, kind: str, codes: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
) -> list[Column]:
    if kind == "numeric":
        return [Column(name, Kind.NUMERIC, codes * 1.5 - 1)]
    if kind == "boolean":
        return [Column(name, Kind.BOOLEAN, codes.astype(bool))]
    return [
        Column(f"{name}_{code}", Kind.BOOLEAN, codes == code, source=name, category=str(code))
        for code in np.unique(codes)
    ]
