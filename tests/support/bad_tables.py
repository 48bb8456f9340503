"""Tables that cannot be learnt from, each with what its message has to say."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow
import pyarrow.parquet

GOOD = "age,job,y\n30,cook,yes\n41,vet,no\n52,cook,yes\n33,vet,no\n"


@dataclass(frozen=True, slots=True)
class BadTable:
    """A file, the settings it is used with, and words that the one-line message must have."""

    what: str
    content: bytes
    words: tuple[str, ...]
    overrides: tuple[str, ...] = ()
    target: str = "y"
    file: str = "bad.csv"


def bad(what: str, content: str | bytes, *words: str, **more: object) -> BadTable:
    packed = content.encode() if isinstance(content, str) else content
    overrides = more.pop("overrides", ())
    assert isinstance(overrides, tuple)
    target, file = str(more.pop("target", "y")), str(more.pop("file", "bad.csv"))
    return BadTable(what, packed, words, overrides, target, file)


def _column(cells: list[str]) -> str:
    """A good table but for its column x."""
    return "x;y\n" + "".join(f"{cell};{at % 2}\n" for at, cell in enumerate(cells))


def _zip(files: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


def _parquet(frame: pd.DataFrame) -> bytes:
    packed = io.BytesIO()
    frame.to_parquet(packed)
    return packed.getvalue()


def _arrow(**columns: Any) -> bytes:
    """A Parquet file; the column z is called x as well."""
    packed = io.BytesIO()
    names = ["x" if name == "z" else name for name in columns]
    arrays = [*map(pyarrow.array, columns.values()), pyarrow.array([0, 1])]
    table = pyarrow.Table.from_arrays(arrays, names=[*names, "y"])
    pyarrow.parquet.write_table(table, packed)
    return packed.getvalue()


def _moments(unit: str, zone: str) -> Any:
    return pyarrow.array([1, 2], pyarrow.timestamp(unit, tz=zone))


def _many(pattern: str, count: int = 150) -> list[str]:
    return [pattern.format(at) for at in range(count)]


NOT_TABLES = [
    bad("an empty file", b"", "header line", "empty file"),
    bad("only blanks", b" \n \n\t\n", "header line", "empty file"),
    bad("only a byte order mark", b"\xef\xbb\xbf", "header line", "empty file"),
    bad("only a header", "x,y\n", "expected rows below the header"),
    bad("a web page", "<!DOCTYPE html><html></html>", "expected CSV, Parquet or Excel", "HTML"),
    bad(
        "another web page",
        "<html><body>404</body></html>",
        "expected CSV, Parquet or Excel",
        "HTML",
    ),
    bad("XML", "<?xml version='1.0'?><a/>", "expected CSV, Parquet or Excel", "XML"),
    bad("JSON", '{"x": [1, 2]}', "expected CSV, Parquet or Excel", "JSON"),
    bad("JSON records", '[{"x": 1}]', "expected CSV, Parquet or Excel", "JSON"),
    bad("a PDF", b"%PDF-1.7 ...", "expected CSV, Parquet or Excel", "PDF"),
    bad("ARFF", "@relation weather\n@data\n", "expected CSV, Parquet or Excel", "ARFF"),
    bad("a database", b"SQLite format 3\0...", "expected CSV, Parquet or Excel", "SQLite"),
    bad("a pickle", b"\x80\x04\x95...", "expected CSV, Parquet or Excel", "pickle"),
    bad("HDF5", b"\x89HDF\r\n\x1a\n", "expected CSV, Parquet or Excel", "HDF5"),
    bad("an old workbook", b"\xd0\xcf\x11\xe0...", "expected CSV, Parquet or Excel", "Excel"),
    bad("a document", _zip({"[Content_Types].xml": ""}), "office document", "save it as CSV"),
    bad("an OpenDocument sheet", _zip({"mimetype": ""}), "office document", "save it as CSV"),
    bad("a Git LFS pointer", "version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
    bad("binary data", bytes(range(256)), "expected CSV, Parquet or Excel", "no text"),
    bad("a cut-off gzip file", gzip.compress(GOOD.encode())[:-20], "damaged"),
    bad("a gzip file with another inside", gzip.compress(GOOD.encode())[:12] + b"xx", "damaged"),
    bad("a cut-off bzip2 file", bz2.compress(GOOD.encode())[:-9], "damaged"),
    bad("a broken bzip2 file", b"BZh9" + b"x" * 40, "damaged"),
    bad("a cut-off xz file", lzma.compress(GOOD.encode())[:-9], "damaged"),
    bad("a broken zstandard file", b"\x28\xb5\x2f\xfd" + b"x" * 20, "damaged"),
    bad("a cut-off zip archive", _zip({"a.csv": GOOD})[:-30], "damaged"),
    bad(
        "two tables in one archive",
        _zip({"a.csv": GOOD, "b.csv": GOOD}),
        "bad.csv: expected one table in the zip archive, found 2 files: a.csv, b.csv; unpack it",
    ),
    bad("an archive without a file", _zip({}), "expected one table", "found none"),
    bad("a cut-off Parquet file", _parquet(pd.DataFrame({"y": [1]}))[:-30], "Parquet", "damaged"),
    bad("the same name twice", "x,x,y\n1,2,0\n3,4,1\n", "each column once, found 'x' twice"),
    bad("the same name twice in Parquet", _arrow(x=[1, 2], z=[3, 4]), "once, found 'x' twice"),
    bad("times of day", _arrow(x=_moments("us", "Europe/Berlin")), "expected dates such as"),
    bad("a zone that is none", _arrow(x=_moments("ns", "Mars/Base")), "dates or times: timestamp"),
    bad("a day far off", _arrow(x=pyarrow.array([2**30] * 2, "int32").cast("date32")), "dates or"),
    bad("a moment far off", _arrow(x=pyarrow.array([2**60] * 2).cast("timestamp[us]")), "dates or"),
    bad("durations", _arrow(x=pyarrow.array([1, 2], pyarrow.duration("s"))), "dates or times"),
    bad("no values", _arrow(x=pyarrow.nulls(2)), "column 'x'", "2 of 2 missing"),
    bad(
        "lists in Parquet",
        _parquet(pd.DataFrame({"x": [[1], [2]], "y": [0, 1]})),
        "column 'x'",
        "expected numbers, text or true/false",
    ),
    bad(
        "bytes in Parquet",
        _parquet(pd.DataFrame({"x": [b"1", b"2"], "y": [0, 1]})),
        "column 'x'",
        "binary",
    ),
    bad(
        "a Parquet file without rows",
        _parquet(pd.DataFrame({"x": [1], "y": [0]})[:0]),
        "found none",
    ),
]

NOT_RECTANGULAR = [
    bad("one column", "y\n1\n0\n", "at least one more column", "dataset.separator"),
    bad(
        "the wrong separator",
        GOOD,
        "found one column",
        "dataset.separator",
        overrides=("dataset.separator=semicolon",),
    ),
    bad("a column twice", "x,x,y\n1,2,0\n3,4,1\n", "'x' twice"),
    bad("a column three times", "x,x,x,y\n1,2,5,0\n3,4,6,1\n", "'x' 3 times"),
    bad("only the line of Excel", "sep=;\n", "header line", "empty file"),
    bad("no header", "1,2,0\n3,4,1\n", "column names in the first line", "add a header"),
    bad("a row with too many cells", GOOD + "1,2,3,4\n", "line 6", "expected 3 cells", "found 4"),
    bad(
        "rows with too many cells", GOOD + "1,2,3,4\n" * 9, "line 6", "8 more: line 7, 8, 9, 10, 11"
    ),
    bad(
        "only rows with too many cells",
        "x,y\n1,2,3\n4,5,6\n",
        "line 2",
        "1 more: line 3",
        overrides=("dataset.separator=comma",),
    ),
    bad("a row with too few cells", GOOD + "1,2\n", "line 6", "expected 3 cells", "found 2"),
    bad("an unquoted comma", GOOD + "30,cook, chef,no\n", "expected 3 cells", "quote cells"),
    bad("a quote that does not end", GOOD + '30,"cook,no\n', "quotes in pairs"),
    bad("a quote within a quoted cell", GOOD + '30,"co"ok",no\n', "line 6", "quotes in pairs"),
    bad("an encoding that is none", GOOD, "no encoding", overrides=("dataset.encoding=utf-99",)),
    bad(
        "an encoding that is another",
        GOOD.replace("cook", "Köchin").encode("cp1252"),
        "expected utf-8 text",
        overrides=("dataset.encoding=utf-8",),
    ),
    bad("a separator that is none", GOOD, "expected one of", overrides=("dataset.separator=x",)),
    bad(
        "a column name given to a category as well",
        "job,job_cook,y\ncook,1,a\nvet,0,b\n",
        "'job_cook'",
        "rename",
    ),
]

WRONG_TARGETS = [
    bad("no target named", GOOD, "dataset.target is not set", "age, job, y", target=""),
    bad("a target that is not there", GOOD, "column 'label' is not in", "age", target="label"),
    bad("a target with a slip", GOOD, "did you mean 'age'?", target="aeg"),
    bad("a constant target", "x,y\n1,a\n2,a\n", "column 'y'", "expected two values", "only 'a'"),
    bad("one row", "x,y\n1,a\n", "column 'y'", "expected two values"),
    bad("three classes", "x,y\n1,a\n2,b\n3,c\n", "column 'y'", "found 3: a, b, c", "=rest"),
    bad("a number to predict", _column(_many("{}")), "column 'x'", "found 150", target="x"),
    bad("a target without values", "x,y\n1,\n2,\n", "column 'y'", "2 of 2 missing"),
    bad("a class left alone", "x,y\n1,a\n,b\n2,a\n", "column 'y'", "in all complete rows"),
    bad(
        "a positive value that is none",
        GOOD,
        "column 'y'",
        "expected 'ja'",
        "no, yes",
        overrides=("dataset.positive=ja",),
    ),
    bad(
        "a negative value that is none",
        GOOD,
        "column 'y'",
        "expected 'nein'",
        overrides=("dataset.negative=nein",),
    ),
]

WRONG_COLUMNS = [
    bad("numeric names no column", GOOD, "'aage'", "'age'?", overrides=("dataset.numeric=[aage]",)),
    bad("boolean names no column", GOOD, "column 'b'", overrides=("dataset.boolean=[b]",)),
    bad("categorical names no column", GOOD, "column 'c'", overrides=("dataset.categorical=[c]",)),
    bad("drop names no column", GOOD, "column 'd'", overrides=("dataset.drop=[d]",)),
    bad("zero_is_missing names none", GOOD, "'z'", overrides=("dataset.zero_is_missing=[z]",)),
    bad(
        "a column of two kinds",
        GOOD,
        "column 'age'",
        "numeric and in categorical",
        overrides=("dataset.numeric=[age]", "dataset.categorical=[age]"),
    ),
    bad("the target dropped", GOOD, "column 'y'", "one list", overrides=("dataset.drop=[y]",)),
    bad("all dropped", GOOD, "besides 'y'", "none", overrides=("dataset.drop=[age,job]",)),
    bad(
        "a numeric column of words",
        GOOD,
        "column 'job'",
        "expected numbers, found 'cook' in row 1",
        overrides=("dataset.numeric=[job]",),
    ),
    bad(
        "a Boolean column of three values",
        _column(["a", "b", "c"]),
        "column 'x'",
        "found 3: a, b, c",
        overrides=("dataset.boolean=[x]",),
    ),
    bad(
        "a Boolean column of 1 and 2",
        _column(["1", "2", "2"]),
        "column 'x'",
        "dataset.true_values",
        overrides=("dataset.boolean=[x]",),
    ),
    bad(
        "two true values of one column",
        _column(["1", "2", "2"]),
        "column 'x'",
        "expected two values, true and false",
        overrides=("dataset.boolean=[x]", "dataset.true_values=[1,2]"),
    ),
]

WRONG_CELLS = [
    bad("a word among numbers", _column(["1", "2", "3", "many"]), "column 'x'", "'many' in row 4"),
    bad("a unit among numbers", _column(["1", "2", "3 kg", "4"]), "column 'x'", "'3 kg' in row 3"),
    bad("an infinity", _column(["1", "2", "inf", "4"]), "column 'x'", "'inf' in row 3"),
    bad("an error of a spreadsheet", _column(["1", "2", "#DIV/0!"]), "column 'x'", "#DIV/0!"),
    bad("a number too large", _column(["1", "2", "1e999"]), "column 'x'", "finite", "row 3"),
    bad("thousands or decimals", _column(["1,234", "5,678"]), "column 'x'", "1.234 or 1234"),
    bad(
        "decimals or thousands",
        _column(["950", "1.234", "12.500"]),
        "column 'x'",
        "'1.234' can be read as 1.234 or 1234",
        "dataset.decimal=point for the first",
        "dataset.decimal=comma for the second",
    ),
    bad(
        "decimals or thousands in quotes",
        'x,y\n"1.234",a\n"5.678",b\n',
        "column 'x'",
        "1.234 or 1234",
    ),
    bad(
        "decimals or thousands in two columns",
        "x;z;y\n1.234;1,500;0\n2;3;1\n",
        "columns 'x', 'z'",
        "1.234 or 1234",
    ),
    bad(
        "decimal points and decimal commas",
        "x;z;y\n1.5;2,25;0\n2;3;1\n",
        "one decimal sign",
        "points in column 'x' ('1.5' in row 1)",
        "commas in column 'z' ('2,25' in row 1)",
        "dataset.decimal=point reads '1.5' as 1.5 and '2,25' as no number",
        "dataset.decimal=comma reads '2,25' as 2.25 and '1.5' as no number",
        "dataset.drop",
    ),
    bad(
        "decimal points and decimal commas in one column",
        _column(["1.5", "2,5", "3"]),
        "points in column 'x' ('1.5' in row 1)",
        "commas in column 'x' ('2,5' in row 2)",
    ),
    bad(
        "decimal points and thousands with points",
        "x,z,y\n1.5,1.234.567,0\n2,3,1\n",
        "points in column 'x'",
        "commas in column 'z' ('1.234.567' in row 1)",
    ),
    bad(
        "decimal commas among few values, where points were announced",
        _column(["1,5", "2,5"]),
        "column 'x'",
        "with a decimal point, found '1,5' in row 1",
        "categorical=[x]",
        overrides=("dataset.decimal=point",),
    ),
    bad(
        "decimal points where commas were announced",
        _column(["1.5", "2"]),
        "column 'x'",
        "with a decimal comma, found '1.5' in row 1",
        "dataset.decimal=point",
        overrides=("dataset.decimal=comma",),
    ),
    bad(
        "whole numbers that a float rounds",
        _column(["9007199254740992", "9007199254740993"]),
        "column 'x'",
        "'9007199254740993' in row 2",
        "would become 9007199254740992",
        "drop=[x]",
        "categorical=[x]",
    ),
    bad(
        "a negative whole number that a float rounds",
        _column(["1", "-9007199254740993"]),
        "column 'x'",
        "'-9007199254740993' in row 2",
    ),
    bad(
        "thousands of a whole number that a float rounds",
        _column(["9,007,199,254,740,993", "2"]),
        "column 'x'",
        "'9,007,199,254,740,993' in row 1",
    ),
    bad(
        "whole numbers of more digits than any integer",
        _column(["12345678901234567890", "1"]),
        "column 'x'",
        "would become 12345678901234567168",
    ),
    bad(
        "a rounded whole number among decimals",
        _column(["9007199254740993", "1.5"]),
        "column 'x'",
        "'9007199254740993' in row 1",
    ),
    bad(
        "whole numbers of Parquet that a float rounds",
        _parquet(pd.DataFrame({"x": [2**53, 2**53 + 1], "y": [0, 1]})),
        "column 'x'",
        "9007199254740993 in row 2",
    ),
    bad(
        "decimals that a float cannot tell apart",
        _column(["0.1", "0.1000000000000000055", "2"]),
        "column 'x'",
        "'0.1' in row 1 and '0.1000000000000000055' in row 2",
        "both become 0.1",
    ),
    bad(
        "a number too small to be told from zero",
        _column(["0", "1e-400", "2"]),
        "column 'x'",
        "'0' in row 1 and '1e-400' in row 2",
    ),
    bad(
        "numbers smaller than any",
        _column(["0", "1e-99999999999999999999", "2"]),
        "column 'x'",
        "both become 0.0",
    ),
    bad(
        "no day", _column(["2024-01-31", "2024-02-30"]), "column 'x'", "expected dates", "drop=[x]"
    ),
    bad("German days", _column(["31.01.2024", "1.2.2024"]), "column 'x'", "dates or times"),
    bad("American days", _column(["1/31/2024", "2/1/24"]), "column 'x'", "dates or times"),
    bad("days in words", _column(["31 Jan 2024", "1 Feb 2024"]), "column 'x'", "dates or times"),
    bad("moments", _column(["2024-01-31T10:00:00Z", "2024-01-31 11:00"]), "'x'", "dates or times"),
    bad("hours", _column(["10:30", "11:45"]), "column 'x'", "dates or times"),
    bad(
        "times in Parquet",
        _parquet(pd.DataFrame({"x": pd.to_datetime(["2024-01-31 1:30"] * 2), "y": [0, 1]})),
        "column 'x'",
        "expected dates such as 2021-03-04, found '2024-01-31T01:30:00",
    ),
    bad("names of people", _column(_many("name {}")), "column 'x'", "at most 100", "an id"),
    bad("long ids", _column(_many("{:08x}-af")), "column 'x'", "drop=[x]", "an id"),
    bad("many categories", _column(_many("c{}") * 2), "column 'x'", "150 different ones in 300"),
    bad("numbers with a unit", _column(_many("{} kg")), "column 'x'", "remove the unit"),
    bad(
        "numbers as too many categories",
        _column(_many("{}")),
        "column 'x'",
        "at most 100",
        overrides=("dataset.categorical=[x]",),
    ),
    bad(
        "fewer categories allowed",
        GOOD,
        "column 'job'",
        "at most 1",
        overrides=("dataset.max_categories=1",),
    ),
    bad("an empty column", _column(["", "", ""]), "column 'x'", "3 of 3 missing", "drop=[x]"),
    bad("a column of question marks", _column(["?", "?"]), "column 'x'", "2 of 2 missing"),
    bad("no complete row", "x,z,y\n,1,a\n2,,b\n", "column 'x'", "no row is complete"),
    bad(
        "a missing value where none may be",
        _column(["1", "", "3"]),
        "column 'x'",
        "expected no missing values",
        "row 2",
        overrides=("dataset.missing=error",),
    ),
    bad("a rule that is none", GOOD, "drop, error or keep", overrides=("dataset.missing=fill",)),
    bad(
        "a decimal sign that is none",
        GOOD,
        "auto, point or comma",
        overrides=("dataset.decimal=dot",),
    ),
    bad(
        "decimal commas where points were announced",
        _column(["1,5", "2"]),
        "column 'x'",
        "expected numbers",
        overrides=("dataset.decimal=point", "dataset.numeric=[x]"),
    ),
]

BAD_TABLES = [*NOT_TABLES, *NOT_RECTANGULAR, *WRONG_TARGETS, *WRONG_COLUMNS, *WRONG_CELLS]
