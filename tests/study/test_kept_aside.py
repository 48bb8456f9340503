"""A file that is not understood is kept aside and named before a fold is computed again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.study.compose import compose
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.study.fold import fold_paths
from fsm_hpc.study.result import FoldResult
from fsm_hpc.study.run import run_fold
from fsm_hpc.system.serialization import NewerFormatError
from tests.support.fakes import LadderSolver


@pytest.fixture
def config(tmp_path: Path) -> Config:
    fold = ["dataset=hepatitis", "method=median", "fold=0", "scan.max_length=3"]
    return compose([*fold, f"results_dir={tmp_path}"])


def run(config: Config, told: list[str]) -> FoldResult:
    done = run_fold(config, solver_of=lambda *_: LadderSolver(), say=told.append)
    assert done is not None
    return done


def kept(paths: FoldPaths, name: str) -> list[Path]:
    return list(paths.folder.glob(f".damaged-{name}-*"))


def test_a_damaged_result_is_kept_and_computed_again(config: Config) -> None:
    first, told = run(config, []), list[str]()
    paths = fold_paths(config)
    damaged = paths.result.read_bytes()[:-40]
    paths.result.write_bytes(damaged)
    again = run(config, told)
    assert again.formula == first.formula
    (there,) = kept(paths, "result.json")
    assert there.read_bytes() == damaged
    assert there.name in told[0]


def test_another_folds_result_is_kept_aside_not_overwritten(config: Config) -> None:
    other, told = replace(config, fold=1), list[str]()
    run(other, [])
    paths = fold_paths(config)
    paths.folder.mkdir(parents=True)
    paths.result.write_bytes(fold_paths(other).result.read_bytes())
    run(config, told)
    assert "its result.json is of hepatitis/median/fold-1" in told[0]
    assert kept(paths, "result.json")[0].read_bytes() == fold_paths(other).result.read_bytes()


def test_a_newer_result_is_refused_and_stays(config: Config) -> None:
    run(config, [])
    path = fold_paths(config).result
    newer = json.loads(path.read_text()) | {"format": 99, "version": "9.9"}
    path.write_text(json.dumps(newer))
    with pytest.raises(NewerFormatError, match=r"written by a newer version of fsm_hpc \(9\.9\)"):
        run(config, [])
    assert json.loads(path.read_text()) == newer


def _fewer_errors(saved: dict[str, Any]) -> None:
    saved["lengths"][0]["errors"] = 0


def _another_formula(saved: dict[str, Any]) -> None:
    saved["lengths"][1]["formula"] = "age > 5"


def _no_column(saved: dict[str, Any]) -> None:
    saved["lengths"][0]["formula"] = "there_is_none"


def _no_formula(saved: dict[str, Any]) -> None:
    saved["lengths"][0]["formula"] = "( and"


def _a_length_left_out(saved: dict[str, Any]) -> None:
    del saved["lengths"][1]


def _a_wrong_final(saved: dict[str, Any]) -> None:
    saved["final"]["best"]["errors"] += 1


def _no_number(saved: dict[str, Any]) -> None:
    saved["scan_s"] = "long"


@pytest.mark.parametrize(
    "lie",
    [
        *(_fewer_errors, _another_formula, _no_column, _no_formula, _a_length_left_out),
        *(_a_wrong_final, _no_number),
    ],
)
def test_a_state_that_says_what_is_not_so_is_not_gone_on_from(config: Config, lie: Any) -> None:
    first, told = run(config, []), list[str]()
    paths = fold_paths(config)
    saved = json.loads(paths.scan.read_text())
    lie(saved)
    paths.scan.write_text(json.dumps(saved))
    paths.result.unlink()
    again = run(config, told)
    assert (again.formula, again.errors) == (first.formula, first.errors)
    assert len(kept(paths, "scan.json")) == 1
    assert "kept as .damaged-scan.json-" in told[0]


def test_a_state_that_holds_is_gone_on_from(config: Config) -> None:
    run(config, [])
    fold_paths(config).result.unlink()
    told: list[str] = []
    run(config, told)
    assert (told, kept(fold_paths(config), "scan.json")) == ([], [])
