"""An exported rule says of every row what the formula says, in the language's own engine."""

from __future__ import annotations

import ast
import csv
import json
import math
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from fsm_hpc.data.frames import of_values
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds import ColumnSchema, Reading
from fsm_hpc.data.kinds.texts import TRUE
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Atom, Proposition
from fsm_hpc.formulas.parser import parse
from fsm_hpc.models import exporters
from fsm_hpc.models.exporters import FORMATS, export
from fsm_hpc.models.exporters.excel import export_excel
from fsm_hpc.models.model import Model
from fsm_hpc.search.method import Method
from tests.support.latex import compile_latex, needs_latex
from tests.support.rules import (
    GUESSED,
    Case,
    guessed_case,
    make_model,
    missing_case,
    random_case,
    shipped_case,
)
from tests.support.tables import SHARED, SHIPPED

THERE = (*SHIPPED, "diabetes", *(["student_dropout"] if SHARED.is_dir() else []))
SHIPPED_RULES = [
    *((name, method) for name in THERE for method in (Method.PIVOT, Method.MEDIAN)),
    *((name, Method.INTERVAL) for name in ("heart_disease", "hepatitis", "breast_cancer")),
]
CASES: dict[str, Callable[[], Case]] = {
    **{
        f"{name}-{method.value}-{'text' if is_text else 'typed'}": partial(
            shipped_case, name, method, is_text
        )
        for name, method in SHIPPED_RULES
        for is_text in (False, True)
    },
    **{f"random-{seed}": partial(random_case, seed) for seed in range(50)},
    **{f"missing-{seed}": partial(missing_case, seed) for seed in range(40)},
    **{f"connectives-{seed}": partial(random_case, seed, has_more=True) for seed in range(25)},
    **{f"guessed-{word}": partial(guessed_case, word) for word in GUESSED},
}
CONNECTIVES: dict[str, Callable[[Sequence[bool]], bool]] = {
    "and": all,
    "or": any,
    "xor": lambda parts: parts[0] != parts[1],
    "iff": lambda parts: parts[0] == parts[1],
    "implies": lambda parts: parts[1] or not parts[0],
}
MYSQL_TYPES = {str: "TEXT", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN"}
SQL_TYPES = {str: "TEXT", int: "INTEGER", float: "REAL", bool: "BOOLEAN"}
needs_node = pytest.mark.skipif(
    shutil.which("node") is None, reason="node is not installed (Debian: nodejs)"
)
needs_office = pytest.mark.skipif(
    shutil.which("soffice") is None,
    reason="LibreOffice is not installed (Debian: libreoffice-calc-nogui)",
)


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]()


# -------------------------------------------------------------------------------- the engines


@pytest.mark.parametrize("is_typed", [True, False], ids=["typed columns", "untyped columns"])
def test_sqlite_says_what_the_formula_says(case: Case, is_typed: bool) -> None:
    columns = {name: '"' + name.replace('"', '""') + '"' for name in case.table}
    kinds = {n: SQL_TYPES[type(v[0])] if is_typed else "" for n, v in case.table.items()}
    with sqlite3.connect(":memory:") as database:
        database.execute(f"CREATE TABLE t ({', '.join(f'{columns[n]} {kinds[n]}' for n in kinds)})")
        cells = zip(*case.table.values(), strict=True)
        database.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(columns))})", cells)
        found = database.execute(f"SELECT {export(case.model, 'sql')} FROM t").fetchall()
    assert [answer for (answer,) in found] == case.expected


def test_duckdb_says_what_the_formula_says(case: Case) -> None:
    with duckdb.connect() as database:
        database.register("t", pd.DataFrame(case.table))
        found = database.execute(f"SELECT {export(case.model, 'sql')} FROM t").fetchall()
    assert [_double(answer) for (answer,) in found] == case.expected


def test_predict_says_what_the_formula_says(case: Case) -> None:
    if _is_stored_otherwise(case):
        return
    truth, reading = case.model.read(case.table, len(case.expected))
    assert case.model.answers(truth).tolist() == case.expected
    assert not reading.missing.any()


def _is_stored_otherwise(case: Case) -> bool:
    """Exports take true, 1 and 1.0 for the words of a Boolean column, which `predict` refuses."""
    return any(
        source.true_values and not isinstance(case.table[source.name][0], str)
        for source in case.model.sources
    )


def test_python_says_what_the_formula_says(case: Case) -> None:
    code = export(case.model, "python")
    assert not [n for n in ast.walk(ast.parse(code)) if isinstance(n, (ast.Import, ast.ImportFrom))]
    names: dict[str, Any] = {}
    exec(code, names)
    found = [names["predict"](row) for row in case.rows]
    assert found == case.expected
    assert {type(answer) for answer in found} <= {str, int, float, bool}


@needs_node
def test_node_says_what_the_formula_says(case: Case, in_node: dict[str, list[Any]]) -> None:
    assert in_node[case.name] == case.expected


@needs_office
def test_a_spreadsheet_says_what_the_formula_says(
    case: Case, in_sheet: dict[str, list[str]]
) -> None:
    assert [_shown(answer) for answer in case.expected] == in_sheet[case.name]


def test_the_json_tree_means_what_the_formula_means(case: Case) -> None:
    told = json.loads(export(case.model, "json"))
    classes = told["classes"]
    truth = [_holds(told["formula"], case.model, row) for row in case.rows]
    assert [classes["true" if holds else "false"] for holds in truth] == case.expected
    assert told["target"] == case.model.target


# ------------------------------------------------------------------------------ the languages


def test_every_language_has_its_module() -> None:
    modules = {path.stem for path in Path(exporters.__path__[0]).glob("*.py")}
    assert modules - {"__init__", "conditions", "dialects", "functions"} == set(FORMATS)


def _example() -> Model:
    sources = (
        ColumnSchema("age", KindName.NUMERIC),
        ColumnSchema("job", KindName.CATEGORICAL, ("admin", "services")),
        ColumnSchema("smokes", KindName.BOOLEAN, (), ("yes",), ("no",)),
    )
    return make_model(parse("job_services or age >= 40.5 and not smokes"), sources)


EXPORTS = {
    "sql": (
        'CASE WHEN "age" IS NULL OR "job" IS NULL OR "smokes" IS NULL THEN NULL WHEN "job" = '
        "'services' OR (CAST(\"age\" AS DOUBLE PRECISION) >= 40.5 AND NOT "
        "(CAST(\"smokes\" AS VARCHAR) IN ('yes', 'true', '1', '1.0'))) THEN 'yes' ELSE 'no' END"
    ),
    "python": '''\
def predict(row):
    """Predict y = yes when job is services or (age is at least 40.5 and smokes is not true); \
otherwise y = no."""
    if _text(row, 'job') == 'services' or (_number(row, 'age') >= 40.5 and not (_text(row, \
'smokes') in ('yes', 'true', '1', '1.0'))):
        return 'yes'
    return 'no'
''',
    "excel": (
        "A: age\tB: job\tC: smokes\n"
        '=IF(OR(ISBLANK(A2),ISBLANK(B2),ISBLANK(C2)),"",IF(OR(EXACT(B2,"services"),AND('
        'IF(ISNUMBER(A2),A2,NUMBERVALUE(A2,"."," "))>=40.5,NOT(IF(ISLOGICAL(C2),C2,OR('
        'EXACT(C2,"yes"),EXACT(C2,"true"),EXACT(C2,"1")))))),"yes","no"))'
    ),
    "javascript": """\
// Predict y = yes when job is services or (age is at least 40.5 and smokes is not true); \
otherwise y = no.
function predict(row) {
  return text("job") === "services" || (number("age") >= 40.5 && !(["yes", "true", "1", "1.0"]\
.includes(text("smokes")))) ? "yes" : "no";
""",
    "json": json.dumps(
        {
            "target": "y",
            "classes": {"true": "yes", "false": "no"},
            "formula": {
                "or": [
                    {"column": "job", "in": ["services"]},
                    {
                        "and": [
                            {"column": "age", ">=": 40.5},
                            {"not": {"column": "smokes", "in": ["yes"]}},
                        ]
                    },
                ]
            },
            "missing values": "no answer",
        },
        indent=1,
    ),
    "r": """\
# Predict y = yes when job is services or (age is at least 40.5 and smokes is not true); \
otherwise y = no.
predict_rule <- function(data) {
""",
    "pmml": '<PMML version="4.4" xmlns="http://www.dmg.org/PMML-4_4">\n <Header description="Pred',
    "onnx": b"\x08\x09\x12\x07fsm_hpc",
    "latex": r"""\[
  \textit{job\_services} \lor \textit{age}_{\geq 40.5} \land \neg \textit{smokes}
\]
Predict y = yes when job is services or (age is at least 40.5 and smokes is not true); """
    "otherwise y = no.",
    "text": """\
Predict y = yes when job is services or (age is at least 40.5 and smokes is not true); \
otherwise y = no.

formula  job_services or age >= 40.5 and not smokes
size     6
errors   12 of 400 rows (3.0 %)
proved   yes: no formula of size 6 or less makes fewer errors on these rows""",
}


@pytest.mark.parametrize("language", FORMATS)
def test_an_export_reads_like_its_language(language: str) -> None:
    assert export(_example(), language).startswith(EXPORTS[language])


def test_an_unknown_language_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UserError, match=r"expected one of sql, python, .*, found 'cobol'"):
        export(_example(), "cobol")


@pytest.mark.parametrize("language", ["sql", "python", "excel", "javascript", "json"])
@pytest.mark.parametrize("formula", ["weight >= 3", "age", "job_lawyer", "smokes >= 1"])
def test_a_formula_about_no_column_of_the_model_is_refused(language: str, formula: str) -> None:
    model = make_model(parse(formula), _example().sources)
    with pytest.raises(UserError, match="is about no column that the model names"):
        export(model, language)


@pytest.mark.parametrize("word", [*TRUE, *map(str.upper, TRUE)])
def test_the_words_for_true_are_those_of_predictions(word: str) -> None:
    (column,) = ColumnSchema("x", KindName.BOOLEAN).columns(of_values("x", [word]), Reading(1))
    assert column.values.tolist() == [True]


def test_one_hot_names_are_not_cut_at_a_guess() -> None:
    sources = (
        ColumnSchema("a", KindName.CATEGORICAL, ("b_c", "x")),
        ColumnSchema("a_b", KindName.CATEGORICAL, ("x", "d_e")),
    )
    model = make_model(parse("a_b_c or a_b_d_e"), sources)
    assert "\"a\" = 'b_c' OR \"a_b\" = 'd_e'" in export(model, "sql")


def test_sqlite_does_not_take_a_column_called_true_for_a_class() -> None:
    model = make_model(parse("age >= 40"), [ColumnSchema("age", KindName.NUMERIC)], (False, True))
    with sqlite3.connect(":memory:") as database:
        table = "(SELECT 50 AS age, 'other' AS \"TRUE\")"
        found = database.execute(f"SELECT {export(model, 'sql')} FROM {table}").fetchall()
    assert found == [(1,)]


# ------------------------------------------------------------------------------------ sheets


@needs_office
def test_a_sheet_gives_no_answer_without_a_value(tmp_path: Path) -> None:
    model = make_model(parse("age >= -40.5"), [ColumnSchema("age", KindName.NUMERIC)])
    formulas = [export_excel(model, ["age"], row) for row in range(2, 5)]
    sheet = _compute(tmp_path, [["age", "", "-41", "0"], ["y", *formulas]], [False, False])
    assert [row[1] for row in sheet[1:]] == ["", "no", "yes"]


@needs_office
def test_a_sheet_compares_texts_as_they_are(tmp_path: Path) -> None:
    cells = [" ", " a", "a", "a ", "\ta", "A", "two  spaces", "two spaces", ""]
    sources = [ColumnSchema("x", KindName.CATEGORICAL, tuple(cells), keeps_missing=True)]
    columns = [["x", *cells]]
    for category in cells:
        model = make_model(Atom(Proposition(f"x_{category}")), sources)
        formulas = [export_excel(model, ["x"], row) for row in range(2, len(cells) + 2)]
        columns.append(["y", *formulas])
    sheet = _compute(tmp_path, columns, [True, *[False] * len(cells)])
    for at, category in enumerate(cells, start=1):
        answers = [row[at] for row in sheet[1:]]
        assert answers == ["yes" if c == category != "" else "no" for c in cells]


# ---------------------------------------------------------------------------------- bad input


ROW: dict[str, Any] = {"age": 50, "job": "admin", "smokes": "no"}
BAD_ROWS = [
    ({"job": "admin", "smokes": "no"}, "the rule needs the column .age."),
    ({**ROW, "age": "old"}, "column .age.: expected a finite number, found .old."),
    ({**ROW, "age": ""}, "column .age.: expected a finite number, found .."),
    ({**ROW, "age": "1e999"}, "column .age.: expected a finite number, found .1e999."),
    ({**ROW, "age": "0x10"}, "column .age.: expected a finite number, found .0x10."),
    ({**ROW, "age": "1_000"}, "column .age.: expected a finite number, found .1_000."),
    ({**ROW, "age": True}, "column .age.: expected a finite number, found .[Tt]?rue"),
    ({**ROW, "age": 10**400}, "column .age.: expected a finite number, found"),
    ({**ROW, "age": None}, "column .age.: expected a value, found none"),
    ({**ROW, "job": None}, "column .job.: expected a value, found none"),
]


@pytest.mark.parametrize(("row", "message"), BAD_ROWS)
def test_python_names_the_column_that_is_missing_or_wrong(row: Any, message: str) -> None:
    names: dict[str, Any] = {}
    exec(export(_example(), "python"), names)
    assert names["predict"](ROW) == "yes"
    with pytest.raises((KeyError, ValueError), match=message):
        names["predict"](row)


@needs_node
@pytest.mark.parametrize(("row", "message"), BAD_ROWS)
def test_javascript_names_the_column_that_is_missing_or_wrong(row: Any, message: str) -> None:
    code = export(_example(), "javascript")
    asked = f"try {{ predict({json.dumps(row)}) }} catch (e) {{ console.log(e.message) }}"
    said = subprocess.run(
        ["node", "-e", f"{code}\n{asked}"], capture_output=True, text=True, check=True, timeout=60
    )
    assert pytest.raises(AssertionError, match=message).matches(AssertionError(said.stdout))


def test_a_sheet_without_the_column_is_refused() -> None:
    with pytest.raises(UserError, match="expected the column 'age' in the sheet; its columns: job"):
        export_excel(_example(), ["job", "smokes"])


def test_letters_go_on_after_z() -> None:
    model = make_model(parse("age > 1"), [ColumnSchema("age", KindName.NUMERIC)])
    for at, letters in ((25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA")):
        assert f"({letters}7)" in export_excel(model, [*[""] * at, "age"], row=7)


def test_a_rule_that_is_not_proved_says_so() -> None:
    known = _example()
    model = replace(known, rules=(replace(known.rule, proved=False),))
    assert "proved   no: there may be a better formula" in export(model, "text")


@needs_latex
def test_latex_takes_every_rule(tmp_path: Path) -> None:
    rules = [export(make().model, "latex") for make in CASES.values()]
    printable = [rule for rule in rules if rule.isascii()]  # more needs fonts
    assert len(printable) > 30
    page = tmp_path / "rules.tex"
    body = "\n\n".join(printable)
    page.write_text(f"\\documentclass{{article}}\n\\begin{{document}}\n{body}\n\\end{{document}}\n")
    compile_latex(page)


# ------------------------------------------------------------------------------------ helpers


@pytest.fixture(scope="module")
def in_node(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What node says of all rows of all cases, in one go."""
    folder = tmp_path_factory.mktemp("node")
    cases = [make() for make in CASES.values()]
    for case in cases:
        (folder / f"{case.name}.js").write_text(export(case.model, "javascript"), "utf-8")
    rows = {case.name: case.rows for case in cases}
    (folder / "rows.json").write_text(json.dumps(rows), "utf-8")
    (folder / "all.js").write_text(
        "const rows = JSON.parse(require('fs').readFileSync('rows.json'));\n"
        "const answers = (name) => rows[name].map(require(`./${name}.js`).predict);\n"
        "const all = Object.keys(rows).map((name) => [name, answers(name)]);\n"
        "console.log(JSON.stringify(Object.fromEntries(all)));\n"
    )
    said = subprocess.run(
        ["node", "all.js"], cwd=folder, capture_output=True, check=True, timeout=120
    )
    found: dict[str, list[Any]] = json.loads(said.stdout)
    return found


@pytest.fixture(scope="module")
def in_sheet(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What LibreOffice computes for all rows of all cases, side by side in one sheet."""
    folder = tmp_path_factory.mktemp("sheet")
    cases = [make() for make in CASES.values()]
    columns: list[list[str]] = []
    is_text: list[bool] = []
    answers: dict[str, int] = {}
    for case in cases:
        used = [source.name for source in case.model.sources]
        header = [*[""] * len(columns), *used]
        for name in used:
            columns.append([name, *map(_cell, case.table[name])])
            is_text.append(isinstance(case.table[name][0], str) and name not in case.guessed)
        numbers = range(2, len(case.expected) + 2)
        answers[case.name] = len(columns)
        columns.append([case.name, *(export_excel(case.model, header, row) for row in numbers)])
        is_text.append(False)
    sheet = _compute(folder, columns, is_text)
    rows = {case.name: len(case.expected) for case in cases}
    return {
        name: [sheet[row][at] for row in range(1, rows[name] + 1)] for name, at in answers.items()
    }


def _compute(folder: Path, columns: list[list[str]], is_text: list[bool]) -> list[list[str]]:
    height = max(map(len, columns))
    with (folder / "in.csv").open("w", encoding="utf-8", newline="") as stream:
        padded = [[*column, *[""] * (height - len(column))] for column in columns]
        csv.writer(stream).writerows(zip(*padded, strict=True))
    kinds = "/".join(f"{at}/{2 if text else 1}" for at, text in enumerate(is_text, start=1))
    # comma, quote, UTF-8, from line 1, kinds of columns, American English, ..., compute formulas
    reads = f"CSV:44,34,76,1,{kinds},1033,false,true,false,false,false,0,true"
    writes = "csv:Text - txt - csv (StarCalc):44,34,76,1,,1033,false,false,false"
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    command = ["soffice", profile, "--headless", f"--infilter={reads}", "--convert-to", writes]
    subprocess.run(
        [*command, "--outdir", "out", "in.csv"],
        cwd=folder,
        capture_output=True,
        check=True,
        timeout=300,
    )
    with (folder / "out" / "in.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return str(value).upper() if isinstance(value, bool) else str(value)


def _shown(value: Any) -> str:
    """A class as LibreOffice writes it to CSV."""
    if isinstance(value, (str, int, np.integer, np.bool_)):
        return str(int(value)) if not isinstance(value, str) else value
    return f"{value:.15g}"


def _double(answer: Any) -> Any:
    """DuckDB's decimal fractions as Python's."""
    return answer if isinstance(answer, (str, bool, int)) else float(answer)


def _holds(tree: dict[str, Any], model: Model, row: dict[str, Any]) -> bool:
    """An interpreter as a user would write it."""
    if "not" in tree:
        return not _holds(tree["not"], model, row)
    if "at_least" in tree:
        return bool(sum(_holds(part, model, row) for part in tree["of"]) >= tree["at_least"])
    for connective, joined in CONNECTIVES.items():
        if connective in tree:
            return joined([_holds(part, model, row) for part in tree[connective]])
    value = row[tree["column"]]
    if "is missing" in tree or value is None:
        return "is missing" in tree and value is None
    if "in" in tree:
        return _is_in(value, tree["in"], model, tree["column"])
    if "between" in tree:
        low, high = tree["between"]
        return bool(low <= float(value) <= high)
    return bool(float(value) > tree[">"] if ">" in tree else float(value) >= tree[">="])


def _is_in(value: Any, words: Sequence[Any], model: Model, column: str) -> bool:
    """As the model reads it: 1 and 1.0 are the category 1, true is what a Boolean column says."""
    source = next(source for source in model.sources if source.name == column)
    if source.kind is KindName.BOOLEAN and (words == [True] or isinstance(value, bool)):
        return str(value).lower() in TRUE
    if source.kind is KindName.BOOLEAN and str(value) in ("0", "1") and "0" not in words:
        is_word = str(value) in (*source.true_values, *source.false_values)
        return str(value) in words if is_word else value == 1
    if isinstance(value, float) and not math.isnan(value):
        return value in [float(word) for word in words]
    return str(value) in words
