"""A table of one's own is read as it is meant, whatever its dialect."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import zipfile
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsm_hpc.data import reader
from fsm_hpc.data.dataset import Dataset, from_table, load
from fsm_hpc.errors import UserError
from fsm_hpc.study.building import build
from fsm_hpc.study.compose import compose
from fsm_hpc.study.config import Config
from tests.support.tables import NAMES, own_table, spec_of

PLAIN = "age,job,smokes,y\n30,cook,no,yes\n41,nurse,yes,no\n52,cook,yes,yes\n33,vet,no,no\n"


def _kinds(table: Dataset) -> dict[str, str]:
    return {schema.name: schema.kind.value for schema in table.schemas}


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


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_floats_of_parquet_keep_their_exact_value(tmp_path: Path, kind: Any) -> None:
    frame = pd.DataFrame({"x": np.array([0.1, 2.5], dtype=kind), "y": [0, 1]})
    frame.to_parquet(tmp_path / "in.parquet")
    table = own_table(tmp_path, (tmp_path / "in.parquet").read_bytes())
    assert table.columns[0].values.tolist() == [float(kind(0.1)), 2.5]


def _parquet_table(tmp_path: Path, columns: dict[str, Any], **changes: Any) -> Dataset:
    pd.DataFrame(columns).to_parquet(tmp_path / "in.parquet")
    return own_table(tmp_path, (tmp_path / "in.parquet").read_bytes(), **changes)


def test_in_parquet_only_nulls_are_missing_and_texts_are_what_they_are(tmp_path: Path) -> None:
    texts = ["NA", "", " a", "a", "?", "null", None]
    table = _parquet_table(tmp_path, {"x": texts, "y": [0, 1, 0, 1, 0, 1, 1]})
    assert [c.category for c in table.columns] == ["", " a", "?", "NA", "a", "null"]
    assert table.dropped_rows == 1


def test_nan_in_a_column_of_numbers_of_parquet_is_missing(tmp_path: Path) -> None:
    column = pyarrow.array([1.0, float("nan"), None, 2.0], from_pandas=False)
    table = pyarrow.table({"x": column, "y": [0, 1, 0, 1]})
    pyarrow.parquet.write_table(table, tmp_path / "in.parquet")
    assert own_table(tmp_path, (tmp_path / "in.parquet").read_bytes()).dropped_rows == 2


def test_missing_values_that_the_user_sets_count_in_parquet_too(tmp_path: Path) -> None:
    columns = {"x": [1, -999, 3, 4], "z": ["a", "b", "unknown", "b"], "y": [0, 1, 0, 1]}
    table = _parquet_table(tmp_path, columns, missing_values=(-999, "unknown"))
    assert (table.rows, table.dropped_rows) == (2, 2)


def test_what_parquet_calls_categories_stays_categories(tmp_path: Path) -> None:
    columns = {"x": pd.Categorical([1, 2, 3]), "z": pd.Categorical(["yes", "no", "no"])}
    table = _parquet_table(tmp_path, {**columns, "y": [0, 1, 0]})
    assert _kinds(table) == {"x": "categorical", "z": "categorical"}


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_infinity_in_parquet_is_no_category(tmp_path: Path, kind: Any) -> None:
    values = np.array([np.inf, -np.inf, np.inf, 1.0], dtype=kind)
    with pytest.raises(UserError, match="column 'x': expected finite numbers, found 'inf' in row"):
        _parquet_table(tmp_path, {"x": values, "y": [0, 1, 0, 1]})


@pytest.mark.parametrize("word", ["inf", "-inf", "Infinity", "-∞"])
def test_infinity_in_csv_is_no_category(tmp_path: Path, word: str) -> None:
    with pytest.raises(UserError, match="expected finite numbers, found"):
        own_table(tmp_path, f"x,y\n{word},0\n{word},1\n{word},1\n1,0\n")


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
        (("18446744073709551616", "1"), {}, [2.0**64, 1.0]),
        (("9007199254740992", "-9007199254740994"), {}, [2**53, -(2**53) - 2]),
        (("0.1", "0.10"), {}, [0.1, 0.1]),
        (("0.12345678901234567890123", "1"), {}, [0.12345678901234568, 1.0]),
        (("0.123", "1.234"), {}, [0.123, 1.234]),
        (("0,123", "1,234"), {}, [0.123, 1.234]),
        (("1.234", "12.5"), {}, [1.234, 12.5]),
        (("1.234", "1.234.567"), {}, [1234, 1234567]),
        (("1,234", "1,234,567"), {}, [1234, 1234567]),
        (("1.234", "1234.567"), {}, [1.234, 1234.567]),
        (("1.234", "1.234e5"), {}, [1.234, 123400.0]),
        (("1,234", "1,234e5"), {}, [1.234, 123400.0]),
        (("1.234", "-,5"), {}, [1234.0, -0.5]),
        (("1.234", "950"), {"decimal": "point"}, [1.234, 950.0]),
        (("1.234", "950"), {"decimal": "comma"}, [1234, 950]),
    ],
)
def test_numbers_are_read_as_they_are_meant(
    tmp_path: Path, cells: tuple[str, str], changes: dict[str, Any], expected: list[float]
) -> None:
    text = f"x;y\n{cells[0]};a\n{cells[1]};b\n"
    assert _values(own_table(tmp_path, text, **changes), "x") == expected


THREE_DIGITS = ("950", "1.234", "12.500")


@pytest.mark.parametrize(
    ("other", "changes", "expected"),
    [
        (("3,5", "4", "1"), {}, [950, 1234, 12500]),
        (("3.5", "4", "1"), {}, [950.0, 1.234, 12.5]),
        (("0.123", "1.234", "1"), {}, [950.0, 1.234, 12.5]),
        (("3,5", "4", "1"), {"drop": ("z",)}, [950, 1234, 12500]),
        (("3.5", "4", "1"), {"drop": ("z",)}, [950.0, 1.234, 12.5]),
        (("1.0", "0.0", "0.0"), {}, [950.0, 1.234, 12.5]),
        (("3,5", "4", "1"), {"decimal": "point", "drop": ("z",)}, [950.0, 1.234, 12.5]),
        (("1,2", "1,3", "2,3"), {"decimal": "point", "categorical": ("z",)}, [950.0, 1.234, 12.5]),
    ],
)
def test_one_column_tells_how_the_numbers_of_the_whole_file_are_written(
    tmp_path: Path, other: tuple[str, ...], changes: dict[str, Any], expected: list[float]
) -> None:
    rows = [f"{x};{z};{y}\n" for x, z, y in zip(THREE_DIGITS, other, "aba", strict=True)]
    table = own_table(tmp_path, "x;z;y\n" + "".join(rows), **changes)
    assert _values(table, "x") == expected


def test_a_column_of_codes_does_not_tell_how_numbers_are_written(tmp_path: Path) -> None:
    text = "x;z;y\n1.234;1.5;a\n2.345;2.5;b\n"
    with pytest.raises(UserError, match=r"column 'x': '1\.234' can be read as"):
        own_table(tmp_path, text, categorical=("z",))


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_columns_with_decimals_of_three_digits_are_read_where_one_has_other_ones(
    tmp_path: Path, separator: str
) -> None:
    table = own_table(tmp_path, "x,z,y\n1.234,0.5,a\n5.678,7,b\n".replace(",", separator))
    assert (_values(table, "x"), _values(table, "z")) == ([1.234, 5.678], [0.5, 7.0])


@pytest.mark.parametrize(
    "text",
    [
        "x,z,y\n1.234,5,a\n5.678,7,b\n",
        'x,z,y\n1.234,"5",a\n5.678,"7",b\n',
        'x,z,y\n1.234,"so, so",a\n5.678,well,b\n',
        '"x",z,"y"\n1.234,"",a\n5.678,7,"b"\n5.678,7,"a"\n1.234,7,"a"\n',
    ],
)
def test_between_commas_an_unquoted_point_is_a_decimal_point(tmp_path: Path, text: str) -> None:
    table = own_table(tmp_path, text)
    assert set(_values(table, "x")) == {1.234, 5.678}


def test_a_quoted_decimal_comma_tells_what_a_point_between_commas_is(tmp_path: Path) -> None:
    table = own_table(tmp_path, 'x,z,y\n1.234,"3,5",a\n950,4,b\n')
    assert (_values(table, "x"), _values(table, "z")) == ([1234, 950], [3.5, 4.0])
    assert "numbers are read with decimal commas: 1.234,5 is 1234.5" in table.notes


@pytest.mark.parametrize("decimal", ["auto", "point", "comma"])
def test_numbers_of_parquet_are_numbers_and_its_texts_are_none(
    tmp_path: Path, decimal: str
) -> None:
    columns = {"x": [1.234, 5.678], "z": ["3,5", "1.234"], "": [1.234, 5.678], "y": [0, 1]}
    table = _parquet_table(tmp_path, columns, decimal=decimal)
    assert _values(table, "x") == _values(table, "column_3") == [1.234, 5.678]
    assert [c.name for c in table.columns if c.source == "z"] == ["z_1.234", "z_3,5"]


def _written(value: Decimal, sign: str, with_groups: bool) -> str:
    text = f"{value:,f}" if with_groups else f"{value:f}"
    return text if sign == "." else text.translate(str.maketrans(",.", ".,"))


@given(
    columns=st.lists(
        st.tuples(
            st.lists(st.integers(-(10**8), 10**8), min_size=2, max_size=4),
            st.integers(0, 4),
            st.booleans(),
        ),
        min_size=1,
        max_size=3,
    ),
    sign=st.sampled_from(".,"),
    separator=st.sampled_from(";\t|"),
)
@settings(max_examples=300, deadline=None)
def test_numbers_are_read_as_they_were_written_or_refused(
    columns: list[tuple[list[int], int, bool]], sign: str, separator: str
) -> None:
    """Each column with its own decimals and groups; the decimal sign is one for the file."""
    rows = min(len(values) for values, _, _ in columns)
    expected = {
        f"x{at}": [Decimal(value).scaleb(-digits) for value in values[:rows]]
        for at, (values, digits, _) in enumerate(columns)
    }
    cells = [
        [_written(number, sign, with_groups) for number in numbers]
        for numbers, (_, _, with_groups) in zip(expected.values(), columns, strict=True)
    ]
    lines = [separator.join(line) for line in zip(*cells, "abab"[:rows], strict=True)]
    content = "\n".join([separator.join([*expected, "y"]), *lines]).encode()
    spec = replace(spec_of("csv"), target="y", numeric=tuple(expected), separator="auto")
    try:
        table = from_table(reader.read(content, Path("my.csv"), spec), spec)
    except UserError as error:
        assert "can be read as" in str(error)  # noqa: PT017
        signs = [cell for column in cells for cell in column if not cell.lstrip("-").isdecimal()]
        assert all(re.fullmatch(r"-?[1-9]\d{0,2}[.,]\d{3}", cell) for cell in signs)
        return
    for name, numbers in expected.items():
        assert _values(table, name) == [float(number) for number in numbers]


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
    assert table.notes[5].startswith("warning: 60 % of the rows (3 of 5) are dropped")


def _with_gaps(rows: int, **gaps: int) -> str:
    """Columns x, z, w and y; the first so many rows of a column are missing."""
    header, lines = ("x", "z", "w", "y"), []
    for row in range(rows):
        cells = [str(row), str(row % 7), str(row % 5), "ab"[row % 2]]
        columns = zip(header, cells, strict=True)
        lines.append(",".join("" if row < gaps.get(name, 0) else cell for name, cell in columns))
    return "\n".join([",".join(header), *lines])


def _losses(table: Dataset) -> list[str]:
    return [note for note in table.notes if "missing values" in note]


def test_many_lost_rows_are_a_warning_that_names_the_columns_worst_first(tmp_path: Path) -> None:
    assert _losses(own_table(tmp_path, _with_gaps(1000, x=60, z=350))) == [
        "warning: 35 % of the rows (350 of 1000) are dropped for missing values: z 350, x 60; "
        "leave such a column out with dataset.drop=[z]"
    ]


def test_a_fifth_of_the_rows_is_no_warning_yet(tmp_path: Path) -> None:
    few = own_table(tmp_path, _with_gaps(100, x=5, z=20))
    assert _losses(few) == ["20 rows with missing values dropped (z 20, x 5)"]
    assert _losses(own_table(tmp_path, _with_gaps(100, z=21)))[0].startswith("warning: 21 %")
    assert _losses(own_table(tmp_path, _with_gaps(100))) == []


def test_the_target_is_not_proposed_to_be_left_out(tmp_path: Path) -> None:
    (alone,) = _losses(own_table(tmp_path, _with_gaps(10, y=5)))
    assert alone.endswith("y 5")
    (both,) = _losses(own_table(tmp_path, _with_gaps(10, x=2, y=5)))
    assert both.endswith("y 5, x 2; leave such a column out with dataset.drop=[x]")


def test_a_column_whose_kind_is_listed_has_to_move_to_be_left_out(tmp_path: Path) -> None:
    (told,) = _losses(own_table(tmp_path, _with_gaps(10, x=5), numeric=("x",)))
    assert told.endswith("leave such a column out with dataset.drop instead of listing its kind")


def test_of_many_columns_with_gaps_ten_are_named(tmp_path: Path) -> None:
    names = [f"c{number}" for number in range(13)]
    gap, full = "," * 12, ",".join(map(str, range(13)))
    text = "\n".join([",".join([*names, "y"]), f"{gap},a", f"{full},a", f"{full},b"])
    (told,) = _losses(own_table(tmp_path, text))
    assert "c9 1 and 3 others; leave" in told


def test_more_missing_values_leave_the_usual_ones_as_they_are(tmp_path: Path) -> None:
    text = "x,z,y\n1,2,a\n-999,3,b\n3,?,a\n4,NA,b\n6,7,b\n"
    spec = spec_of("csv", "dataset.missing_values=[-999]")
    assert {"-999", "?", "NA", "NaN", "null"} <= set(spec.missing_values)
    path = tmp_path / "my.csv"
    path.write_text(text)
    assert _values(load(replace(spec, path=str(path), target="y"), None), "x") == [1, 6]
    assert own_table(tmp_path, text, missing_values=("-999",)).rows == 2
    assert own_table(tmp_path, text, missing_values=(-999,)).rows == 2


def test_the_usual_missing_values_can_be_given_up(tmp_path: Path) -> None:
    spec = spec_of("csv", "dataset.usual_missing_values=[]", "dataset.missing_values=[x]")
    assert spec.missing_values == ("x",)
    path = tmp_path / "my.csv"
    path.write_text("country,y\nNA,a\nSA,b\nx,b\n")
    assert load(replace(spec, path=str(path), target="y"), None).rows == 2


def test_a_config_written_down_has_the_same_missing_values_when_read_again() -> None:
    config = compose(["dataset=csv", "method=pivot", "dataset.missing_values=[-999]"])
    assert build(Config, config.to_dict()) == config


def test_the_papers_tables_have_no_missing_values_but_those_they_list() -> None:
    listed = {name: spec_of(name).missing_values for name in NAMES}
    assert {name: words for name, words in listed.items() if words} == {
        "breast_cancer": ("?",),
        "hepatitis": ("?",),
    }


@pytest.mark.parametrize("cell", ["-999", "-999.0", "-9.99e2", "\u2212999"])
def test_a_missing_value_that_is_a_number_is_found_however_it_is_written(
    tmp_path: Path, cell: str
) -> None:
    text = f"x;z;y\n1;0.5;a\n{cell};0.5;b\n3;0.5;b\n"
    assert _values(own_table(tmp_path, text, missing_values=("-999",)), "x") == [1, 3]


def test_missing_numbers_and_zeros_follow_the_decimal_sign_of_the_file(tmp_path: Path) -> None:
    text = "x;z;y\n-999,00;1,5;a\n-999.000;2,5;b\n7;0,0;b\n8;1,5;a\n"
    table = own_table(tmp_path, text, missing_values=("-999",), zero_is_missing=("z",))
    assert _values(table, "x") == [-999000, 8]


def test_codes_and_categories_are_missing_by_their_text_only(tmp_path: Path) -> None:
    text = "zip,k,y\n0099,9.0,a\n1234,9,b\n0123,9.0,b\n"
    table = own_table(tmp_path, text, categorical=("k",), missing_values=("99", "9"))
    assert [c.name for c in table.columns] == ["zip_0099", "zip_0123", "k_9.0"]


def test_missing_values_in_a_dropped_column_cost_no_row(tmp_path: Path) -> None:
    assert own_table(tmp_path, "x,z,y\n1,,a\n2,,b\n", drop=("z",)).rows == 2


def test_a_column_that_is_unique_is_flagged(tmp_path: Path) -> None:
    rows = "".join(f"{1000 + i},{i % 3},{i % 2}\n" for i in range(20))
    table = own_table(tmp_path, "patient,x,y\n" + rows)
    assert [n for n in table.notes if n.startswith("patient has another value in every row")]


def test_a_constant_column_is_flagged(tmp_path: Path) -> None:
    table = own_table(tmp_path, "x,z,y\n1,k,a\n2,k,b\n")
    assert any(note.startswith("z is constant (k)") for note in table.notes)


def test_numbers_with_a_unit_are_not_taken_for_categories_in_silence(tmp_path: Path) -> None:
    rows = "".join(f"{i} %,{'ab'[i % 2]},{i % 2}\n" for i in range(20))
    table = own_table(tmp_path, "rate,z,y\n" + rows)
    (told,) = [note for note in table.notes if note.startswith("warning: rate counts as 20")]
    assert "remove the unit" in told


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


@pytest.mark.parametrize(
    ("true", "false"),
    [
        *(("ja", "nein"), ("Ja", "Nein"), ("oui", "non"), ("si", "no"), ("sí", "no"), ("SÌ", "NO")),
        *(("sim", "não"), ("да", "нет"), ("tak", "nie"), ("はい", "いいえ"), ("yes", "no")),
        *(("wahr", "falsch"), ("vrai", "faux"), ("ano", "ne"), ("si\u0301", "no")),
    ],
)
def test_words_for_yes_and_no_are_known_in_other_languages(
    tmp_path: Path, true: str, false: str
) -> None:
    lines = f"{true},{true}\n{true},{true}\n{false},{false}\n"
    table = own_table(tmp_path, f"x,y\n{lines}", encoding="utf-8")
    assert _kinds(table) == {"x": "boolean"}
    assert (table.positive, table.negative) == (true, false)
    assert table.labels.tolist() == _values(table, "x") == [True, True, False]


@pytest.mark.parametrize(
    ("classes", "positive"),
    [
        (["stays", "stays", "churns"], "churns"),
        (["a", "b", "b"], "a"),
        (["a", "a", "b", "b"], "b"),
        (["yes", "yes", "no"], "yes"),
        (["True", "True", "False"], "True"),
        (["1", "1", "0"], "1"),
        (["2", "1", "1"], "1"),
        (["3", "3", "2"], "3"),
        (["f", "m", "m"], "f"),
    ],
)
def test_of_two_texts_the_rarer_class_is_positive(
    tmp_path: Path, classes: list[str], positive: str
) -> None:
    lines = "".join(f"{at},{name}\n" for at, name in enumerate(classes))
    assert own_table(tmp_path, f"x,y\n{lines}").positive == positive


def test_the_choice_of_the_positive_class_is_the_first_note(tmp_path: Path) -> None:
    text = "x,y\n1,stays\n2,stays\nNA,stays\n4,to churn\n"
    first, *_ = own_table(tmp_path, text).notes
    assert first == (
        "target: y is true where it is to churn (the rarer class, 1 of 3 rows), false where stays; "
        "to swap them set dataset.positive=stays"
    )
    chosen = own_table(tmp_path, text, positive="stays").notes[0]
    assert chosen == "target: y is true where it is stays, false where to churn"


def test_texts_that_are_read_as_missing_are_named_with_column_and_count(tmp_path: Path) -> None:
    text = "x,z,y\n1,NA,0\n?,NA,1\n3,a,1\n-999,n/a,0\n5,b,0\n,c,1\n"
    notes = own_table(tmp_path, text, missing_values=("-999",)).notes
    assert (
        "read as missing: '?' in x (1), '-999' in x (1), 'NA' in z (2), 'n/a' in z (1); "
        "if these are values, set dataset.usual_missing_values=[]"
    ) in notes


def test_without_such_texts_nothing_is_said_of_them(tmp_path: Path) -> None:
    assert not [n for n in own_table(tmp_path, "x,y\n1,0\n,1\n2,1\n").notes if "read as" in n]


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
