"""Small random tables for hypothesis: every kind of column, conflicts and constants included."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from fsm_hpc.data.columns import Column, Kind, missing_indicator
from fsm_hpc.formulas.language import Language
from fsm_hpc.search.cuts import CutRule, Cuts
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
    language: Language = Language.PAPER,
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
    method = draw(st.sampled_from(FORMULA_METHODS))
    return Problem.build(columns, labels, method, language=language)


@st.composite
def problems_with_cuts(draw: st.DrawFn, rule: CutRule, keeps_missing: bool) -> Problem:
    """A problem whose cuts follow a rule, with values that are missing where those are kept."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = draw(st.integers(2, 11))
    columns: list[Column] = []
    given: dict[str, list[float]] = {}
    for index in range(draw(st.integers(1, 3))):
        few = sum(c.kind is Kind.NUMERIC for c in columns) < 2
        kind = draw(st.sampled_from(["boolean", "category"] + ["numeric"] * 3 * few))
        bound = {"boolean": 2, "category": 3, "numeric": draw(st.integers(2, 5))}[kind]
        name = f"c{index}"
        made = _columns(name, kind, rng.integers(0, bound, rows))
        if kind == "numeric" and draw(st.integers(0, 4)):
            given[name] = (rng.integers(-2, 9, draw(st.integers(1, 3))) * 0.75 - 1).tolist()
        holes = rng.random(rows) < (0.3 if keeps_missing and draw(st.integers(0, 3)) else 0.0)
        columns += with_holes(name, made, holes)
    labels = rng.random(rows) < draw(st.sampled_from([0.2, 0.5, 0.8]))
    cuts = Cuts(rule, n=draw(st.integers(1, 3)))
    if rule is CutRule.GIVEN:
        cuts = Cuts.of_lists(given)
    return Problem.build(columns, labels, draw(st.sampled_from(FORMULA_METHODS)), cuts=cuts)


def with_holes(
    name: str, columns: list[Column], holes: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
) -> list[Column]:
    """The columns of one source without the values of some rows, and the one that says which."""
    if not holes.any():
        return columns
    lost = [np.nan if c.kind is Kind.NUMERIC else False for c in columns]
    kept = zip(columns, lost, strict=True)
    return [
        *(replace(c, values=np.where(holes, n, c.values)) for c, n in kept),
        missing_indicator(name, holes),
    ]


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


def tiny_problem(seed: int, method: Method) -> Problem:
    """Two to eleven rows, some columns of all kinds, two equal ones, conflicts and constants."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(2, 12))
    columns: list[Column] = []
    for index in range(int(rng.integers(1, 5))):
        kind = str(rng.choice(["boolean", "category", "numeric", "numeric"]))
        if sum(c.kind is Kind.NUMERIC for c in columns) >= 2:
            kind = "boolean"
        codes = rng.integers(0, {"boolean": 2, "category": 3, "numeric": 5}[kind], rows)
        columns += _columns(f"{kind[0]}{index}", kind, codes)
    if seed % 5 == 0:
        columns.append(replace(columns[0], name="twin", source=None, category=None))
    return Problem.build(columns, rng.integers(0, 2, rows).astype(bool), method)


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


@st.composite
def problems_of_numbers(
    draw: st.DrawFn, numerics: int, max_rows: int = 8, language: Language = Language.PAPER
) -> Problem:
    """A problem of so many numeric columns of three values, and perhaps a Boolean one."""
    rows = draw(st.integers(3, max_rows))
    values = st.lists(st.integers(0, 2), min_size=rows, max_size=rows)
    columns = [Column(f"n{i}", Kind.NUMERIC, np.array(draw(values)) * 1.5) for i in range(numerics)]
    truths = st.lists(st.booleans(), min_size=rows, max_size=rows)
    if draw(st.booleans()):
        columns.append(Column("b", Kind.BOOLEAN, np.array(draw(truths))))
    method = draw(st.sampled_from(FORMULA_METHODS))
    return Problem.build(columns, np.array(draw(truths)), method, language=language)
