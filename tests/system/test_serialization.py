"""The program's own files: read within limits, written where no link leads elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from msgspec import Meta

from fsm_hpc.formulas.formula import Formula
from fsm_hpc.formulas.parser import parse
from fsm_hpc.system import files, serialization, tempfiles
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.serialization import NewerFormatError, OpenSchema, Valid
from fsm_hpc.system.value_types import Count, Share


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "Expecting value"),
        (b"[1]", "expected an object"),
        (b'{"a": NaN}', "NaN is not a finite number"),
        (b'{"a": -Infinity}', "-Infinity is not a finite number"),
        (b'{"a": 1e999}', "1e999 is not a finite number"),
        (b'{"a": ' + b"9" * 5000 + b"}", "integer string conversion"),
        (b'{"a": ' + b"9" * 21 + b"}", "too large"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b'{"a":' * 500 + b"1" + b"}" * 500, "nested too deeply"),
        (b'{"a":' * 200_000, "nested too deeply"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_no_whole_object_is_unreadable(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "scan.json"
    path.write_bytes(content)
    with pytest.raises(UnreadableError, match=told) as error:
        serialization.read(path)
    assert "scan.json cannot be read" in str(error.value)


def test_a_pipe_a_folder_and_a_link_to_nothing_are_told_and_block_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "link.json").symlink_to("nothing")
    (tmp_path / "loop.json").symlink_to("loop.json")
    (tmp_path / "zero.json").symlink_to("/dev/zero")
    for name, told in (
        ("pipe", "a pipe"),
        ("folder", "a folder"),
        ("link", "a broken link"),
        ("loop", "a link to itself"),
        ("zero", "a device"),
    ):
        with pytest.raises(UnreadableError, match=told):
            serialization.read(tmp_path / f"{name}.json")


def test_a_file_beyond_all_measure_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "scan.json"
    with path.open("wb") as stream:
        stream.truncate(serialization.MAX_BYTES + 1)
    with pytest.raises(UnreadableError, match="larger than 67,108,864 bytes"):
        serialization.read(path)


class Colour(Enum):
    RED = "red"


class Row(TypedDict):
    count: Count


@dataclass(frozen=True)
class Inner:
    share: Share


@dataclass(frozen=True)
class Whole:
    name: Annotated[str, Meta(pattern=r"^\w+\Z")]
    inner: Inner
    colour: Colour | None = None
    pair: tuple[int, str] = (0, "")
    flags: tuple[bool, ...] = ()
    rows: Annotated[list[dict[str, Any]], OpenSchema(list[Row])] = field(default_factory=list)
    counts: dict[str, Count] = field(default_factory=dict)
    classes: tuple[str | int | bool, ...] = ()
    rule: Formula | None = None
    text: Annotated[str | None, Valid(parse)] = None


FITS: dict[str, Any] = {"name": "x", "inner": {"share": 1}}


def test_what_fits_is_taken() -> None:
    more: dict[str, Any] = {
        "colour": "red",
        "pair": [3, "y"],
        "flags": [True],
        "rows": [{"count": 1, "more": "is kept"}],
        "classes": ["a", 1, True],
        "rule": "a and b",
    }
    assert serialization.convert(Whole, FITS | more, "x.json") == Whole(
        "x",
        Inner(1.0),
        Colour.RED,
        (3, "y"),
        (True,),
        [{"count": 1, "more": "is kept"}],
        classes=("a", 1, True),
        rule=parse("a and b"),
    )


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"name": 5}, "at $.name: expected str, found 5"),
        ({"name": "a b"}, "at $.name: expected str matching regex '^\\\\w+\\\\Z', found 'a b'"),
        ({"inner": []}, "at $.inner: expected object, found []"),
        ({"inner": {}}, "at $.inner.share: expected a value, found nothing"),
        ({"inner": {"share": 1.5}}, "at $.inner.share: expected float <= 1.0, found 1.5"),
        ({"inner": {"share": True}}, "at $.inner.share: expected float, found True"),
        ({"inner": {"share": 1, "x": 2}}, "at $.inner.x: expected only fields that this version"),
        ({"colour": "blue"}, "at $.colour: expected one of red, found 'blue'"),
        ({"colour": ["red"]}, "at $.colour: expected str | null, found ['red']"),
        ({"pair": [3]}, "at $.pair: expected array of length 2, found [3]"),
        ({"pair": [3.0, "y"]}, "at $.pair[0]: expected int, found 3.0"),
        ({"flags": [1]}, "at $.flags[0]: expected bool, found 1"),
        ({"rows": [{"count": -1}]}, "at $.rows[0].count: expected int >= 0, found -1"),
        ({"rows": [{}]}, "at $.rows[0].count: expected a value, found nothing"),
        ({"counts": {"a": -1}}, "at $.counts[...]: expected int >= 0, found {'a': -1}"),
        ({"classes": [1.5]}, "at $.classes[0]: expected bool | int | str, found 1.5"),
        ({"rule": "a and"}, "at $.rule: expected another value (expected"),
        ({"rule": 7}, "at $.rule: expected str, found 7"),
        ({"text": "a and"}, "at $.text: expected another value (expected"),
        ({"added": 1}, "at $.added: expected only fields that this version knows"),
    ],
    ids=str,
)
def test_an_error_states_file_place_expected_and_actual_value(
    changes: dict[str, Any], told: str
) -> None:
    with pytest.raises(UnreadableError) as error:
        serialization.convert(Whole, FITS | changes, "x.json")
    assert str(error.value).startswith(f"x.json is invalid {told}")


def test_derived_fields_are_written_and_not_read(tmp_path: Path) -> None:
    path, whole = tmp_path / "x.json", Whole("x", Inner(1.0), rule=parse("not a"))
    serialization.write(path, 1, whole, total=3)
    assert json.loads(path.read_text())["total"] == 3
    assert serialization.load(Whole, path, 1, ("total",)) == whole


@pytest.mark.parametrize(
    "saved",
    [
        {"format": 2, "version": "9.1"},
        {"format": 2, "provenance": {"version": "9.1"}},
        {"format": 2, "code": {"version": "9.1"}},
    ],
    ids=str,
)
def test_a_newer_format_is_refused_with_the_version_that_wrote_it(saved: dict[str, object]) -> None:
    with pytest.raises(NewerFormatError, match=r"written by a newer version of fsm_hpc \(9\.1\)"):
        serialization.without_header(saved, "result.json", 1)


def test_what_is_understood_stays_and_what_is_not_is_kept_aside(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    files.write_json(path, {})
    assert files.quarantine_if_invalid(path, serialization.read) == ""
    path.write_text("half of a fi")
    told = files.quarantine_if_invalid(path, serialization.read)
    (kept,) = tmp_path.glob(".damaged-result.json-*")
    assert kept.read_text() == "half of a fi"
    assert told.endswith(f"kept as {kept.name}")
    assert not path.exists()


def test_a_newer_file_is_never_moved(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    files.write_json(path, {"format": 2})

    def read(path: Path) -> object:
        return serialization.without_header(serialization.read(path) or {}, path.name, 1)

    with pytest.raises(NewerFormatError):
        files.quarantine_if_invalid(path, read)
    assert json.loads(path.read_text()) == {"format": 2}


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    other, path = tmp_path / "precious", tmp_path / "scan.json"
    other.write_text("mine")
    path.symlink_to(other)
    files.write_json(path, {"a": 1})
    assert other.read_text() == "mine"
    assert not path.is_symlink()
    path.unlink()
    path.symlink_to(other)
    with files.open_to_append(path) as stream:
        stream.write(b"a line\n")
    assert other.read_text() == "mine"
    assert path.read_text() == "a line\n"


def test_a_draft_that_somebody_has_put_there_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda count: "known")
    other, path = tmp_path / "precious", tmp_path / "scan.json"
    other.write_text("mine")
    draft = tempfiles.tempfile_for(path)
    draft.symlink_to(other)
    with pytest.raises(FileExistsError):
        files.write_json(path, {"a": 1})
    assert other.read_text() == "mine"


def test_a_pipe_in_the_place_of_a_log_is_kept_aside(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "log.txt")
    with files.open_to_append(tmp_path / "log.txt") as stream:
        stream.write(b"a line\n")
    assert (tmp_path / "log.txt").read_text() == "a line\n"
    assert len(list(tmp_path.glob(".damaged-log.txt-*"))) == 1


def test_bytes_that_were_no_text_survive_the_way_to_disk_and_back(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    files.write_json(tmp_path / "a.json", {"path": name})
    assert serialization.read(tmp_path / "a.json") == {"path": name}


def test_a_full_disk_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as error:
        files.write_json(tmp_path / "scan.json", {})
    assert error.value.filename == str(tmp_path / "scan.json")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_full_standard_output_is_told_once_and_is_an_error() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "fsm_hpc", "--help"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "fsm_hpc: standard output: No space left on device\n"
