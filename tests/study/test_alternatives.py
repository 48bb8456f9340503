"""The good set of a fold, beside its result."""

from __future__ import annotations

import csv
import json
import shutil
import threading
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from fsm_hpc.errors import UserError
from fsm_hpc.report import collect, rows_csv
from fsm_hpc.report.findings import Finding, findings
from fsm_hpc.report.tables.builder import TableBuilder
from fsm_hpc.search.near_optimal import enumeration
from fsm_hpc.search.solvers.native import spread
from fsm_hpc.study import result
from fsm_hpc.study.compose import compose
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold import prepare
from fsm_hpc.study.run import run_fold
from tests.support.damage import damages
from tests.support.teams import Threads

LONG = tuple(pytest.param(n, marks=pytest.mark.slow) for n in range(88))


def config_of(folder: Path, *more: str) -> Config:
    words = ["dataset=hepatitis", "method=pivot", "scan.max_length=2", "solver=native"]
    return compose([*words, f"results_dir={folder}", "study=near", *more])


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """A fold that is done, and has its alternatives."""
    config = config_of(tmp_path_factory.mktemp("counted"), "scan.alternatives=2")
    assert run_fold(config) is not None
    return config


def test_a_fold_writes_its_alternatives_and_tells_how_many(tmp_path: Path) -> None:
    config = config_of(tmp_path, "scan.alternatives=2")
    done = run_fold(config)
    assert done is not None
    assert done.alternatives is not None
    fold = prepare(config)
    saved = json.loads(fold.paths.alternatives.read_text())
    assert done.alternatives["digest"]
    assert {k: v for k, v in done.alternatives.items() if k != "digest"} == {
        "slack": 2,
        "count": saved["count"],
        "families": len(saved["families"]),
        "complete": True,
    }
    assert (saved["optimum"], saved["bound"]) == (done.errors, done.length_bound)
    assert result.load(fold.paths.result, config.id) == done
    study = collect.read(StudyPaths(tmp_path / "near"))
    rows_csv.write(study, tmp_path / "folds.csv", tmp_path / "lengths.csv")
    line = next(csv.DictReader((tmp_path / "folds.csv").open()))
    assert line["alternatives"] == str(saved["count"])
    table = next(t for t in TableBuilder(study).all() if t.name == "alternatives")
    assert table.lines[0].cells[-1].value == saved["count"]


def test_alternatives_change_no_fingerprint_and_are_not_written_unasked(tmp_path: Path) -> None:
    config = config_of(tmp_path)
    done = run_fold(config)
    assert done is not None
    assert done.alternatives is None
    fold = prepare(config)
    assert not fold.paths.alternatives.exists()
    asked = prepare(replace(config, scan=replace(config.scan, alternatives=0.01)))
    assert asked.settings == fold.settings


def test_a_stop_while_they_are_searched_leaves_the_fold_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, stop = config_of(tmp_path, "scan.alternatives=2"), threading.Event()
    with monkeypatch.context() as patched:
        real = enumeration.enumerate_families

        def stopping(*args, **more):  # type: ignore[no-untyped-def]
            stop.set()
            return real(*args, **more)

        patched.setattr("fsm_hpc.search.near_optimal.rashomon.enumerate_families", stopping)
        first = run_fold(config, stop)
    whole = run_fold(config)
    assert whole is not None
    assert first is None or first.alternatives == whole.alternatives
    assert whole.alternatives is not None
    assert whole.alternatives["complete"]


def test_the_nodes_of_a_fold_find_the_set_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spread, "PART_S", 0.01)
    words = ("dataset=heart_disease", "fold=1", "scan.alternatives=3", "scan.max_length=4")
    helpers = Threads(2)
    found = []
    for study, nodes in (("one", None), ("three", helpers)):
        config = config_of(tmp_path, *words, f"study={study}")
        assert run_fold(config, helpers=nodes) is not None
        found.append(json.loads(prepare(config).paths.alternatives.read_text()))
    assert found[0] == found[1]
    assert helpers.given > 0


@pytest.mark.parametrize("number", [*range(0, 88, 9), *LONG])
def test_a_damaged_file_of_alternatives_is_a_finding(
    counted: Config, tmp_path: Path, number: int
) -> None:
    paths = prepare(counted).paths
    here = StudyPaths(Path(shutil.copytree(paths.study.root, tmp_path / "near")))
    file = here.fold(counted.id).alternatives
    before = _content(file)
    assert damage_told(here) == []
    next(islice(damages(0), number, None)).spoil(file)
    assert len(damage_told(here)) == (_content(file) != before)
    done = run_fold(replace(counted, results_dir=tmp_path))
    assert done is not None  # the fold itself is done, and stays so


@pytest.mark.parametrize("number", [*range(3, 88, 9), *LONG])
def test_a_fold_goes_on_past_whatever_is_in_the_place_of_its_files(
    counted: Config, tmp_path: Path, number: int
) -> None:
    whole = prepare(counted).paths
    here = StudyPaths(Path(shutil.copytree(whole.study.root, tmp_path / "near")))
    fold = here.fold(counted.id)
    fold.result.unlink()
    shutil.copy(fold.alternatives, fold.unfinished_alternatives)
    damage = next(islice(damages(0), number, None))
    if "newer" in damage.name:
        return  # which is refused: tests/study/test_newer_files.py
    damage.spoil(fold.alternatives)
    damage.spoil(fold.unfinished_alternatives)
    said: list[str] = []
    assert run_fold(replace(counted, results_dir=tmp_path), say=said.append) is not None
    assert fold.alternatives.read_text() == whole.alternatives.read_text()
    assert not fold.unfinished_alternatives.exists()
    kept_aside = list(fold.folder.glob(".damaged-*"))
    assert len(kept_aside) == len(said)


def damage_told(study: StudyPaths) -> list[Finding]:
    return [one for one in findings(collect.read(study), []) if one.kind == "alternatives"]


def _content(file: Path) -> str | None:
    """What is in it, if it is a file: true is not 1, and the version that wrote it is left out."""
    try:
        is_small = file.is_file() and file.stat().st_size < 2**20
        saved = json.loads(file.read_bytes()) if is_small else None
        if isinstance(saved, dict):
            saved.pop("version", None)
        return json.dumps(saved)
    except (OSError, ValueError, RecursionError):
        return None


def test_what_no_set_is_defined_for_is_told_before_the_search(tmp_path: Path) -> None:
    config = config_of(tmp_path, "scan.alternatives=2", "cuts=midpoints")
    with pytest.raises(UserError, match="does not have the default cuts"):
        run_fold(config)
    with pytest.raises(UserError, match="slack"):
        run_fold(config_of(tmp_path, "scan.alternatives=1.5"))
