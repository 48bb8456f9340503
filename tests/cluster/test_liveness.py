"""Who lives and who is dead, seen from other containers and by clocks that are wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.cli.main import main
from fsm_hpc.cluster import study_lock
from fsm_hpc.cluster.schedulers import local
from tests.support.hosts import needs_faketime, needs_namespaces, python, start, stop

HOLD = """
import sys
from pathlib import Path
from fsm_hpc.cluster import study_lock
study_lock.BEAT_S = 0.05
with study_lock.held([Path(sys.argv[1])]):
    print("held", flush=True)
    sys.stdin.read()
"""
TRY = """
import sys
from pathlib import Path
from fsm_hpc.cluster import study_lock
from fsm_hpc.errors import UserError
study_lock.SILENT_S, study_lock.CONFIRM_S = float(sys.argv[2]), float(sys.argv[3])
try:
    with study_lock.held([Path(sys.argv[1])], give_up_s=float(sys.argv[4])):
        print("broken")
except UserError:
    print("waited")
"""
STEPS = [-86400, -120, -2, 2, 120, 86400]
LONG = ("dataset=heart_disease", "method=median", "solver=clingo_dl", "solver.encoding=plain")


@pytest.fixture
def hold(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start processes that hold the study in this folder."""
    running = []

    def begin(**place: Any) -> subprocess.Popen[str]:
        process = start(python(HOLD, str(tmp_path), **place))
        running.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        return process

    yield begin
    for process in running:
        stop(process)


def attempt_to_take(
    folder: Path, silent_s: float = 60, confirm_s: float = 15, give_up_s: float = 1, **place: Any
) -> str:
    numbers = map(str, (silent_s, confirm_s, give_up_s))
    process = start(python(TRY, str(folder), *numbers, **place))
    return process.communicate(timeout=60)[0].strip()


# -------------------------------------------------------------------------------- the study lock


@needs_namespaces
def test_another_pid_namespace_does_not_break_a_live_lock(
    tmp_path: Path, hold: Callable[..., subprocess.Popen[str]]
) -> None:
    hold()
    assert attempt_to_take(tmp_path, is_container=True) == "waited"


@needs_namespaces
def test_a_dead_holder_in_another_pid_namespace_is_replaced(
    tmp_path: Path, hold: Callable[..., subprocess.Popen[str]]
) -> None:
    stop(hold(is_container=True))
    assert attempt_to_take(tmp_path, 0.3, 0.1, give_up_s=20) == "broken"


@needs_namespaces
def test_two_containers_with_the_same_process_ids_are_told_apart(
    tmp_path: Path, hold: Callable[..., subprocess.Popen[str]]
) -> None:
    hold(is_container=True)
    assert attempt_to_take(tmp_path, is_container=True) == "waited"


@needs_faketime
@pytest.mark.parametrize("step_s", STEPS)
def test_a_live_holder_whose_clock_is_off_keeps_its_lock(
    tmp_path: Path, hold: Callable[..., subprocess.Popen[str]], step_s: int
) -> None:
    hold(clock_s=step_s)
    assert attempt_to_take(tmp_path, give_up_s=0.3) == "waited"


@needs_faketime
@needs_namespaces
@pytest.mark.parametrize("step_s", STEPS)
def test_clocks_that_differ_do_not_break_a_live_lock_of_a_container(
    tmp_path: Path, hold: Callable[..., subprocess.Popen[str]], step_s: int
) -> None:
    hold(is_container=True)
    place = {"is_container": True, "clock_s": step_s}
    assert attempt_to_take(tmp_path, 1, 0.5, give_up_s=1.5, **place) == "waited"


@needs_faketime
@pytest.mark.parametrize("step_s", STEPS)
def test_a_dead_holder_is_dead_by_any_clock(
    tmp_path: Path, hold: Callable[..., subprocess.Popen[str]], step_s: int
) -> None:
    stop(hold(clock_s=step_s))
    assert attempt_to_take(tmp_path, give_up_s=20) == "broken"


@pytest.mark.parametrize("step_s", STEPS)
def test_the_file_servers_clock_may_be_set_while_a_lock_is_held(
    tmp_path: Path, hold: Callable[..., subprocess.Popen[str]], step_s: int
) -> None:
    """The last beat is then of another time, and the next one is awaited."""
    hold()
    owner = json.loads((tmp_path / ".lock").read_text()) | {"process": "", "host": "elsewhere"}
    (tmp_path / ".lock").write_text(json.dumps(owner))
    code = "import os, sys, time\nwhile True: os.utime(sys.argv[1]); time.sleep(0.05)"
    beating = start([sys.executable, "-c", code, str(tmp_path / ".lock")])
    try:
        then = time.time() - step_s
        os.utime(tmp_path / ".lock", (then, then))
        assert attempt_to_take(tmp_path, 1, 0.5, give_up_s=1.5) == "waited"
    finally:
        stop(beating)


@pytest.mark.parametrize("step_s", [-86400, 86400])
def test_a_dead_lock_of_another_time_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step_s: int
) -> None:
    owner = {"host": "elsewhere", "pid": 1, "since": 1.0, "token": "t"}
    (tmp_path / ".lock").write_text(json.dumps(owner))
    os.utime(tmp_path / ".lock", (time.time() - step_s,) * 2)
    monkeypatch.setattr(study_lock, "CONFIRM_S", 0.1, raising=False)
    with study_lock.held([tmp_path], give_up_s=5):
        pass


def test_a_link_that_was_made_although_nfs_says_no_is_a_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def repeated(source: Path, target: Path) -> None:
        link(source, target)
        raise FileExistsError

    monkeypatch.setattr(os, "link", repeated)
    with study_lock.held([tmp_path], give_up_s=0.3):
        assert (tmp_path / ".lock").exists()


def test_a_holder_that_was_replaced_does_not_keep_the_next_ones_lock_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study_lock, "BEAT_S", 0.01)
    with study_lock.held([tmp_path]):
        owner = {"host": "elsewhere", "pid": 1, "since": 1.0, "token": "t"}
        (tmp_path / ".lock.new").write_text(json.dumps(owner))
        os.utime(tmp_path / ".lock.new", (1000, 1000))
        (tmp_path / ".lock.new").rename(tmp_path / ".lock")
        monkeypatch.setattr(study_lock, "SILENT_S", 0.2)
        with study_lock.held([tmp_path], give_up_s=10):
            pass


# --------------------------------------------------------------------------------- local folds


def command(*words: str, is_container: bool = False) -> list[str]:
    code = "import sys; from fsm_hpc.cli.main import main; sys.exit(main(sys.argv[1:]))"
    return python(code, *words, is_container=is_container)


def states(capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    main(["status", "--json"])
    return [fold["state"] for fold in json.loads(capsys.readouterr().out)]


def wait(ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 90
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@needs_namespaces
def test_a_fold_in_a_container_runs_while_it_lives_and_is_lost_when_it_is_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    attempt = tmp_path / "results/default/heart_disease/median/fold-1/attempt.json"
    fold = start(command(*LONG, "fold=1", is_container=True), tmp_path)
    try:
        wait(attempt.exists)
        assert states(capsys) == ["running"]
        os.utime(attempt, (1000, 1000))  # as if the clock had been set; the next beat tells
        assert states(capsys) == ["running"]
    finally:
        stop(fold)
    monkeypatch.setattr(local, "CONFIRM_S", 0.0)
    assert states(capsys) == ["running"]  # its heartbeat has not been silent for long
    os.utime(attempt, (time.time() - 2 * local.SILENT_S,) * 2)
    assert states(capsys) == ["lost"]


@needs_namespaces
def test_folds_of_a_sweep_are_seen_from_a_container(tmp_path: Path) -> None:
    words = ("cluster=local", "fold=1,2", "cluster.max_parallel=1", "-m")
    sweep = start(command(*LONG, *words), tmp_path)
    try:
        wait(lambda: any(tmp_path.rglob("attempt.json")))
        seen = start(command("status", "--json", is_container=True), tmp_path)
        found = json.loads(seen.communicate(timeout=60)[0])
        assert sorted(fold["state"] for fold in found) == ["queued", "running"]
    finally:
        sweep.terminate()
        sweep.communicate(timeout=90)


@needs_namespaces
def test_cancel_stops_a_fold_in_a_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    fold = start(command(*LONG, "fold=1", is_container=True), tmp_path)
    try:
        wait(lambda: any(tmp_path.rglob("attempt.json")))
        assert main(["cancel", "-y"]) == 0
        assert "stopped" in fold.communicate(timeout=90)[0]
    finally:
        stop(fold)
    assert states(capsys) == ["partial"]
