"""The program's own files: read within limits, written where no link leads elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fsm_hpc.system import drafts, files, records
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.records import NewerFormatError


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "Expecting value"),
        (b"[1]", "expected an object"),
        (b'{"a": NaN}', "NaN is not a number"),
        (b'{"a": -Infinity}', "-Infinity is not a number"),
        (b'{"a": 1e999}', "too large a number"),
        (b'{"a": ' + b"9" * 5000 + b"}", "too large a number"),
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
        records.read(path)
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
        ("link", "a link to nothing"),
        ("loop", "a link to itself"),
        ("zero", "a device"),
    ):
        with pytest.raises(UnreadableError, match=told):
            records.read(tmp_path / f"{name}.json")


def test_a_file_beyond_all_measure_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "scan.json"
    with path.open("wb") as stream:
        stream.truncate(records.MOST_BYTES + 1)
    with pytest.raises(UnreadableError, match="larger than 67,108,864 bytes"):
        records.read(path)


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
        records.of_format(saved, "result.json", 1)


def test_what_is_understood_stays_and_what_is_not_is_kept_aside(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    files.write_json(path, {})
    assert files.make_room(path, records.read) == ""
    path.write_text("half of a fi")
    told = files.make_room(path, records.read)
    (kept,) = tmp_path.glob(".damaged-result.json-*")
    assert kept.read_text() == "half of a fi"
    assert told.endswith(f"kept as {kept.name}")
    assert not path.exists()


def test_a_newer_file_is_never_moved(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    files.write_json(path, {"format": 2})

    def read(path: Path) -> object:
        return records.of_format(records.read(path) or {}, path.name, 1)

    with pytest.raises(NewerFormatError):
        files.make_room(path, read)
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
    draft = drafts.draft_of(path)
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
    assert records.read(tmp_path / "a.json") == {"path": name}


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
