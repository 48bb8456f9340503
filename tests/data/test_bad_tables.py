"""Every bad table gets one line that names the file, the column and what was expected."""

from __future__ import annotations

import contextlib
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsm_hpc.cli import usage
from fsm_hpc.data import reader
from fsm_hpc.data.dataset import from_table, load
from fsm_hpc.data.errors import setting
from fsm_hpc.data.store import decompress
from fsm_hpc.errors import UserError
from tests.support.bad_tables import BAD_TABLES, GOOD, BadTable
from tests.support.tables import spec_of


def _overrides(table: BadTable, folder: Path) -> list[str]:
    path = folder / table.file
    path.write_bytes(table.content)
    return [f"dataset.path={path}", f"dataset.target={table.target}", *table.overrides]


def _show(*words: str) -> int:
    return usage.load_command("datasets").run(["show", "csv", *words])


@pytest.mark.parametrize("table", BAD_TABLES, ids=lambda table: table.what)
def test_a_bad_table_is_refused_in_one_line(table: BadTable, tmp_path: Path) -> None:
    path = tmp_path / table.file
    path.write_bytes(table.content)
    spec = replace(spec_of("csv", *table.overrides), path=str(path), target=table.target)
    with pytest.raises(UserError) as refused:
        load(spec, None)
    message = str(refused.value)
    setting = any(f"{word.partition('=')[0]}:" in message for word in table.overrides)
    assert table.file in message or setting
    assert [word for word in table.words if word not in message] == []
    assert "\n" not in message


WRONG_IN_MANY_WAYS = """id;born;born;price;size;job;note;y
1;31.01.2024;1;1.234;3,5;cook;;a
2;01.02.2024;2;950;4.5;vet;;b
3;02.02.2024;3;12.500;many;vet;;c
4;03.02.2024;4;12.500;2;vet;;c
5;03.02.2024;4;12.500;2;vet;c
"""


def _refused(folder: Path, text: str, *overrides: str, target: str = "y") -> list[str]:
    path = folder / "bad.csv"
    path.write_text(text)
    spec = replace(spec_of("csv", *overrides), path=str(path), target=target)
    with pytest.raises(UserError) as refused:
        load(spec, None)
    return str(refused.value).replace(f"{folder}/", "").splitlines()


def test_all_problems_of_a_table_are_told_at_once(tmp_path: Path) -> None:
    words = ("dataset.numeric=[job,weight]", "dataset.drop=[hight]", "dataset.positive=d")
    first, *told = _refused(tmp_path, WRONG_IN_MANY_WAYS, *words, "dataset.missing=fill")
    starts = [
        "expected 8 cells in line 6 as in the header, found 7",
        "expected each column once, found 'born' twice",
        "dataset.missing: expected drop, error or keep, found 'fill'",
        "dataset.numeric: column 'weight' is not in bad.csv; its columns are: id, born, price",
        "dataset.drop: column 'hight' is not in bad.csv",
        "expected one decimal sign in the whole file",
        "column 'note': expected values, found 4 of 4 missing",
        "column 'y': expected 'd' among the target's values",
        "column 'y': expected two values in the target, found 3",
        "column 'born': expected numbers or categories, found dates or times",
        "column 'size': expected numbers, found 'many' in row 3",
        "column 'job': expected numbers, found 'cook' in row 1",
    ]
    assert first == f"bad.csv: {len(starts)} problems"
    assert [line for line, start in zip(told, starts, strict=True) if start not in line] == []
    assert sum("its columns are" in line for line in told) == 1


def test_every_empty_column_is_told(tmp_path: Path) -> None:
    told = _refused(tmp_path, "x,z,w,y\n,,1,a\n,,2,b\n")
    assert told[0] == "bad.csv: 2 problems"
    assert [line.split(":")[0].strip() for line in told[1:]] == ["column 'x'", "column 'z'"]


def test_every_column_with_gaps_is_told_where_none_may_be(tmp_path: Path) -> None:
    told = _refused(tmp_path, "x,z,y\n,1,a\n1,,b\n2,,a\n", "dataset.missing=error")
    assert ["column 'z'" in told[1], "column 'x'" in told[2], len(told)] == [True, True, 3]


def test_every_column_of_a_wrong_kind_in_parquet_is_told(tmp_path: Path) -> None:
    pd.DataFrame({"x": [[1], [2]], "z": [b"1", b"2"], "w": [1, 2], "y": [0, 1]}).to_parquet(
        tmp_path / "bad.pq"
    )
    spec = replace(spec_of("csv"), path=str(tmp_path / "bad.pq"), target="y")
    with pytest.raises(UserError, match=r"2 problems\n  column 'x': .*\n  column 'z': .*") as told:
        load(spec, None)
    assert "dataset.drop=[x]" in str(told.value)
    assert load(replace(spec, drop=("x", "z")), None).schemas[0].name == "w"


def test_a_slip_in_a_list_is_not_told_as_a_problem_of_the_column_that_was_meant(
    tmp_path: Path,
) -> None:
    text = "born,x,y\n31.01.2024,1,a\n01.02.2024,2,b\n"
    (told,) = _refused(tmp_path, text, "dataset.drop=[brn]")
    assert "did you mean 'born'?" in told


def test_rows_that_do_not_fit_leave_the_numbers_of_the_others_as_they_are(tmp_path: Path) -> None:
    _, width, mixture = _refused(tmp_path, "x,y\n1,a,7\n2,a\n3,b\nmany,b\n5,a\n")
    assert "line 2" in width
    assert "'many' in row 4" in mixture


def test_at_most_twenty_problems_are_listed(tmp_path: Path) -> None:
    names = ",".join(f"c{number}" for number in range(23))
    first, *told = _refused(tmp_path, GOOD, f"dataset.drop=[{names}]")
    assert first == "bad.csv: 23 problems"
    assert (len(told), told[-1]) == (21, "  and 3 more")


def test_a_problem_with_a_line_break_stays_on_its_line(tmp_path: Path) -> None:
    (told,) = _refused(tmp_path, 'x,y\n1,"a\nb"\n2,c\n3,d\n')
    assert "found 3: a b, c, d" in told


def test_there_are_at_least_sixty_bad_tables() -> None:
    assert len({table.content + repr(table.overrides).encode() for table in BAD_TABLES}) >= 60


def test_the_table_that_the_bad_ones_are_made_from_is_good(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = BadTable("good", GOOD.encode(), ())
    assert _show(*_overrides(table, tmp_path)) == 0
    assert "categorical" in capsys.readouterr().out


def test_a_file_that_is_not_there_is_named_with_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(GOOD)
    with pytest.raises(UserError, match=r"no file .*my\.csv; in that folder there are: mine\.csv"):
        _show(f"dataset.path={tmp_path}/my.csv")


def test_a_folder_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="expected a CSV, Parquet or Excel file, found the folder"):
        _show(f"dataset.path={tmp_path}")


def test_a_table_has_to_be_named() -> None:
    with pytest.raises(UserError, match=r"dataset\.path is not set"):
        _show()


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("age,sex,cp,trtbps,chol,fbs,restecg,thalachh,exng,oldpeak,slp,caa,thall", "'output'"),
        ("age,sex,cp,trtbps,chol,fbs,restecg,thalachh,exng,oldpeak,slp,caa,output", "'thall'"),
        (
            "age,sex,cp,trtbps,chol,fbs,restecg,thalachh,exng,oldpeak,slp,caa,thall,weight,output",
            "found also 'weight'",
        ),
    ],
)
def test_a_named_table_with_other_columns_is_refused(
    header: str, message: str, tmp_path: Path
) -> None:
    cells = ",".join("0" for _ in header.split(","))
    (tmp_path / "heart_disease.csv").write_text(f"{header}\n{cells}\n")
    with pytest.raises(UserError, match=message):
        load(spec_of("heart_disease"), tmp_path, allow_changed_data=True)


def test_the_command_line_ends_with_one_line_and_code_2(tmp_path: Path) -> None:
    table = next(table for table in BAD_TABLES if table.what == "three classes")
    words = ["dataset=csv", "method=pivot", *_overrides(table, tmp_path)]
    command = [sys.executable, "-m", "fsm_hpc", *words, f"results_dir={tmp_path}"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert "bad.csv: column 'y': expected two values" in ended.stderr


def test_many_problems_end_the_command_line_with_code_2_as_well(tmp_path: Path) -> None:
    table = BadTable("two", GOOD.encode(), (), ("dataset.drop=[a]", "dataset.numeric=[b]"))
    words = ["dataset=csv", "method=pivot", *_overrides(table, tmp_path)]
    command = [sys.executable, "-m", "fsm_hpc", *words, f"results_dir={tmp_path}"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    first, *told = ended.stderr.strip().splitlines()
    assert (ended.returncode, first, len(told)) == (
        2,
        f"fsm_hpc: {tmp_path}/bad.csv: 2 problems",
        2,
    )


def test_a_setting_can_name_several_columns() -> None:
    (word,) = shlex.split(setting("drop", "my column", "x"))
    assert spec_of("csv", word).drop == ("my column", "x")
    assert setting("drop", "x", "z") == "dataset.drop=[x,z]"


@pytest.mark.parametrize("name", ["x", "my column", "a,b (c)", 'say "no"', "it's", "a=b", "50%"])
def test_the_setting_that_a_message_proposes_can_be_typed(name: str) -> None:
    (word,) = shlex.split(setting("drop", name))
    assert spec_of("csv", word).drop == (name,)


@given(data=st.data())
@settings(max_examples=300, deadline=None)
def test_a_damaged_table_is_read_or_refused_but_never_crashes(data: st.DataObject) -> None:
    tables = [GOOD.encode(), *(table.content for table in BAD_TABLES)]
    content = bytearray(data.draw(st.sampled_from(tables)))
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(content)))
        piece = data.draw(st.sampled_from([b'"', b",", b";", b"\n", b"\r", b"\0", b"\xff", b"1"]))
        content[at : at + data.draw(st.integers(0, 3))] = piece
    spec = replace(spec_of("csv"), target="y")
    with contextlib.suppress(UserError):
        path = Path("damaged.csv")
        from_table(reader.read(decompress(bytes(content), path), path, spec), spec)
