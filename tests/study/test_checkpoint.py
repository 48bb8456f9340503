"""A scan state survives the way to disk and back, and only for the same problem."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from fsm_hpc.formulas.parser import parse
from fsm_hpc.search.lengths import Length, LengthAttempt, SplitProgress
from fsm_hpc.search.scan import ScanState
from fsm_hpc.search.solvers.base import End, Incumbent
from fsm_hpc.search.stop_reason import StopReason
from fsm_hpc.study import checkpoint
from fsm_hpc.study.checkpoint import CheckpointWriter
from fsm_hpc.system.files import UnreadableError
from tests.support.scans import scan_state

ENTRY = Length(1, parse("`a b` >= 2.5"), 3, 0.9, 0.8, True, 1.25, "native")
UNDER_WAY = LengthAttempt(2, Incumbent(parse("x and not y"), 2, 1, 1), 7.5)
FINAL = LengthAttempt(1, Incumbent(parse("x"), 4, 1, 4), 2.0, End.PROVED, "clingo_dl")
STATES = [
    ScanState(),
    scan_state(under_way=LengthAttempt(1), scan_s=3.0),
    scan_state((ENTRY,), UNDER_WAY, scan_s=8.75),
    scan_state((ENTRY,), UNDER_WAY, stop_reason=StopReason.TIMEOUT, final=FINAL, scan_s=8.75),
    ScanState((SplitProgress((ENTRY,)), SplitProgress((), UNDER_WAY), SplitProgress()), 8.75),
]


@pytest.mark.parametrize("state", STATES)
def test_a_state_comes_back_as_it_was(tmp_path: Path, state: ScanState) -> None:
    checkpoint.save(tmp_path / "scan.json", state, "f")
    assert checkpoint.load(tmp_path / "scan.json", "f") == state


def test_a_state_of_another_problem_is_not_taken_up(tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "scan.json", STATES[2], "f")
    with pytest.raises(checkpoint.OutdatedError, match="of other rows or settings"):
        checkpoint.load(tmp_path / "scan.json", "g")


@pytest.mark.parametrize("cut", [0, 1, 40, 200])
def test_half_a_file_is_none_to_go_on_from(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "scan.json"
    checkpoint.save(path, STATES[3], "f")
    path.write_text(path.read_text()[:cut])
    with pytest.raises(UnreadableError, match=r"scan\.json cannot be read"):
        checkpoint.load(path, "f")


def test_a_step_is_on_disk_when_the_keeper_comes_back(tmp_path: Path) -> None:
    seen: list[ScanState] = []
    with CheckpointWriter(tmp_path / "scan.json", "f", seen.append) as keep:
        keep(STATES[2])
        assert checkpoint.load(tmp_path / "scan.json", "f") == STATES[2]
    assert seen == [STATES[2]]


def test_the_length_under_way_reaches_the_disk_by_itself_with_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "HEARTBEAT_S", 0.01)
    saved = threading.Event()
    real_save = checkpoint.save

    def save(path: Path, state: ScanState, fingerprint: str) -> None:
        real_save(path, state, fingerprint)
        saved.set()

    monkeypatch.setattr(checkpoint, "save", save)
    with CheckpointWriter(tmp_path / "scan.json", "f", lambda state: None) as keep:
        keep.note(STATES[2])
        assert saved.wait(30)
    found = checkpoint.load(tmp_path / "scan.json", "f")
    assert found.under_way is not None
    assert found.under_way.best == UNDER_WAY.best
    assert found.scan_s > STATES[2].scan_s
