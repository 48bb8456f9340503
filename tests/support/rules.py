"""Rules with tables to try them on: of the shipped tables, and random ones with hostile names."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from fsm_hpc.data.dataset import load
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds import ColumnSchema
from fsm_hpc.formulas.connectives import INFIX, AtLeast
from fsm_hpc.formulas.formula import And, Atom, Formula, Not, Or, Proposition, missing_name
from fsm_hpc.models.model import Model, Rule
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, Incumbent
from fsm_hpc.search.solvers.native import Native
from tests.support.tables import SHARED, spec_of

ROWS = 40
HOSTILE_NAMES = (
    *('"', 'a"b', '""', "'", "it's", "`tick`", "[bracket]", "back\\slash", "\\", "${x}", "{0}"),
    *("{words}", "%s", "select", "FROM table", "order by", "row", "column", "predict", "_number"),
    *("text", "def", "class", "__proto__", "constructor", "toString", "null", "NaN", "TRUE", "A2"),
    *("=cmd|' /C calc'!A0", "+1", "@SUM(A1)", "-x", "--", "/* c */", "*/", "</script>", "// c"),
    *("'; DROP TABLE t; --", "Größe in €", "年齢", "🙂", "zero\u200bwidth", "\u200b", "\xa0", "_"),
    *("two\nlines", "a,b;c\td", "e\u0301", "\xe9", "x" * 200, "?", ":p", "$1", "#", "0", "1e5"),
    *("a", "a_b", "a_b_c", "a_", " "),
)
HOSTILE_CATEGORIES = (
    *(" ", "  ", " a", "a ", "\ta", "\xa0a", "A ", "a\u3000", "1 ", " yes"),
    *("B", "straße", "STRASSE", "a b", "ß", "a;--", "# c", "\\' OR 1=1 --", "x\\", "\\'"),
    *("it's", '"quoted"', "a,b", "a;b", "'; DROP TABLE t; --", "naïve", "年", "🙂", "=1+1"),
    *("=cmd|' /C calc'!A0", "@x", "-x", "1", "2", "01", "1.0", "2.50", "-3", "1e5", "True"),
    *("false", "TRUE", "yes", "line\nbreak", "tab\tinside", "back\\slash", "\\n", "${x}", "`"),
    *("%", "*", "?", "~", "A", "a", "e\u0301", "\xe9", "null", "None", "</script>", "*/"),
    *("c" * 300, "b_c", "c", "b", '"""', "two  spaces", "\u200b"),
)
CODES = (("0", "1", "2"), ("1", "2", "3", "10"), ("-1", "0", "7"), ("1.0", "2.0", "3.0"))
TRUTHS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    *((("yes",), ("no",)), (("Yes", "yes"), ("no",)), (("1",), ("0",)), (("2",), ("1",))),
    *(((), ()), ((), ()), (("True",), ("False",)), (("it's",), ('"',)), (("no",), ("yes",))),
)
FREE_TRUTHS = (("true", "True", "YES", "y", "T", "on", "1"), ("false", "No", "n", "F", "off", "0"))
CLASSES: tuple[tuple[Any, Any], ...] = (
    *(("no", "yes"), ("it's", '"q"'), ("=1+1", "@x"), ("0", "1"), ("日本", "🙂"), ("b" * 300, "c")),
    *(("a\nb", "c\\d"), ("</script>", "${x}"), ("'; DROP TABLE t; --", "`"), ("None", "")),
    *((0, 1), (-1, 1), (2, 1), (0.5, 1.5), (1, 2.5), (-0.1, 0.30000000000000004)),
    *((False, True), (True, False), (np.int64(0), np.int64(1)), (np.bool_(False), np.bool_(True))),
)
_HARMLESS = re.compile(r"[A-Za-z]+|-?[0-9]+(\.[0-9]+)?([eE]-?[0-9]+)?")


@dataclass(frozen=True)
class Case:
    """A rule, a table as its user stores it, and what the formula makes of every row."""

    name: str
    model: Model
    table: dict[str, list[Any]]
    expected: list[Any]
    guessed: frozenset[str]  # columns of text that a sheet may take for numbers as it likes

    @property
    def rows(self) -> list[dict[str, Any]]:
        cells = zip(*self.table.values(), strict=True)
        return [dict(zip(self.table, row, strict=True)) for row in cells]


def make_model(
    formula: Formula, sources: Sequence[ColumnSchema], classes: tuple[Any, Any] = ("no", "yes")
) -> Model:
    return Model(
        target="y",
        rules=(Rule(formula, classes[1], formula.size, 12, True, 0.8, 100, 0.7),),
        otherwise=classes[0],
        class_shares=((0.9, 0.1), (0.2, 0.8)),
        sources=tuple(sources),
        method="pivot",
        rows=400,
        errors=12,
    )


# ------------------------------------------------------------------------------ shipped tables


@cache
def shipped_case(name: str, method: Method, is_text: bool, length: int = 5) -> Case:
    """The best rule on all rows of a table; the table with numbers, or all of it as text."""
    dataset = load(spec_of(name), SHARED if SHARED.is_dir() else None)
    problem = Problem.build(dataset.columns, dataset.labels, method)
    outcome = Native(threads=2).solve(problem, length, Incumbent(), Control())
    assert outcome.formula is not None
    used = {proposition.column for proposition in outcome.formula.propositions()}
    classes = (dataset.negative, dataset.positive)
    model = make_model(outcome.formula, dataset.schemas_of(used), classes)
    truth = outcome.formula.evaluate(problem.table)
    table: dict[str, list[Any]] = {}
    schemas = {schema.name: schema for schema in dataset.schemas}
    for column in dataset.columns:
        values = column.values.tolist()
        if column.category is not None:
            cells = table.setdefault(str(column.source), [""] * dataset.rows)
            cells[:] = [column.category if v else c for v, c in zip(values, cells, strict=True)]
        elif schemas[column.name].true_values:
            true, false = schemas[column.name].true_values, schemas[column.name].false_values
            table[column.name] = [true[0] if value else false[0] for value in values]
        else:
            table[column.name] = values
    stored = {n: list(map(str, cells)) if is_text else _typed(cells) for n, cells in table.items()}
    title = f"{name}-{method.value}-{'text' if is_text else 'typed'}"
    return Case(title, model, stored, model.answers(truth).tolist(), frozenset(table))


def _typed(cells: list[Any]) -> list[Any]:
    """As a database imports them: whole numbers where every cell is one."""
    is_whole = all(re.fullmatch(r"0|-?[1-9]\d*", str(cell)) for cell in cells)
    return list(map(int, cells)) if is_whole else cells


# ------------------------------------------------------------------------------- random tables


@cache
def random_case(seed: int, has_more: bool = False) -> Case:
    """Columns with hostile names and contents, and a formula over some of them.

    `has_more`: with connectives beyond the paper's.
    """
    made = _Maker(random.Random(seed), has_more)
    for name in made.names(made.rng.randint(3, 8)):
        made.rng.choice((made.numeric, made.boolean, made.categorical))(name)
    formula = made.telling_formula()
    used = {proposition.column for proposition in formula.propositions()}
    sources = [source for source in made.sources if used & made.columns_of[source.name]]
    model = make_model(formula, sources, CLASSES[seed % len(CLASSES)])
    answers = model.answers(formula.evaluate(made.truths)).tolist()
    title = f"{'connectives' if has_more else 'random'}-{seed}"
    return Case(title, model, made.stored, answers, frozenset(made.guessed))


@cache
def missing_case(seed: int) -> Case:
    """The same with cells that have no value, and a formula that may ask for that."""
    made = _Maker(random.Random(seed), has_more=seed % 2 == 1)
    for name in made.names(made.rng.randint(2, 6)):
        made.rng.choice((made.numeric, made.boolean, made.categorical))(name)
    made.lose_values()
    formula = made.telling_formula()
    used = {proposition.column for proposition in formula.propositions()}
    sources = [source for source in made.sources if used & set(source.names)]
    model = make_model(formula, sources, CLASSES[seed % len(CLASSES)])
    answers = model.answers(formula.evaluate(made.truths)).tolist()
    return Case(f"missing-{seed}", model, made.stored, answers, frozenset())


GUESSED = ("01", "2.50", "1e5", "True", "false", "x")


def guessed_case(word: str) -> Case:
    """A category that a sheet takes for something else when it opens a CSV."""
    source = ColumnSchema("code", KindName.CATEGORICAL, GUESSED)
    model = make_model(Atom(Proposition(f"code_{word}")), [source])
    answers = ["yes" if category == word else "no" for category in GUESSED]
    return Case(f"guessed-{word}", model, {"code": list(GUESSED)}, answers, frozenset({"code"}))


class _Maker:
    """A table in the making: what is stored, and what the formula is to see."""

    def __init__(self, rng: random.Random, has_more: bool = False) -> None:
        self.rng = rng
        self.has_more = has_more
        self.sources: list[ColumnSchema] = []
        self.stored: dict[str, list[Any]] = {}
        self.truths: dict[str, Any] = {}
        self.columns_of: dict[str, set[str]] = {}
        self.guessed: set[str] = set()

    def names(self, count: int) -> list[str]:
        """As the reader makes them of a header; databases know no upper and lower case."""
        drawn = self.rng.sample(HOSTILE_NAMES, len(HOSTILE_NAMES))
        read = [" ".join(name.split()) or f"column_{at}" for at, name in enumerate(drawn)]
        return list({name.casefold(): name for name in read}.values())[:count]

    def numeric(self, name: str) -> None:
        rng = self.rng
        make = rng.choice(
            (
                lambda: rng.randint(-5, 5),
                lambda: rng.randint(0, 10**6),
                lambda: round(rng.uniform(-2, 2), 1),
                lambda: rng.gauss(0, 1),
                lambda: rng.uniform(0, 1e-7),
                lambda: rng.uniform(-1e17, 1e17),
                lambda: rng.choice((0.1, 0.2, 0.1 + 0.2, -0.0, 0.0, 1e300, -1e300, 5e-300, 2.5)),
            )
        )
        values = [make() for _ in range(ROWS)]
        self._keep(ColumnSchema(name, KindName.NUMERIC), self._maybe_text(values), {name: values})

    def boolean(self, name: str) -> None:
        true, false = self.rng.choice(TRUTHS)
        truth = [self.rng.random() < 0.5 for _ in range(ROWS)]
        words = (false, true) if true else (FREE_TRUTHS[1], FREE_TRUTHS[0])
        cells: list[Any] = [self.rng.choice(words[value]) for value in truth]
        how = self.rng.choice(("words", "words", "truths", "0 and 1"))
        if how != "words" and "1" not in false and "0" not in true:
            cells = truth if how == "truths" else [int(value) for value in truth]
        elif all(word.isdecimal() for word in (*true, *false)) and true:
            cells = self._numbers_or_text(cells)
        self._keep(ColumnSchema(name, KindName.BOOLEAN, (), true, false), cells, {name: truth})

    def categorical(self, name: str) -> None:
        rng = self.rng
        is_coded = rng.random() < 0.3
        count = rng.randint(2, 6)
        categories = rng.choice(CODES) if is_coded else rng.sample(HOSTILE_CATEGORIES, count)
        values = [rng.choice(categories) for _ in range(ROWS)]
        seen = {f"{name}_{category}": [v == category for v in values] for category in categories}
        if seen.keys() & self.truths.keys():
            return  # the loader refuses such a table
        cells = self._numbers_or_text(values) if is_coded else values
        self._keep(ColumnSchema(name, KindName.CATEGORICAL, tuple(categories)), cells, seen)

    def lose_values(self) -> None:
        """Some cells of most columns, but for the first row, by which databases tell its type."""
        self.sources = [replace(source, keeps_missing=True) for source in self.sources]
        for source in self.sources:
            share = self.rng.choice((0.0, 0.2, 0.4))
            holes = np.array([False, *(self.rng.random() < share for _ in range(ROWS - 1))])
            cells = zip(self.stored[source.name], holes, strict=True)
            self.stored[source.name] = [None if hole else cell for cell, hole in cells]
            for name in self.columns_of[source.name]:
                values = self.truths[name]
                lost = False if values.dtype == bool else np.nan
                self.truths[name] = np.where(holes, lost, values)
            self.truths[missing_name(source.name)] = holes

    def telling_formula(self) -> Formula:
        """One that is true on some rows and false on others, if it finds one."""
        for _ in range(20):
            formula = self.formula(self.rng.randint(1, 5))
            if len(set(formula.evaluate(self.truths).tolist())) == 2:
                break
        return formula

    def formula(self, parts: int) -> Formula:
        """With that many propositions."""
        if parts == 1:
            atom = Atom(self._proposition())
            return Not(atom) if self.rng.random() < 0.3 else atom
        if self.has_more and self.rng.random() < 0.3:
            joined: Formula = AtLeast(
                self.rng.randint(1, parts), *(self.formula(1) for _ in range(parts))
            )
        else:
            left = self.rng.randint(1, parts - 1)
            kinds = (And, Or, *INFIX.values()) if self.has_more else (And, Or)
            joined = self.rng.choice(kinds)(self.formula(left), self.formula(parts - left))
        return Not(joined) if self.rng.random() < 0.2 else joined

    def _proposition(self) -> Proposition:
        source = self.rng.choice(self.sources)
        if source.keeps_missing and self.rng.random() < 0.3:
            return Proposition.missing(source.name)
        column = self.rng.choice(sorted(self.columns_of[source.name]))
        values = self.truths[column]
        if values.dtype == bool:
            return Proposition(column)
        low, high = sorted(self.rng.choices(values[~np.isnan(values)].tolist(), k=2))
        if self.rng.random() < 0.3:
            return Proposition.within(column, low, high)
        return self.rng.choice((Proposition.above, Proposition.at_least))(column, low)

    def _keep(self, source: ColumnSchema, cells: list[Any], seen: dict[str, Any]) -> None:
        self.sources.append(source)
        self.stored[source.name] = cells
        self.columns_of[source.name] = set(seen)
        self.truths |= {name: np.array(values) for name, values in seen.items()}
        if self.rng.random() < 0.5 and _is_harmless(cells):
            self.guessed.add(source.name)

    def _maybe_text(self, values: list[Any]) -> list[Any]:
        return list(map(str, values)) if self.rng.random() < 0.3 else values

    def _numbers_or_text(self, words: list[str]) -> list[Any]:
        return list(map(self.rng.choice((str, float)), words))


def _is_harmless(cells: list[Any]) -> bool:
    """Whether a sheet that guesses keeps apart what differs: 1 and 1.0 are the same to it."""
    words = {str(cell) for cell in cells}
    numbers = [float(word) for word in words if not word.isalpha() and _HARMLESS.fullmatch(word)]
    truths = [word.lower() for word in words if word.lower() in ("true", "false")]
    return all(map(_HARMLESS.fullmatch, words)) and all(
        len(set(some)) == len(some) for some in (numbers, truths)
    )
