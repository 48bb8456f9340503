"""A process is known by boot, PID namespace, id and start, and by nothing that a clock changes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fsm_hpc.system import heartbeat, process_identity
from tests.support.process_identities import ELSEWHERE, dead_pid, identity, reused


def test_a_process_that_runs_is_seen_and_one_that_has_ended_is_not() -> None:
    assert process_identity.is_running(process_identity.of()) is True
    assert process_identity.is_running(identity(dead_pid())) is False


def test_a_later_process_with_the_same_id_is_another() -> None:
    assert process_identity.is_running(reused(os.getpid())) is False


@pytest.mark.parametrize("hidden", [ELSEWHERE, ""])
def test_a_process_of_another_boot_or_namespace_cannot_be_seen(hidden: str) -> None:
    assert process_identity.is_running(hidden) is None


def test_a_process_of_another_namespace_of_this_machine_cannot_be_seen() -> None:
    boot_id, _, pid, start = process_identity.of().split("/")
    assert process_identity.is_running(f"{boot_id}/1/{pid}/{start}") is None


@pytest.mark.skipif(sys.platform != "linux", reason="/proc shows which processes have ended")
def test_a_killed_process_is_dead_although_nobody_has_waited_for_it() -> None:
    """In a container whose first process waits for none, it stays listed for ever."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    known = process_identity.of(process.pid)
    assert process_identity.is_running(known) is True
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert process_identity.is_running(known) is False
    process.communicate()


def test_without_proc_nothing_is_called_dead_that_cannot_be_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = process_identity.of()
    process_identity._boot_id.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(process_identity, "PROC", tmp_path)
        patch.setenv("PATH", str(tmp_path))
        assert process_identity.of() == ""
        assert process_identity.is_running(known) is None
    process_identity._boot_id.cache_clear()


def test_macos_tells_boot_and_start_by_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {"sysctl": "0F5C9E9A-1111", "ps": "Tue Nov 17 23:05:01 2026"}
    for name, answer in answers.items():
        (tmp_path / name).write_text(f"#!/bin/sh\necho '{answer}'\n")
        (tmp_path / name).chmod(0o755)
    process_identity._boot_id.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(process_identity, "PROC", tmp_path / "proc")
        patch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
        known = process_identity.of()
        assert known == f"0F5C9E9A-1111/0/{os.getpid()}/1794956701"
        assert process_identity.is_running(known) is True
        (tmp_path / "ps").write_text("#!/bin/sh\necho 'Tue Nov 17 23:05:02 2026'\n")
        assert process_identity.is_running(known) is False
    process_identity._boot_id.cache_clear()


def test_an_age_is_told_by_the_file_system_and_not_by_this_machines_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beat = tmp_path / "beat"
    beat.touch()
    monkeypatch.setattr("time.time", lambda: 0.0)
    assert abs(heartbeat.age_s(beat) or 99.0) < 60
    os.utime(beat, (1000, 1000))
    assert (heartbeat.age_s(beat) or 0.0) > 10**9


def test_a_heartbeat_in_a_folder_that_cannot_be_written_tells_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beat = tmp_path / "beat"
    beat.touch()
    monkeypatch.setattr(heartbeat, "now_at", lambda folder: None)
    assert heartbeat.silent([beat], 0.0, 0.0) == {beat: None}
