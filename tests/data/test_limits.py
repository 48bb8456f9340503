"""A table that would fill the memory, or that no rule could show, is refused in one message."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from fsm_hpc.data import limits, reader, store
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError

SPEC = DatasetSpec(name="mine", target="y")


def zipped(content: bytes) -> bytes:
    with io.BytesIO() as stream:
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("table.csv", content)
        return stream.getvalue()


def zstandard(content: bytes) -> bytes:
    return bytes(pyarrow.compress(content, "zstd", asbytes=True))


FORMATS = [gzip.compress, bz2.compress, lzma.compress, zipped, zstandard]


@pytest.mark.parametrize("compress", FORMATS, ids=lambda one: one.__name__)
def test_a_small_file_that_decompresses_to_a_huge_one_is_refused_before_it_fills_the_memory(
    compress: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_BYTES", 2**22)
    file = tmp_path / "bomb.csv"
    file.write_bytes(compress(b"a,y\n" + b"0" * 2**26))
    tracemalloc.start()
    with pytest.raises(UserError, match="at most 4,194,304 bytes once decompressed, found more"):
        store.read_bytes(file)
    assert tracemalloc.get_traced_memory()[1] < 2**25
    tracemalloc.stop()


@pytest.mark.parametrize("compress", FORMATS, ids=lambda one: one.__name__)
def test_a_table_of_the_largest_size_is_decompressed_whole(
    compress: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"a,y\n" + b"1,0\n" * 2**19
    monkeypatch.setattr(limits, "MOST_BYTES", len(content))
    file = tmp_path / "table.csv"
    file.write_bytes(compress(content))
    assert store.read_bytes(file) == content


def test_a_parquet_file_that_states_more_cells_than_fit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_CELLS", 1000)
    content = parquet({"a": [None] * 501, "y": [1] * 501})
    with pytest.raises(UserError, match="at most 1,000 cells, found 501 rows of 2 columns"):
        reader.read(content, tmp_path / "t.parquet", SPEC)


def parquet(columns: dict[str, list[object]]) -> bytes:
    with io.BytesIO() as stream:
        pyarrow.parquet.write_table(pyarrow.table(columns), stream)
        return stream.getvalue()


def test_one_long_text_in_every_row_of_parquet_is_refused_before_it_is_repeated(
    tmp_path: Path,
) -> None:
    text = pyarrow.array(["x" * (limits.MOST_CELL + 1)])
    column = pyarrow.DictionaryArray.from_arrays([0] * 100_000, text)  # 13 GB as plain texts
    with io.BytesIO() as stream:
        table = pyarrow.table({"a": column, "y": [1] * 100_000})
        pyarrow.parquet.write_table(table, stream, store_schema=False)
        content = stream.getvalue()
    with pytest.raises(UserError, match=r"at most 131,072 characters.* in column 'a'"):
        reader.read(content, tmp_path / "t.parquet", SPEC)


@pytest.mark.parametrize(
    ("cell", "value", "complaint"),
    [("XFD1048576", "1", "at most 20,000,000 cells"), ("A2", "x" * 131_073, "131,072 characters")],
    ids=["far out", "long"],
)
def test_a_stray_or_endless_cell_of_a_workbook_is_refused(
    cell: str, value: str, complaint: str, tmp_path: Path
) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["a", "y"])
    book.active[cell] = "placeholder"
    book.save(tmp_path / "plain.xlsx")
    with (
        zipfile.ZipFile(tmp_path / "plain.xlsx") as plain,
        zipfile.ZipFile(tmp_path / "t.xlsx", "w", zipfile.ZIP_DEFLATED) as hostile,
    ):
        for name in plain.namelist():  # openpyxl itself writes no cell that long
            hostile.writestr(name, plain.read(name).replace(b"placeholder", value.encode()))
    with pytest.raises(UserError, match=complaint):
        reader.read((tmp_path / "t.xlsx").read_bytes(), tmp_path / "t.xlsx", SPEC)


@pytest.mark.parametrize("noted", [b"[]", b"{", b"[" * 100_000, b'{"columns": [1]}'])
def test_what_pandas_is_said_to_have_noted_in_parquet_cannot_make_it_fall(
    noted: bytes, tmp_path: Path
) -> None:
    table = pyarrow.table({"a": ["u", "v"], "y": [0, 1]}).replace_schema_metadata({"pandas": noted})
    with io.BytesIO() as stream:
        pyarrow.parquet.write_table(table, stream)
        content = stream.getvalue()
    assert reader.read(content, tmp_path / "t.parquet", SPEC).rows == 2


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a,y\n" + "x" * 200_000 + ",1\n", "at most 131,072 characters, found .* in line 2"),
        ('a,y\n"' + "x\n" * 200_000, "close its quotes if they are open"),
        ("x" * 200_000 + ",y\n1,1\n", "at most 131,072 characters, found .* in line 1"),
        ("x" * 1001 + ",y\n1,1\n", "names of at most 1,000 characters, found 1,001 in 'xxx"),
        (",".join(f"c{n}" for n in range(100_001)), "at most 100,000 columns, found 100,001"),
    ],
    ids=["cell", "open quote", "header", "name", "columns"],
)
def test_what_no_rule_could_show_is_refused_in_a_short_message(
    text: str, complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=complaint) as caught:
        reader.read(text.encode(), tmp_path / "t.csv", SPEC)
    assert len(str(caught.value)) < 1000
