"""The good set of a fold, beside its result."""

from __future__ import annotations

import csv
import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from fsm_hpc.errors import UserError
from fsm_hpc.report import collect, rows_csv
from fsm_hpc.report.tables.maker import Maker
from fsm_hpc.search.near_optimal import enumeration
from fsm_hpc.study import result
from fsm_hpc.study.compose import compose
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold import prepare
from fsm_hpc.study.run import run_fold


def config_of(folder: Path, *more: str) -> Config:
    words = ["dataset=hepatitis", "method=pivot", "scan.max_length=2", "solver=native"]
    return compose([*words, f"results_dir={folder}", "study=near", *more])


def test_a_fold_writes_its_alternatives_and_tells_how_many(tmp_path: Path) -> None:
    config = config_of(tmp_path, "scan.alternatives=2")
    done = run_fold(config)
    assert done is not None
    assert done.alternatives is not None
    fold = prepare(config)
    saved = json.loads(fold.paths.alternatives.read_text())
    assert done.alternatives == {
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
    table = next(t for t in Maker(study).all() if t.name == "alternatives")
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

        patched.setattr("fsm_hpc.search.near_optimal.good_set.enumerate_families", stopping)
        first = run_fold(config, stop)
    whole = run_fold(config)
    assert whole is not None
    assert first is None or first.alternatives == whole.alternatives
    assert whole.alternatives is not None
    assert whole.alternatives["complete"]


def test_what_no_set_is_defined_for_is_told_before_the_search(tmp_path: Path) -> None:
    config = config_of(tmp_path, "scan.alternatives=2", "cuts=midpoints")
    with pytest.raises(UserError, match="cuts of its own"):
        run_fold(config)
    with pytest.raises(UserError, match="slack"):
        run_fold(config_of(tmp_path, "scan.alternatives=1.5"))
