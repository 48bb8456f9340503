"""Every bad table gets one line that names the file, the column and what was expected."""

from __future__ import annotations

import contextlib
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsm_hpc.data import reader
from fsm_hpc.data.dataset import from_table, load
from fsm_hpc.data.store import decompress
from fsm_hpc.data.text_column import setting
from fsm_hpc.errors import UserError
from tests.support.bad_tables import BAD_TABLES, GOOD, BadTable
from tests.support.command_line import run_verb
from tests.support.tables import spec_of


def _overrides(table: BadTable, folder: Path) -> list[str]:
    path = folder / table.file
    path.write_bytes(table.content)
    return [f"dataset.path={path}", f"dataset.target={table.target}", *table.overrides]


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


def test_there_are_at_least_sixty_bad_tables() -> None:
    assert len({table.content + repr(table.overrides).encode() for table in BAD_TABLES}) >= 60


def test_the_table_that_the_bad_ones_are_made_from_is_good(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = BadTable("good", GOOD.encode(), ())
    assert run_verb("datasets", "show", "csv", *_overrides(table, tmp_path)) == 0
    assert "categorical" in capsys.readouterr().out


def test_a_file_that_is_not_there_is_named_with_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(GOOD)
    with pytest.raises(UserError, match=r"no file .*my\.csv; in that folder there are: mine\.csv"):
        run_verb("datasets", "show", "csv", f"dataset.path={tmp_path}/my.csv")


def test_a_folder_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="expected a CSV or Parquet file, found the folder"):
        run_verb("datasets", "show", "csv", f"dataset.path={tmp_path}")


def test_a_table_has_to_be_named() -> None:
    with pytest.raises(UserError, match=r"dataset\.path is not set"):
        run_verb("datasets", "show", "csv")


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
