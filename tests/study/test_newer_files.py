"""A file that a newer version wrote is reported as such, and no command replaces it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.cluster import arrays, attempts, cancellations, generations, submissions
from fsm_hpc.cluster.arrays import ArrayState
from fsm_hpc.study.compose import compose
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.system import process_identity
from fsm_hpc.system.serialization import NewerFormatError
from tests.support.command_line import place_of, said

FOLD = ("dataset=hepatitis", "method=median", "scan.max_length=1", "scan.alternatives=2")
SWEEP = (*FOLD, "fold=0", "cluster=local", "-m")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> StudyPaths:
    study = StudyPaths(tmp_path_factory.mktemp("results") / "default")
    command = [sys.executable, "-m", "fsm_hpc", *FOLD, *place_of(study)]
    subprocess.run(command, check=True, capture_output=True)  # a process that has ended
    paths = fold(study)
    shutil.copy(paths.alternatives, paths.unfinished_alternatives)
    return study


@pytest.fixture
def study(written: StudyPaths, tmp_path: Path) -> StudyPaths:
    return StudyPaths(Path(shutil.copytree(written.root, tmp_path / "default")))


def fold(study: StudyPaths) -> FoldPaths:
    return study.fold(compose([*FOLD, *place_of(study)]).id)


def make_newer(path: Path) -> None:
    """As a version that has added a field would have written it."""
    saved: dict[str, Any] = json.loads(path.read_text())
    path.write_text(json.dumps(saved | {"format": 99, "version": "9.9.9", "added": 1}))


def contents(study: StudyPaths, *names: str) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes() for path in study.root.rglob("*.json") if path.name in names
    }


def damaged(study: StudyPaths) -> list[Path]:
    return list(study.root.rglob(".damaged-*"))


COMMANDS: dict[str, tuple[str, ...]] = {
    "status": ("status",),
    "collect": ("collect",),
    "report": ("report",),
    "resume": ("resume",),
    "resume with more": ("resume", "scan.budget_h=100"),
    "plan": ("plan", *SWEEP[:-1]),
    "-m": SWEEP,
    "one fold": (*FOLD, "fold=0"),
    "cancel": ("cancel", "-y"),
    "logs": ("logs",),
}
REPORTING = ("status", "collect", "resume", "resume with more", "plan", "-m", "one fold", "cancel")


@pytest.mark.parametrize("name", ["result.json", "scan.json", "submission.json", "attempt.json"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_newer_file_of_a_fold_is_reported_and_stays(
    study: StudyPaths, name: str, command: str
) -> None:
    paths = fold(study)
    if name != "result.json":
        paths.result.unlink()  # the other files of a finished fold are not looked at
    make_newer(paths.folder / name)
    before = contents(study, "result.json", name)
    code, printed = said(*COMMANDS[command], *place_of(study))
    assert code in (0, 1, 2), printed.decode()
    if command in REPORTING:
        told = " ".join(printed.decode().split())
        assert f"{name} was written by a newer version of fsm_hpc (9.9.9)" in told
    assert contents(study, "result.json", name) == before
    assert not damaged(study)


def test_a_newer_attempt_of_a_fold_that_waits_is_reported(study: StudyPaths) -> None:
    paths = fold(study)
    paths.result.unlink()
    make_newer(paths.attempt)
    submission = json.loads(paths.submission.read_text())
    live = {"process": process_identity.of()}
    paths.submission.write_text(json.dumps(submission | live))
    _, printed = said("status", "--json", *place_of(study))
    (told,) = json.loads(printed)
    assert told["state"] == "queued"
    assert "attempt.json was written by a newer version" in told["reason"]


@pytest.mark.parametrize("name", ["scan.json", "submission.json", "attempt.json"])
def test_a_result_goes_on_only_where_no_file_beside_it_is_newer(
    study: StudyPaths, name: str
) -> None:
    paths = fold(study)
    done = json.loads(paths.result.read_text())
    paths.result.write_text(json.dumps(done | {"stop_reason": "timeout"}))
    make_newer(paths.folder / name)
    paths.result.touch()  # the last file that was written
    before = contents(study, "result.json", name)
    _, printed = said(*SWEEP, *place_of(study))
    assert f"{name} was written by a newer version" in " ".join(printed.decode().split())
    assert contents(study, "result.json", name) == before
    assert not damaged(study)


@pytest.mark.parametrize("name", ["alternatives.json", ".result.alternatives.json"])
def test_newer_alternatives_stop_the_fold_that_would_replace_them(
    study: StudyPaths, name: str
) -> None:
    paths = fold(study)
    paths.result.unlink()
    if name == paths.alternatives.name:
        paths.unfinished_alternatives.unlink()
    make_newer(paths.folder / name)
    before = (paths.folder / name).read_bytes()
    code, printed = said(*FOLD, "fold=0", *place_of(study))
    assert code == 2
    assert f"{name} was written by a newer version" in " ".join(printed.decode().split())
    assert (paths.folder / name).read_bytes() == before
    assert not damaged(study)


def test_newer_alternatives_are_no_reason_to_count_them_again(study: StudyPaths) -> None:
    make_newer(fold(study).alternatives)
    _, printed = said("collect", *place_of(study))
    told = " ".join(printed.decode().split())
    assert "alternatives.json was written by a newer version" in told
    assert "counts them again" not in told


@pytest.mark.parametrize("command", ["-m", "resume", "resume with more", "plan"])
def test_a_newer_study_file_is_reported_and_stays(study: StudyPaths, command: str) -> None:
    make_newer(study.settings)
    before = study.settings.read_bytes()
    code, printed = said(*COMMANDS[command], *place_of(study))
    assert code in (0, 2), printed.decode()
    if code:
        assert "study.json was written by a newer version" in " ".join(printed.decode().split())
    assert study.settings.read_bytes() == before
    assert not damaged(study)


@pytest.fixture
def array(study: StudyPaths) -> Path:
    submission = submissions.load(fold(study))
    assert submission is not None
    output = study.submissions / "one"
    member = (fold(study), replace(submission, token="array", output=str(output)))
    arrays.with_state(arrays.save([member], "one", False, [1]), ArrayState.SENT, "1")
    return output


def test_a_job_refuses_a_newer_array_and_does_not_take_it_for_withdrawn(array: Path) -> None:
    make_newer(array / arrays.FILE)
    with pytest.raises(NewerFormatError):
        arrays.folds_of_this_job(array)


@pytest.mark.parametrize("command", ["status", "-m", "cancel"])
def test_a_newer_array_stays_and_stops_no_command(
    study: StudyPaths, array: Path, command: str
) -> None:
    make_newer(array / arrays.FILE)
    before = (array / arrays.FILE).read_bytes()
    code, printed = said(*COMMANDS[command], *place_of(study))
    assert code == 0, printed.decode()
    assert (array / arrays.FILE).read_bytes() == before


@pytest.mark.parametrize("command", ["status", "-m", "cancel"])
def test_newer_cancellations_stay_and_stop_no_command(
    study: StudyPaths, array: Path, command: str
) -> None:
    cancellations.cancel(arrays.read(array).members())
    make_newer(array / cancellations.FILE)
    before = (array / cancellations.FILE).read_bytes()
    code, printed = said(*COMMANDS[command], *place_of(study))
    assert code == 0, printed.decode()
    assert (array / cancellations.FILE).read_bytes() == before


def test_a_newer_generation_is_refused_before_anything_is_sent(study: StudyPaths) -> None:
    generations.remember(study, 3)
    make_newer(study.generation)
    with pytest.raises(NewerFormatError):
        generations.next_of_study(study)
    assert not damaged(study)


def test_an_attempt_gives_way_to_one_of_a_newer_version(study: StudyPaths) -> None:
    paths = fold(study)
    mine = attempts.load(paths)
    assert mine is not None
    assert attempts.is_mine(paths, mine)
    make_newer(paths.attempt)
    assert not attempts.is_mine(paths, mine)


@pytest.fixture(scope="module", params=["ab", "abc"])
def fitted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of these classes, and its rule in `rule`."""
    folder, classes = tmp_path_factory.mktemp("fitted"), request.param
    lines = [f"{number},{classes[number % len(classes)]}" for number in range(30)]
    (folder / "table.csv").write_text("\n".join(["x,y", *lines]) + "\n")
    assert said(*fit(folder))[0] == 0
    make_newer(folder / "rule" / "model.json")
    return folder


def fit(folder: Path) -> tuple[str, ...]:
    words = ("dataset=csv", f"dataset.path={folder / 'table.csv'}", "dataset.target=y")
    return ("fit", *words, "method=median", "fit.folds=0", f"out={folder / 'rule'}")


@pytest.mark.parametrize("command", ["predict", "export", "explain", "fit", "alternatives"])
def test_a_newer_rule_is_reported_and_stays(fitted: Path, command: str) -> None:
    rule = fitted / "rule"
    before = (rule / "model.json").read_bytes()
    words = {
        "predict": ("predict", str(rule), str(fitted / "table.csv")),
        "export": ("export", str(rule), "--to", "sql"),
        "explain": ("explain", str(rule)),
        "fit": fit(fitted),
        "alternatives": ("alternatives", str(rule), "slack=1"),
    }
    code, printed = said(*words[command])
    assert code == 2
    assert "model.json was written by a newer version of fsm_hpc" in printed.decode()
    assert (rule / "model.json").read_bytes() == before
    assert not list(rule.glob(".damaged-*"))
