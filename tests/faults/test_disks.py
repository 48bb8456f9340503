"""A disk that is full, small, or only to be read: the file is named, and what was there stays."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults import ledger, said
from tests.faults.answers import lasting, whole
from tests.faults.ledger import EscapedError, LostError, WrongError
from tests.faults.victims import Victim
from tests.support.command_line import said as printed_by

COMMANDS = {"fold": said.FOLD, "baseline": said.XGBOOST, "rule": said.QUICK_RULE}
IN_SHORT = ("fold",)
NAMES = tuple(COMMANDS if ledger.IS_LONG else IN_SHORT)
BYTES = (0, 100, 700, 1_500, 4_000) if ledger.IS_LONG else (0, 1_500)
PAGES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24)
INODES = (2, 5, 7, 9, 12)
FULL, READ_ONLY = "full disks", "read-only disks"
READERS = ("status", "collect", "report", "logs", "plan", "resume", "cancel -y", "explain")


@contextmanager
def disk(folder: Path, options: str) -> Iterator[Path]:
    """A file system in memory of its own, where this user may mount one."""
    folder.mkdir()
    _mount("-t", "tmpfs", "-o", options, "tmpfs", str(folder))
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _mount(*words: str) -> None:
    done = subprocess.run(["mount", *words], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What the commands come to where there is room."""
    found: dict[str, object] = {}
    for name in NAMES:
        folder = tmp_path_factory.mktemp(name)
        victim = Victim(list(COMMANDS[name]), folder)
        assert victim.end() == 0, victim.said()
        found[name] = whole(folder)
    return found


def refuse_escape(victim: Victim, what: str) -> int:
    code, printed = victim.end(), victim.said()
    if "Traceback" in printed or code not in (0, 1, 2, 130):
        raise EscapedError(f"{what}: ended with {code}:\n{printed[-1500:]}")
    if code == 2 and "/" not in printed:
        raise EscapedError(f"{what}: no file is named:\n{printed[-1500:]}")
    return code


def refuse_damage(folder: Path, what: str) -> None:
    """Whatever has its final name is whole."""
    for path in folder.rglob("[!.]*.json"):
        try:
            json.loads(path.read_text())
        except ValueError as error:
            raise LostError(f"{what}: {path.name} is cut: {error}") from None


def try_again(name: str, folder: Path, output: Path, expected: dict[str, object]) -> None:
    victim = Victim(list(COMMANDS[name]), folder, output=output)
    if victim.end() != 0:
        raise LostError(f"with room again: {victim.said()[-1500:]}")
    if whole(folder) != expected[name]:
        raise WrongError("with room again the answer is another one")


@pytest.mark.parametrize("most_bytes", BYTES)
@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_cannot_grow_is_named_and_the_command_again_ends_well(
    tmp_path: Path, expected: dict[str, object], name: str, most_bytes: int
) -> None:
    with ledger.case(FULL, f"quota {name} {most_bytes}") as case:
        case.tried += 1
        here, output = tmp_path / "here", tmp_path / "output.txt"
        here.mkdir()
        # the output is a pipe to the test in real life: it must not be what is full
        victim = Victim(list(COMMANDS[name]), here, output=output, most_bytes=most_bytes)
        refuse_escape(victim, f"{most_bytes} bytes a file")
        refuse_damage(here, f"{most_bytes} bytes a file")
        try_again(name, here, output, expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [*(f"size={4 * pages}k" for pages in PAGES), *(f"nr_inodes={count}" for count in INODES)],
)
@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk_is_told_and_with_room_again_all_ends_well(
    tmp_path: Path, expected: dict[str, object], name: str, options: str
) -> None:
    with ledger.case(FULL, f"{name} {options}") as case, disk(tmp_path / "disk", options) as here:
        case.tried += 1
        output = tmp_path / "output.txt"
        refuse_escape(Victim(list(COMMANDS[name]), here, output=output), options)
        refuse_damage(here, options)
        _mount("-o", "remount,size=64m,nr_inodes=10000", str(here))
        try_again(name, here, output, expected)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with a fold that is done and one that is not, and a rule."""
    folder = tmp_path_factory.mktemp("study")
    for words in (COMMANDS["fold"], COMMANDS["rule"]):
        victim = Victim(list(words), folder)
        assert victim.end() == 0, victim.said()
    fold = folder / "results" / "default" / "hepatitis" / "median" / "fold-1"
    shutil.copytree(fold, fold.with_name("fold-2"))
    (fold.with_name("fold-2") / "result.json").unlink()
    return folder


def words_of(command: str) -> list[str]:
    place = ["dataset=hepatitis", "method=median"]
    if command == "explain":
        return ["explain", "results/default/hepatitis/median/fold-1"]
    return [*command.split(), *place, *(["cluster=local"] if command in ("plan", "resume") else [])]


MORE = {
    "fold": list(COMMANDS["fold"]),
    "another fold": [*said.MEDIAN, "fold=3", "scan.max_length=3"],
    "sweep": [*said.MEDIAN, "fold=4,5", "scan.max_length=3", "-m", "cluster=local", "--wait"],
    "fit": list(COMMANDS["rule"]),
    "export": ["export", "rule/model.json", "--to", "sql"],
    "alternatives": ["alternatives", "rule/model.json", "slack=1", "--csv", "rule/all.csv"],
}


@pytest.mark.slow
@pytest.mark.parametrize("command", [*READERS, *MORE])
def test_a_disk_that_is_only_to_be_read_is_told(tmp_path: Path, study: Path, command: str) -> None:
    with ledger.case(READ_ONLY, command) as case, disk(tmp_path / "disk", "size=64m") as here:
        case.tried += 1
        shutil.copytree(study, here, dirs_exist_ok=True)
        before = lasting(here)
        _mount("-o", "remount,ro", str(here))
        words = MORE.get(command) or words_of(command)
        refuse_escape(Victim(words, here, output=tmp_path / "output.txt"), command)
        if lasting(here) != before:
            raise LostError(f"{command} changed what is only to be read")


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everything")
@pytest.mark.parametrize("command", READERS)
def test_a_folder_that_is_only_to_be_read_is_told(
    tmp_path: Path, study: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ledger.case(READ_ONLY, f"folder {command}") as case:
        case.tried += 1
        here = tmp_path / "here"
        shutil.copytree(study, here)
        monkeypatch.chdir(here)
        (here / "results" / "default").chmod(0o500)
        code, _ = printed_by(*words_of(command))
        (here / "results" / "default").chmod(0o700)
        if code not in (0, 1, 2):
            raise EscapedError(f"{command} ended with {code}")
