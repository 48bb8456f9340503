"""An Excel workbook is read as the table that its first sheet shows."""

from __future__ import annotations

import datetime
import io
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.data import limits
from fsm_hpc.data.dataset import Dataset
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Atom, Proposition
from fsm_hpc.models.predict import predict
from tests.support.rules import make_model
from tests.support.tables import own_table

openpyxl = pytest.importorskip("openpyxl")
ROWS: list[list[Any]] = [
    ["age", " job ", "smokes", None, "y"],
    [30, " cook", False, None, "yes"],
    [],
    [41.5, "nurse", True, None, "no"],
    [52, "cook ", True, None, "yes"],
    [33, "vet", False, None, "no"],
]
TEXT = "age,job,smokes,y\n30,cook,no,yes\n41.5,nurse,yes,no\n52,cook,yes,yes\n33,vet,no,no\n"


def _workbook(*sheets: list[list[Any]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets):
        sheet = book.create_sheet(f"sheet {number}")
        for row in rows:
            sheet.append(row)
    packed = io.BytesIO()
    book.save(packed)
    return packed.getvalue()


def _table(tmp_path: Path, *sheets: list[list[Any]], **changes: Any) -> Dataset:
    return own_table(tmp_path, _workbook(*sheets), **changes)


def test_a_workbook_gives_the_same_table_as_csv(tmp_path: Path) -> None:
    assert _table(tmp_path, ROWS).digest == own_table(tmp_path, TEXT).digest


FORMULAS: list[list[Any]] = [
    ["age", "y"],
    *([f"={10 + row}", "yes" if row % 2 else "no"] for row in range(6)),
]


def test_formulas_without_stored_values_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="found 6 formulas without one; open the workbook in"):
        _table(tmp_path, FORMULAS)


def test_a_note_counts_formulas_that_have_no_stored_value(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(_workbook(FORMULAS))) as made,
        zipfile.ZipFile(packed, "w") as changed,
    ):
        for name in made.namelist():
            text = made.read(name).decode()
            for row in range(4):
                text = re.sub(rf"(<f>{10 + row}</f>)<v ?/?>(</v>)?", rf"\1<v>{10 + row}</v>", text)
            changed.writestr(name, text)
    table = own_table(tmp_path, packed.getvalue())
    assert table.rows == 4
    assert any("2 formulas have no stored value" in note for note in table.notes)


def test_the_first_sheet_with_cells_is_read_and_named(tmp_path: Path) -> None:
    table = _table(tmp_path, [], ROWS, [["another"]])
    assert table.digest == own_table(tmp_path, TEXT).digest
    assert "read from the sheet sheet 1, not sheet 2" in table.notes


def test_cells_of_text_are_read_as_those_of_csv(tmp_path: Path) -> None:
    table = _table(tmp_path, [["x", "y"], [" 1,5 ", 0], ["NA", 1], ["2,5", 1]])
    assert table.columns[0].values.tolist() == [1.5, 2.5]
    assert any("read as missing: 'NA' in x (1)" in note for note in table.notes)


@pytest.mark.parametrize(
    ("sheet", "message"),
    [
        ([], "found an empty workbook"),
        ([["x", "y"]], "expected rows below the header, found none"),
        ([["x", "x", "y"], [1, 2, 0], [2, 3, 1]], "expected each column once, found 'x' twice"),
        ([["x", "y"], [datetime.datetime(2026, 1, 1, 9, 30), 0]], "found '2026-01-01T09:30:00"),
        ([["x", "y"], [datetime.timedelta(1), 0]], "dates or times"),
    ],
)
def test_what_is_wrong_with_a_sheet_is_told(
    tmp_path: Path, sheet: list[list[Any]], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        _table(tmp_path, sheet)


def test_without_openpyxl_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = _workbook(ROWS)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(UserError, match=r"needs openpyxl; install fsm_hpc\[excel\] or save"):
        own_table(tmp_path, packed)


def test_a_damaged_workbook_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="damaged"):
        own_table(tmp_path, _workbook(ROWS)[:-40])


def test_a_workbook_that_would_fill_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_BYTES", 1000)
    with pytest.raises(UserError, match="expected at most 1,000 bytes once decompressed"):
        _table(tmp_path, ROWS)


def test_a_rule_is_applied_to_a_workbook(tmp_path: Path) -> None:
    rule = Atom(Proposition("job_cook"))
    model = make_model(rule, own_table(tmp_path, TEXT).schemas_of({"job_cook"}))
    (tmp_path / "new.xlsx").write_bytes(_workbook(ROWS))
    rows = predict(model, str(tmp_path / "new.xlsx"), DatasetSpec("new", "")).rows
    assert [row[-2] for row in rows] == ["yes", "no", "yes", "no"]
