"""The studies that the repository keeps: `collect` gives their tables, byte for byte."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from fsm_hpc.study.files import StudyPaths
from tests.support.command_line import place_of, run_verb

RESULTS = Path(__file__).parents[2] / "results"
STUDIES = ("paper", "paper_plateau")
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


def test_every_kept_formula_is_proved() -> None:
    for path in results_of("paper_plateau"):
        done = json.loads(path.read_text(encoding="utf-8"))
        assert done["proved"] is (done["solver"] != "optuna"), path
