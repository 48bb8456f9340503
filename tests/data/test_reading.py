"""A regular file is read by columns and any other record by record, with the same result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsm_hpc.data import csv_file
from fsm_hpc.data.errors import ErrorCollector
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError
from tests.support.tables import own_table, spec_of

INFERRED = DatasetSpec("csv", "y", infer=True)
CELLS = st.sampled_from(
    ["1", "", " a ", "b", '"q"', '"a,b"', '"x\ny"', '"say ""no"""', "NA", "é", "1.5", '"', "a\tb"]
)


def _listed(table: Any) -> tuple[list[str], list[list[str]]]:
    columns = table.columns
    cells = [c.spread(np.array(c.texts, dtype=object), None).tolist() for c in columns]
    return table.header, cells


@given(
    rows=st.lists(st.lists(CELLS, min_size=2, max_size=3), min_size=1, max_size=6),
    line_end=st.sampled_from(["\n", "\r\n", "\r", "\n\n"]),
    separator=st.sampled_from(",;\t|"),
)
@settings(max_examples=400, deadline=None)
def test_both_ways_of_reading_agree(rows: list[list[str]], line_end: str, separator: str) -> None:
    lines = [separator.join(cell.replace(",", separator) for cell in row) for row in rows]
    text = line_end.join([separator.join("xyz"[: len(rows[0])]), *lines]) + line_end
    regular = csv_file._regular(text.encode(), separator, INFERRED)
    errors = ErrorCollector(Path("my.csv"))
    if regular is None:
        return
    assert _listed(regular) == _listed(csv_file._records(text, separator, Path("my.csv"), errors))
    assert errors.all == ()


def _long_decimals(count: int) -> list[str]:
    return [repr(value) for value in np.random.default_rng(0).normal(size=count).tolist()]


def test_long_decimals_are_read_as_python_reads_them(tmp_path: Path) -> None:
    cells = ["", *_long_decimals(300)]
    text = "x,y\n" + "".join(f"{cell},{at % 2}\n" for at, cell in enumerate(cells))
    table = own_table(tmp_path, text)
    assert table.columns[0].values.tolist() == [float(cell) for cell in cells[1:]]
    assert table.dropped_rows == 1


@pytest.mark.parametrize("count", [300, 3000])  # with and without a search for equal texts
def test_decimals_that_hardly_repeat_are_numbers_or_categories_as_others_are(
    count: int, tmp_path: Path
) -> None:
    cells = ["", "0.5", "0.5", *_long_decimals(count)]
    text = "x,y\n" + "".join(f"{cell},{at % 2}\n" for at, cell in enumerate(cells))
    path = Path("my.csv")
    table = csv_file._regular(text.encode(), ",", INFERRED)
    assert table is not None
    assert _listed(table) == _listed(csv_file._records(text, ",", path, ErrorCollector(path)))
    numbers = own_table(tmp_path, text)
    assert numbers.columns[0].values.tolist() == [float(cell) for cell in cells[1:]]
    listed = own_table(tmp_path, text, categorical=("x",), max_categories=count + 1)
    assert len(listed.columns) == count + 1


@pytest.mark.parametrize("count", [300, 3000])
def test_decimals_that_a_float_does_not_tell_apart_are_an_error(count: int, tmp_path: Path) -> None:
    cells = [*_long_decimals(count), "0.30000000000000001", "0.3000000000000000055"]
    text = "x,y\n" + "".join(f"{cell},{at % 2}\n" for at, cell in enumerate(cells))
    with pytest.raises(UserError, match=f"'0.30000000000000001' in row {count + 1} and"):
        own_table(tmp_path, text)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("unknown", "expected numbers, found 'unknown' in row 301"),
        ("inf", "expected finite numbers, found 'inf' in row 301"),
        ("9007199254740993", "found '9007199254740993' in row 301"),
        ("3,5", "expected one decimal sign in the whole file"),
    ],
)
def test_one_wrong_cell_among_long_decimals_is_found(
    cell: str, message: str, tmp_path: Path
) -> None:
    cells = [*_long_decimals(300), cell]
    text = "x;y\n" + "".join(f"{cell};{at % 2}\n" for at, cell in enumerate(cells))
    with pytest.raises(UserError, match=message):
        own_table(tmp_path, text)


def test_long_decimals_that_a_float_does_not_tell_apart_are_found(tmp_path: Path) -> None:
    cells = [*_long_decimals(300), "0.12345678901234567891", "0.12345678901234567892"]
    text = "x,y\n" + "".join(f"{cell},{at % 2}\n" for at, cell in enumerate(cells))
    with pytest.raises(UserError, match="that a 64-bit float tells apart"):
        own_table(tmp_path, text)


def test_long_decimals_follow_the_settings(tmp_path: Path) -> None:
    text = "x;y\n" + "".join(f"{cell};{at % 2}\n" for at, cell in enumerate(_long_decimals(300)))
    with pytest.raises(UserError, match="expected numbers with a decimal comma"):
        own_table(tmp_path, text, decimal="comma")
    with pytest.raises(UserError, match="expected at most 100 categories, found 300"):
        own_table(tmp_path, text, categorical=("x",))


def test_the_separator_of_a_spec_is_followed() -> None:
    spec = spec_of("csv", "dataset.separator=semicolon")
    table = csv_file.read(b"a;b\n1,5;2\n", Path("my.csv"), spec, ErrorCollector(Path("x")))
    assert table.header == ["a", "b"]
