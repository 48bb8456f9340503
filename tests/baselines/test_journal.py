"""The journal of trials: a damaged line costs its trial, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fsm_hpc.baselines import journal
from tests.support.damage import ODD

WRITTEN = Path(__file__).parents[1] / "version_0_1/old/hepatitis/random_forest/fold-0/trials.log"
LINES = WRITTEN.read_text().splitlines()
NAME = json.loads(LINES[0])["study_name"]
STARTS = [n for n, line in enumerate(LINES) if '"op_code":4' in line]


def trials(path: Path, told: list[str]) -> list[tuple[dict[str, Any], float]]:
    study = journal.open_study(path, NAME, told.append)
    complete = [t for t in study.get_trials(deepcopy=False) if t.state.name == "COMPLETE"]
    return [(t.params, t.value) for t in complete]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[dict[str, Any], float]]:
    path = tmp_path_factory.mktemp("whole") / "trials.log"
    path.write_text("\n".join(LINES) + "\n")
    told: list[str] = []
    found = trials(path, told)
    assert (len(found), told) == (3, [])
    return found


def trial_of(line: int) -> int:
    return sum(start <= line for start in STARTS) - 1


@pytest.mark.parametrize("line", range(1, len(LINES)))
@pytest.mark.parametrize("bad", ["", "half of", "[]", '{"op_code": 77}'])
def test_a_bad_line_costs_its_trial(tmp_path: Path, whole: list[Any], line: int, bad: str) -> None:
    path, told = tmp_path / "trials.log", list[str]()
    path.write_text("\n".join([*LINES[:line], bad, *LINES[line + 1 :]]) + "\n")
    lost = trial_of(line)
    assert trials(path, told) == [*whole[:lost], *whole[lost + 1 :]]
    (kept,) = tmp_path.glob(".damaged-trials.log-*")
    assert told == [f"trials.log has damaged lines: 2 trials are whole; kept as {kept.name}"]


@pytest.mark.parametrize("seed", range(60))
def test_whatever_a_line_says_no_trial_becomes_another(
    tmp_path: Path, whole: list[Any], seed: int
) -> None:
    random = Random(seed)
    at = random.randrange(1, len(LINES))
    line = json.loads(LINES[at])
    key = random.choice(sorted(line))
    line[key] = random.choice(ODD)
    path = tmp_path / "trials.log"
    path.write_text("\n".join([*LINES[:at], json.dumps(line), *LINES[at + 1 :]]) + "\n")
    found = trials(path, [])
    lost = trial_of(at)
    others = [*whole[:lost], *whole[lost + 1 :]]
    if len(found) == 3:  # what fits in its place is as good as what was there
        found.pop(lost)
    assert found == others


def test_a_torn_last_line_is_dropped_without_a_word(tmp_path: Path, whole: list[Any]) -> None:
    path, told = tmp_path / "trials.log", list[str]()
    path.write_text("\n".join(LINES) + '\n{"op_code":4,"wor')
    assert trials(path, told) == whole
    assert told == []


def test_a_journal_that_is_no_file_begins_anew(tmp_path: Path) -> None:
    (tmp_path / "folder.log").mkdir()
    (tmp_path / "link.log").symlink_to("nothing")
    for name in ("folder.log", "link.log"):
        told: list[str] = []
        assert trials(tmp_path / name, told) == []
        assert "kept as .damaged-" in told[0]


def test_trials_whose_study_is_not_known_are_not_taken(tmp_path: Path) -> None:
    path, told = tmp_path / "trials.log", list[str]()
    path.write_text("\n".join(["?", *LINES[1:]]) + "\n")
    assert trials(path, told) == []
    assert "0 trials are whole" in told[0]
