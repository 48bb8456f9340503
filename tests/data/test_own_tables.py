"""A table of one's own is read as it is meant, whatever its dialect."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow
import pytest

from fsm_hpc.data.dataset import Dataset
from tests.support.tables import own_table

PLAIN = "age,job,smokes,y\n30,cook,no,yes\n41,nurse,yes,no\n52,cook,yes,yes\n33,vet,no,no\n"


def _kinds(table: Dataset) -> dict[str, str]:
    return {name: kind.value for name, kind in table.kinds}


PLAIN_KINDS = {"age": "numeric", "job": "categorical", "smokes": "boolean"}


def test_kinds_are_inferred_and_told(tmp_path: Path) -> None:
    table = own_table(tmp_path, PLAIN)
    assert _kinds(table) == PLAIN_KINDS
    assert {"numeric: age", "boolean: smokes", "categorical: job"} <= set(table.notes)
    assert "target: y is true where it is yes, false where no" in table.notes
    assert (table.positive, table.negative) == ("yes", "no")
    assert [c.name for c in table.columns] == ["age", "job_cook", "job_nurse", "job_vet", "smokes"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"categorical": ("age",)}, {**PLAIN_KINDS, "age": "categorical"}),
        ({"categorical": ("smokes",)}, {**PLAIN_KINDS, "smokes": "categorical"}),
        ({"drop": ("job",)}, {"age": "numeric", "smokes": "boolean"}),
    ],
)
def test_an_inferred_kind_can_be_overridden(
    tmp_path: Path, changes: dict[str, Any], expected: dict[str, str]
) -> None:
    assert _kinds(own_table(tmp_path, PLAIN, **changes)) == expected


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\xef\xbb\xbf" + PLAIN.encode(), id="byte order mark"),
        pytest.param(PLAIN.encode("utf-16"), id="utf-16"),
        pytest.param(PLAIN.replace(",", ";").encode(), id="semicolons"),
        pytest.param(PLAIN.replace(",", "\t").encode(), id="tabs"),
        pytest.param(PLAIN.replace(",", "|").encode(), id="pipes"),
        pytest.param(PLAIN.replace(",", "   ").encode(), id="blanks"),
        pytest.param(PLAIN.replace(",", " , ").encode(), id="blanks around cells"),
        pytest.param(PLAIN.replace("\n", "\r\n").encode(), id="CRLF"),
        pytest.param(PLAIN.replace("\n", "\r").encode(), id="CR"),
        pytest.param(PLAIN.replace("\n", "\n\n").encode(), id="empty lines"),
        pytest.param(PLAIN.replace("cook", '"cook"').encode(), id="quotes"),
        pytest.param(b"sep=;\n" + PLAIN.replace(",", ";").encode(), id="sep line of Excel"),
        pytest.param(PLAIN.rstrip().encode(), id="no last newline"),
        pytest.param(gzip.compress(PLAIN.encode()), id="gzip"),
        pytest.param(bz2.compress(PLAIN.encode()), id="bzip2"),
        pytest.param(lzma.compress(PLAIN.encode()), id="xz"),
        pytest.param(pyarrow.compress(PLAIN.encode(), codec="zstd", asbytes=True), id="zstandard"),
    ],
)
def test_the_same_table_is_read_whatever_its_dialect(tmp_path: Path, content: bytes) -> None:
    assert own_table(tmp_path, content).digest == own_table(tmp_path, PLAIN).digest


def test_a_table_in_a_zip_archive_is_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "my.zip", "w") as archive:
        archive.writestr("folder/my.csv", PLAIN)
    packed = (tmp_path / "my.zip").read_bytes()
    assert own_table(tmp_path, packed).digest == own_table(tmp_path, PLAIN).digest


@pytest.mark.parametrize("compression", [None, "snappy", "zstd"])
def test_parquet_gives_the_same_table_as_csv(
    tmp_path: Path, compression: Literal["snappy", "zstd"] | None
) -> None:
    frame = pd.DataFrame(
        {
            "age": [30, 41, 52, 33],
            "job": pd.Categorical(["cook", "nurse", "cook", "vet"]),
            "smokes": [False, True, True, False],
            "y": ["yes", "no", "yes", "no"],
        },
        index=[7, 3, 5, 1],
    )
    frame.to_parquet(tmp_path / "my.parquet", compression=compression)
    packed = (tmp_path / "my.parquet").read_bytes()
    assert own_table(tmp_path, packed, file="my.pq").digest == own_table(tmp_path, PLAIN).digest
    assert own_table(tmp_path, gzip.compress(packed)).digest == own_table(tmp_path, PLAIN).digest


def test_floats_of_parquet_keep_their_shortest_value(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": np.array([0.1, 2.5], dtype=np.float32), "y": [0, 1]})
    frame.to_parquet(tmp_path / "in.parquet")
    table = own_table(tmp_path, (tmp_path / "in.parquet").read_bytes())
    assert table.columns[0].values.tolist() == [0.1, 2.5]


def _values(table: Dataset, name: str) -> list[Any]:
    return list(next(c.values for c in table.columns if c.name == name).tolist())


@pytest.mark.parametrize(
    ("cells", "changes", "expected"),
    [
        (("1", "-2"), {}, [1, -2]),
        (("1.5", "2e3"), {}, [1.5, 2000.0]),
        (("1,5", "2"), {}, [1.5, 2.0]),
        (("1.234,5", "2"), {}, [1234.5, 2.0]),
        (("1,234.5", "2"), {}, [1234.5, 2.0]),
        (("1,234", "2"), {"decimal": "comma"}, [1.234, 2.0]),
        (("1,234", "2"), {"decimal": "point"}, [1234, 2]),
        (("\u22125", "5"), {}, [-5, 5]),
        (("12345678901234567890", "1"), {}, [12345678901234567890.0, 1.0]),
    ],
)
def test_numbers_are_read_as_they_are_meant(
    tmp_path: Path, cells: tuple[str, str], changes: dict[str, Any], expected: list[float]
) -> None:
    text = f"x;y\n{cells[0]};a\n{cells[1]};b\n"
    assert _values(own_table(tmp_path, text, **changes), "x") == expected


def test_codes_with_leading_zeros_are_categories(tmp_path: Path) -> None:
    table = own_table(tmp_path, "zip,y\n01234,a\n21234,b\n01234,b\n")
    assert [c.name for c in table.columns] == ["zip_01234", "zip_21234"]


def test_quoted_cells_may_hold_separators_quotes_and_line_ends(tmp_path: Path) -> None:
    table = own_table(tmp_path, 'x,y\n"a, ""b""\nc",1\nd,0\n')
    assert table.columns[0].category == 'a, "b"\nc'


def test_text_that_is_not_utf8_is_read_and_told(tmp_path: Path) -> None:
    table = own_table(tmp_path, "city,y\nKöln,1\nBonn,0\n".encode("cp1252"))
    assert "city_Köln" in {c.name for c in table.columns}
    assert any("Windows-1252" in note for note in table.notes)


def test_rows_with_missing_values_are_dropped_and_counted(tmp_path: Path) -> None:
    text = "x,z,y\n1,2,a\n,3,b\n3,?,a\n4,5,NA\n6,7,b\n"
    table = own_table(tmp_path, text)
    assert (table.rows, table.dropped_rows) == (2, 3)
    assert "3 rows with missing values dropped (x 1, z 1, y 1)" in table.notes


def test_missing_values_in_a_dropped_column_cost_no_row(tmp_path: Path) -> None:
    assert own_table(tmp_path, "x,z,y\n1,,a\n2,,b\n", drop=("z",)).rows == 2


def test_a_column_that_is_unique_is_flagged(tmp_path: Path) -> None:
    rows = "".join(f"{1000 + i},{i % 3},{i % 2}\n" for i in range(20))
    table = own_table(tmp_path, "patient,x,y\n" + rows)
    assert [n for n in table.notes if n.startswith("patient has another value in every row")]


def test_a_constant_column_is_flagged(tmp_path: Path) -> None:
    table = own_table(tmp_path, "x,z,y\n1,k,a\n2,k,b\n")
    assert any(note.startswith("z is constant (k)") for note in table.notes)


def test_spellings_that_differ_only_in_case_are_flagged(tmp_path: Path) -> None:
    table = own_table(tmp_path, "z,y\nRed,1\nred,0\n")
    assert any("Red and red count as different" in note for note in table.notes)


@pytest.mark.parametrize(
    ("values", "changes", "positive"),
    [
        (("0", "1"), {}, "1"),
        (("yes", "no"), {}, "yes"),
        (("good", "bad"), {}, "good"),
        (("1", "2"), {}, "1"),
        (("1", "2"), {"positive": "2"}, "2"),
        (("1.0", "0.0"), {"positive": "1"}, "1.0"),
        (("True", "False"), {"positive": "true"}, "True"),
        (("good", "bad"), {"positive": "bad"}, "bad"),
        (("good", "bad"), {"negative": "good"}, "bad"),
    ],
)
def test_the_positive_value_is_chosen_sensibly_or_as_told(
    tmp_path: Path, values: tuple[str, str], changes: dict[str, Any], positive: str
) -> None:
    table = own_table(tmp_path, f"x,y\n1,{values[0]}\n2,{values[1]}\n", **changes)
    assert table.positive == positive
    assert table.labels.sum() == 1


def test_one_value_can_be_set_against_the_rest(tmp_path: Path) -> None:
    table = own_table(tmp_path, "x,y\n1,a\n2,b\n3,c\n", positive="b", negative="rest")
    assert table.labels.tolist() == [False, True, False]
    assert table.negative == "not b"


def test_a_column_without_a_name_gets_one_and_is_told(tmp_path: Path) -> None:
    table = own_table(tmp_path, ",x,y\n0,5,a\n1,6,b\n")
    assert [c.name for c in table.columns] == ["column_1", "x"]
    assert "columns without a name are called column_1" in table.notes


def test_spellings_of_yes_and_no_are_one_boolean_column(tmp_path: Path) -> None:
    table = own_table(tmp_path, "x,y\nYes,a\nno,b\nYES,a\nyes,b\nNo,a\n")
    assert _values(table, "x") == [True, False, True, True, False]


def test_true_values_say_which_of_two_values_is_true(tmp_path: Path) -> None:
    text = "sex,y\n1,a\n2,b\n2,a\n"
    table = own_table(tmp_path, text, boolean=("sex",), true_values=("2",))
    assert _values(table, "sex") == [False, True, True]
