"""One command at a time works on a study; the lock of a dead one is taken over."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fsm_hpc.cluster import study_lock
from fsm_hpc.errors import UserError
from tests.support.process_identities import dead_pid, identity, reused

ROOT = Path(__file__).parents[2]
COUNT = """
import sys
from pathlib import Path
from fsm_hpc.cluster import study_lock
counter = Path(sys.argv[1]) / "counter"
for _ in range(20):
    with study_lock.held([Path(sys.argv[1])]):
        number = int(counter.read_text() or 0) if counter.exists() else 0
        counter.write_text(str(number + 1))
"""


def leave_lock(folder: Path, **values: object) -> None:
    owner = {"host": platform.node(), "pid": 1, "since": time.time(), "token": "t"} | values
    if owner["host"] == platform.node():
        owner = {"process": identity(int(str(owner["pid"])))} | owner
    (folder / ".lock").write_text(json.dumps(owner))


def test_processes_take_turns(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", COUNT, str(tmp_path)]
    all_ = [subprocess.Popen(command, env=environment) for _ in range(4)]
    assert [process.wait(timeout=120) for process in all_] == [0] * 4
    assert (tmp_path / "counter").read_text() == "80"
    assert not (tmp_path / ".lock").exists()


def test_a_living_owner_is_waited_for_and_named(tmp_path: Path) -> None:
    leave_lock(tmp_path, pid=os.getpid())
    lock = study_lock.held([tmp_path], give_up_s=0.3)
    with pytest.raises(UserError, match=f"process {os.getpid()} on .* has held"), lock:
        pass
    assert (tmp_path / ".lock").exists()


def test_a_dead_owner_is_recognised(tmp_path: Path) -> None:
    leave_lock(tmp_path, pid=dead_pid())
    with study_lock.held([tmp_path], give_up_s=5):
        pass


def test_a_process_that_got_a_dead_owners_id_is_not_the_owner(tmp_path: Path) -> None:
    leave_lock(tmp_path, pid=os.getpid(), process=reused(os.getpid()))
    with study_lock.held([tmp_path], give_up_s=5):
        pass


def test_an_owner_on_another_machine_is_dead_when_its_beats_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_lock(tmp_path, host="elsewhere")
    monkeypatch.setattr(study_lock, "SILENT_S", 0.5)
    began = time.monotonic()
    with study_lock.held([tmp_path], give_up_s=10):
        assert time.monotonic() - began >= 0.5


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a": 1}'])
def test_a_damaged_lock_does_not_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    (tmp_path / ".lock").write_text(text)
    monkeypatch.setattr(study_lock, "SILENT_S", 0.2)
    with study_lock.held([tmp_path], give_up_s=10):
        pass


def test_the_owner_shows_that_it_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study_lock, "BEAT_S", 0.05)
    with study_lock.held([tmp_path]):
        before = (tmp_path / ".lock").stat().st_mtime_ns
        deadline = time.monotonic() + 10
        while (tmp_path / ".lock").stat().st_mtime_ns == before:
            assert time.monotonic() < deadline
            time.sleep(0.02)


def test_a_lock_that_was_taken_over_is_not_removed(tmp_path: Path) -> None:
    with study_lock.held([tmp_path]):
        leave_lock(tmp_path, token="another")
    assert study_lock.owner_of(tmp_path / ".lock") is not None


@pytest.mark.parametrize("kind", ["pipe", "link", "dangling link", "link to itself"])
def test_what_others_put_in_place_of_the_lock_breakers_file_neither_hangs_nor_is_followed(
    tmp_path: Path, kind: str
) -> None:
    (tmp_path / "study").mkdir()
    leave_lock(tmp_path / "study", pid=dead_pid())
    breaking, victim = tmp_path / "study" / ".lock.breaking", tmp_path / "victim"
    if kind == "pipe":
        os.mkfifo(breaking)
    else:
        breaking.symlink_to(breaking if kind == "link to itself" else victim)
    if kind == "link":
        victim.write_text("mine")
        victim.chmod(0o400)
    code = (
        "import sys; from pathlib import Path; from fsm_hpc.cluster import study_lock\n"
        "with study_lock.held([Path(sys.argv[1])], give_up_s=20): print('held')"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "study")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("held\n", "")
    assert victim.exists() == (kind == "link")
    assert breaking.is_file()
    assert not breaking.is_symlink()


def test_a_lock_breaker_that_never_ends_is_not_waited_for_forever(tmp_path: Path) -> None:
    leave_lock(tmp_path, pid=dead_pid())
    hold = (
        "import fcntl, sys\n"
        "stream = open(sys.argv[1], 'a')\n"
        "fcntl.lockf(stream, fcntl.LOCK_EX)\n"
        "print('holds', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", hold, str(tmp_path / ".lock.breaking")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"holds\n"
        lock = study_lock.held([tmp_path], give_up_s=0.5)
        with pytest.raises(UserError, match="remove the file"), lock:
            pass
        other.communicate()


def test_a_link_in_place_of_the_lock_is_not_touched_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study_lock, "BEAT_S", 0.01)
    victim = tmp_path / "victim"
    victim.write_text("mine")
    os.utime(victim, (1000, 1000))
    (tmp_path / "study").mkdir()
    lock = tmp_path / "study" / ".lock"
    with study_lock.held([tmp_path / "study"]):
        lock.unlink()
        lock.symlink_to(victim)
        made = lock.lstat().st_mtime_ns
        until = time.monotonic() + 1
        while lock.lstat().st_mtime_ns == made and time.monotonic() < until:
            time.sleep(0.01)
    assert victim.stat().st_mtime == 1000
