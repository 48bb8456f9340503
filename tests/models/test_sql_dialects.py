"""An exported rule says in every database what the formula says, whatever a table holds."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pymysql
import pytest
import sqlglot
from sqlglot import exp

from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds import ColumnSchema
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Atom, Proposition
from fsm_hpc.formulas.parser import parse
from fsm_hpc.models.exporters import export
from fsm_hpc.models.exporters.dialects import DIALECTS, dialect_called
from fsm_hpc.models.model import Model, save
from tests.models.test_exporters import CASES, _double, _example
from tests.support.command_line import run_command
from tests.support.mariadb import connected, mariadb, needs_mariadb
from tests.support.rules import HOSTILE_CATEGORIES, Case, make_model

MYSQL_TYPES = {str: "TEXT", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN"}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]()


@pytest.fixture(scope="module")
def database() -> Iterator[Any]:
    with mariadb() as socket, closing(connected(socket)) as connection:
        connection.cursor().execute("CREATE DATABASE d COLLATE utf8mb4_unicode_ci")
        connection.select_db("d")
        yield connection


@needs_mariadb
@pytest.mark.parametrize("mode", ["", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES,HIGH_NOT_PRECEDENCE"])
def test_mariadb_says_what_the_formula_says(case: Case, mode: str, database: Any) -> None:
    used = [source.name for source in case.model.sources]
    impossible = [n for n in used if len(n) > 64 or max(n) > "\uffff" or n.endswith(" ")]
    if impossible:
        with pytest.raises(UserError, match=r"column .* expected a name of at most 64"):
            export(case.model, "sql", "mysql")
        return
    cursor = database.cursor()
    cursor.execute(f"SET sql_mode = '{mode}'")
    columns = {name: f"`{name.replace('`', '``')}`" for name in used}
    kinds = ", ".join(f"{columns[n]} {MYSQL_TYPES[type(case.table[n][0])]}" for n in used)
    cursor.execute(f"CREATE OR REPLACE TABLE t (number INT, {kinds})")
    cells = zip(*(case.table[name] for name in used), strict=True)
    rows = [(number, *row) for number, row in enumerate(cells)]
    cursor.executemany(f"INSERT INTO t VALUES ({', '.join(['%s'] * (len(used) + 1))})", rows)
    cursor.execute(f"SELECT {export(case.model, 'sql', 'mysql')} FROM t ORDER BY t.number")
    assert [_double(answer) for (answer,) in cursor.fetchall()] == case.expected


@pytest.mark.parametrize("dialect", DIALECTS)
def test_sqlglot_finds_the_same_columns_and_texts(case: Case, dialect: str) -> None:
    names = {source.name for source in case.model.sources}
    if not all(map(dialect_called(dialect).names.fullmatch, names)):
        with pytest.raises(UserError, match=f"dialect {dialect}: column .* expected a name"):
            export(case.model, "sql", dialect)
        return
    code = export(case.model, "sql", dialect)
    reader = "postgres" if dialect == "ansi" else dialect
    (tree,) = sqlglot.parse(f"SELECT {code} FROM t", read=reader)
    assert tree is not None
    assert {column.name for column in tree.find_all(exp.Column)} == names


@pytest.mark.parametrize("kind", KindName)
def test_a_rule_that_needs_a_value_gives_no_answer_without_one(kind: KindName) -> None:
    source = ColumnSchema("age", kind, ("", "x") if KindName.BOOLEAN is not kind else ())
    formula = {
        KindName.NUMERIC: "age >= -1",
        KindName.CATEGORICAL: "age_x",
        KindName.BOOLEAN: "age",
        KindName.ORDERED: "`age >= x`",
        KindName.DATE: "age >= 2021-03-04",
    }
    for text in (formula[kind], f"not {formula[kind]}"):
        model = make_model(parse(text), [source])
        assert model.read({"age": [None]}, 1)[1].missing.all()
        with sqlite3.connect(":memory:") as database:
            query = f"SELECT {export(model, 'sql')} FROM (SELECT NULL AS age)"
            assert database.execute(query).fetchall() == [(None,)]
        with duckdb.connect() as duck:
            query = f"SELECT {export(model, 'sql')} FROM (SELECT CAST(NULL AS VARCHAR) AS age)"
            assert duck.execute(query).fetchall() == [(None,)]


@needs_mariadb
@pytest.mark.parametrize("kind", ["TEXT", "VARCHAR(20)", "VARCHAR(20) CHARACTER SET latin1"])
def test_mariadb_compares_texts_as_they_are(kind: str, database: Any) -> None:
    categories = ("", " ", " a", "a", "a ", "\ta", "A", "\xe4")
    texts = [*categories, None]
    cursor = database.cursor()
    cursor.execute(f"CREATE OR REPLACE TABLE t (number INT, x {kind})")
    cursor.executemany("INSERT INTO t VALUES (%s, %s)", list(enumerate(texts)))
    source = ColumnSchema("x", KindName.CATEGORICAL, categories, keeps_missing=True)
    for category in categories:
        model = make_model(Atom(Proposition(f"x_{category}")), [source])
        cursor.execute(f"SELECT {export(model, 'sql', 'mysql')} FROM t ORDER BY number")
        expected = ["yes" if text == category else "no" for text in texts]
        assert [answer for (answer,) in cursor.fetchall()] == expected


@needs_mariadb
@pytest.mark.parametrize("charset", ["utf8mb4", "latin1", "gbk"])
def test_mariadb_reads_every_category_in_every_mode_and_character_set(charset: str) -> None:
    categories = sorted(HOSTILE_CATEGORIES)
    with mariadb() as socket, closing(connected(socket)) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE DATABASE d COLLATE utf8mb4_unicode_ci")
        cursor.execute("CREATE TABLE d.t (number INT, x TEXT)")
        cursor.executemany("INSERT INTO d.t VALUES (%s, %s)", list(enumerate(categories)))
        cursor.execute(f"SET NAMES {charset}")
        for mode in ("", "NO_BACKSLASH_ESCAPES", "ANSI"):
            cursor.execute(f"SET sql_mode = '{mode}'")
            for number, category in enumerate(categories):
                code = export(_rule_of_category(category, categories), "sql", "mysql")
                assert code.isascii()
                cursor.execute(f"SELECT number, {code} FROM d.t ORDER BY number")
                found = [row[0] for row in cursor.fetchall() if row[1] == "yes"]
                assert found == [number], category


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake"])
@pytest.mark.parametrize("category", HOSTILE_CATEGORIES)
def test_sqlglot_reads_the_category_back(category: str, dialect: str) -> None:
    code = export(_rule_of_category(category), "sql", dialect)
    literals = {node.this for node in sqlglot.parse_one(code, read=dialect).find_all(exp.Literal)}
    assert category in {_unescaped(literal) for literal in literals}


def test_bigquery_names_the_column_that_it_cannot_have() -> None:
    for name in ('a"b', "a`b", "back\\slash", "a.b", "two\nlines", "x" * 301, "(x)", "a;b"):
        model = make_model(
            parse(f"`{name.replace('`', '``')}` >= 1"), [ColumnSchema(name, KindName.NUMERIC)]
        )
        with pytest.raises(
            UserError, match=r"dialect bigquery: column .*rename the column"
        ) as told:
            export(model, "sql", "bigquery")
        assert repr(name) in str(told.value)
    assert "`Größe in €`".replace(" in €", "") in export(
        make_model(parse("`Größe` >= 1"), [ColumnSchema("Größe", KindName.NUMERIC)]),
        "sql",
        "bigquery",
    )


@needs_mariadb
@pytest.mark.parametrize("end", [" ", "\t", "\n", "\v", "\f", "\r", "\x08", "\x1f", "\u00a0"])
def test_names_that_end_with_whitespace_are_refused_where_mariadb_refuses_them(
    end: str, database: Any
) -> None:
    name = f"x{end}"
    try:
        database.cursor().execute(f"CREATE OR REPLACE TABLE ends (`{name}` DOUBLE)")
    except pymysql.err.MySQLError:
        is_taken = False
    else:
        is_taken = True
    assert (dialect_called("mysql").names.fullmatch(name) is not None) == is_taken


@pytest.mark.parametrize("dialect", DIALECTS)
def test_text_with_nul_is_refused(dialect: str) -> None:
    with pytest.raises(UserError, match="without the character NUL"):
        export(_rule_of_category("a\0b"), "sql", dialect)


def test_an_unknown_dialect_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UserError, match="expected one of ansi, mysql, bigquery, snowflake, found"):
        export(_example(), "sql", "oracle")
    with pytest.raises(UserError, match="expected it with the format sql, found it with python"):
        export(_example(), "python", "mysql")


def test_the_command_writes_the_dialect_that_it_is_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(tmp_path / "model.json", _example())
    for dialect in DIALECTS:
        assert run_command("export", str(tmp_path), "--to", "sql", "--dialect", dialect) == 0
        assert capsys.readouterr().out.rstrip("\n") == export(_example(), "sql", dialect)
    with pytest.raises(UserError, match="expected it with the format sql"):
        run_command("export", str(tmp_path), "--to", "excel", "--dialect", "mysql")


def _rule_of_category(category: str, categories: Sequence[str] = ()) -> Model:
    source = ColumnSchema("x", KindName.CATEGORICAL, tuple(categories) or (category, "other"))
    return make_model(Atom(Proposition(f"x_{category}")), [source])


def _unescaped(literal: str) -> str:
    """sqlglot keeps escapes of characters by their number."""
    return re.sub(r"\\u([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), literal)
