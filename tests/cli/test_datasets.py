"""The command `datasets` tells what tables there are and what is in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.errors import UserError
from tests.support.command_line import run_command
from tests.support.tables import MORE_NAMES, NAMES, shared_file


@pytest.fixture(autouse=True)
def _no_tables_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FSM_DATA_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def _said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run_command("datasets", *words) == 0
    return capsys.readouterr().out


def _json(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    return json.loads(_said(capsys, *words, "--json"))


def test_without_network_all_but_student_dropout_are_here(
    capsys: pytest.CaptureFixture[str],
) -> None:
    listed = {entry["name"]: entry for entry in _json(capsys)}
    assert list(listed) == sorted((*NAMES, *MORE_NAMES))
    assert [name for name, entry in listed.items() if not entry["is_here"]] == ["student_dropout"]
    assert "datasets fetch student_dropout" in listed["student_dropout"]["problem"]


def test_the_overview_names_rows_kinds_balance_source_licence_and_path(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = _said(capsys)
    first, second = [line for line in said.splitlines() if line.startswith("bank ")]
    assert first.split()[:6] == ["bank", "4521", "7", "0", "9", "51"]
    assert "y = yes: 521 (11.5%)" in first
    assert "UCI 222" in second
    assert "CC BY 4.0" in second
    assert "bank.csv.gz (shipped)" in second
    assert "datasets fetch student_dropout" in said


@pytest.mark.parametrize("length", [1, 60, 90, 120, 250])
def test_no_line_is_broken_in_a_file_however_long_its_paths_are(
    length: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ("c" * length)))
    assert "run `python -m fsm_hpc datasets fetch student_dropout` on a machine" in _said(capsys)


def test_a_data_dir_completes_the_overview(capsys: pytest.CaptureFixture[str]) -> None:
    folder = shared_file("student_dropout.csv").parent
    listed = {entry["name"]: entry for entry in _json(capsys, f"data_dir={folder}")}
    assert listed["student_dropout"]["rows"] == 4424
    assert listed["student_dropout"]["path"] == str(folder / "student_dropout.csv")


def test_show_tells_kind_distinct_values_and_range_or_categories(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = {line.split()[0]: line for line in _said(capsys, "show", "bank").splitlines() if line}
    assert lines["age"].strip().split(maxsplit=3) == ["age", "numeric", "67", "19 to 87, median 39"]
    assert "unknown: 3705, failure: 490, other: 197, success: 129" in lines["poutcome"]
    assert "doi 10.24432/C5K306" in lines["source"]


def test_show_as_data_has_every_category(capsys: pytest.CaptureFixture[str]) -> None:
    shown = _json(capsys, "show", "heart_disease")
    columns = {column["name"]: column for column in shown["columns_in_file"]}
    assert columns["caa"]["categories"] == {"0": 175, "1": 65, "2": 38, "3": 20, "4": 5}
    assert columns["sex"]["true_rows"] == 207
    assert (columns["oldpeak"]["min"], columns["oldpeak"]["max"]) == (0, 6.2)


def test_show_prints_the_kinds_that_were_inferred_and_the_doubts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows = "".join(f"{i + 500},{i % 3},{'a[b]' if i % 2 else 'c'},{i % 2}\n" for i in range(12))
    (tmp_path / "my.csv").write_text("id,x,[red]k,y\n" + rows)
    said = _said(capsys, "show", "csv", f"dataset.path={tmp_path}/my.csv", "dataset.target=y")
    assert "- numeric: id, x" in said
    assert "- categorical: [red]k" in said
    assert "- id has another value in every row; if it is an id, leave it out with" in said


def test_fetching_what_is_here_says_where_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert "hepatitis is installed: " in _said(capsys, "fetch", "hepatitis")


@pytest.mark.parametrize("words", [["shw"], ["show"], ["show", "bank", "hepatitis"], ["list", "x"]])
def test_a_wrong_word_gets_the_usage(words: list[str]) -> None:
    with pytest.raises(UserError, match="expected datasets, datasets show NAME or datasets fetch"):
        run_command("datasets", *words)


def test_a_slip_in_a_name_gets_the_near_match() -> None:
    with pytest.raises(UserError, match="did you mean hepatitis"):
        run_command("datasets", "show", "hepatits")
