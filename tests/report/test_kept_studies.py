"""The studies that the repository keeps: `collect` gives their tables, byte for byte."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from fsm_hpc.study.files import StudyPaths
from scripts.keep_study import keep
from tests.support.command_line import place_of, run_verb

RESULTS = Path(__file__).parents[2] / "results"
STUDIES = ("paper", "paper_plateau", "more")
SHOWN = ("--paper", "--compare", "--names")  # as `make paper` collects them


def results_of(study: str) -> list[Path]:
    return sorted((RESULTS / study).rglob("result.json"))


@pytest.mark.parametrize("study", STUDIES)
def test_a_kept_study_has_the_tables_that_collect_gives(study: str, tmp_path: Path) -> None:
    shutil.copytree(
        RESULTS / study, tmp_path / study, ignore=shutil.ignore_patterns("tables", "*.csv")
    )
    paths = StudyPaths(tmp_path / study)
    assert run_verb("collect", *place_of(paths), *SHOWN) == 0
    kept = [path for path in (RESULTS / study).rglob("*") if path.parent.name == "tables"]
    assert kept
    for path in (*kept, *(RESULTS / study).glob("*.csv")):
        made = tmp_path / study / path.relative_to(RESULTS / study)
        assert made.read_bytes() == path.read_bytes(), path.name


@pytest.mark.parametrize("study", STUDIES)
def test_a_kept_study_names_no_place_of_the_machine_it_ran_on(study: str) -> None:
    for path in (RESULTS / study).rglob("*.json"):
        text = path.read_text(encoding="utf-8")
        assert '"/' not in text.replace('"/"', ""), path


@pytest.mark.parametrize("study", STUDIES)
def test_every_kept_formula_is_proved(study: str) -> None:
    for path in results_of(study):
        done = json.loads(path.read_text(encoding="utf-8"))
        assert done["proved"] is (done["solver"] != "optuna"), path


def test_keeping_a_study_takes_in_what_adds_to_it(tmp_path: Path) -> None:
    running, kept = tmp_path / "running", tmp_path / "kept"
    for number in range(3):
        fold = Path("hepatitis", "median", f"fold-{number}")
        shutil.copytree(RESULTS / "paper_plateau" / fold, running / fold)
    goes_on = running / "hepatitis" / "median" / "fold-2" / "scan.json"
    state = json.loads(goes_on.read_text(encoding="utf-8"))
    goes_on.write_text(json.dumps(state | {"stop_reason": None}), encoding="utf-8")
    assert keep(running, kept) == 2
    assert keep(running, kept) == 0
    cut = kept / "hepatitis" / "median" / "fold-0" / "result.json"
    done = json.loads(cut.read_text(encoding="utf-8"))
    cut.write_text(json.dumps(done | {"stop_reason": "timeout"}), encoding="utf-8")
    assert keep(running, kept) == 1
    assert not (kept / "hepatitis" / "median" / "fold-2").exists()


def test_a_fold_that_names_a_place_of_its_machine_is_not_kept(tmp_path: Path) -> None:
    fold = Path("hepatitis", "median", "fold-0")
    shutil.copytree(RESULTS / "paper_plateau" / fold, tmp_path / "running" / fold)
    found = tmp_path / "running" / fold / "result.json"
    done = json.loads(found.read_text(encoding="utf-8"))
    done["provenance"]["table"] = "/somewhere/table.csv"
    found.write_text(json.dumps(done), encoding="utf-8")
    assert keep(tmp_path / "running", tmp_path / "kept") == 0
