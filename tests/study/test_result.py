"""result.json: every number is checked when it is read, and one of another fold is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.cli.main import main
from fsm_hpc.study import result
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.system.files import UnreadableError
from tests.support.command_line import place_of, said
from tests.support.made_studies import fold_result, put

FOLD = FoldId("hepatitis", "pivot", 0)


@pytest.fixture
def study(tmp_path: Path) -> StudyPaths:
    study = StudyPaths(tmp_path / "mine")
    put(study, *(fold_result("hepatitis", "pivot", fold) for fold in (0, 1)))
    return study


def change(path: Path, place: str, value: Any) -> None:
    """Put a value at `a.b.0.c` of the file."""
    saved = json.loads(path.read_text(encoding="utf-8"))
    *sections, name = [int(part) if part.isdigit() else part for part in place.split(".")]
    holder = saved
    for section in sections:
        holder = holder[section]
    holder[name] = value
    path.write_text(json.dumps(saved), encoding="utf-8")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("accuracy.test", 1.01),
        ("accuracy.train", -0.1),
        ("accuracy.validation", "0.9"),
        ("accuracy.test", float("nan")),
        ("seconds.scan", -1),
        ("seconds.final", float("inf")),
        ("size", 0),
        ("length_bound", 0),
        ("errors", -1),
        ("lower_bound", 1.5),
        ("proved", 1),
        ("proved", "false"),
        ("confusion.true_positive", -3),
        ("rows.train", -1),
        ("fold", -1),
        ("seed", 2**32),
        ("formula", "( and"),
        ("formula", "x >= 1e999"),
        ("settings.folds", 10**9),
        ("settings.folds", 0),
        ("settings.fold", 1),
        ("settings.fold_kind", "by chance"),
        ("provenance.job_ids", "17"),
        ("provenance.threads", 0),
        ("lengths.0.validation_accuracy", 2),
        ("lengths.0.proved", None),
        ("peak_rss_mb", -1),
    ],
)
def test_a_number_that_cannot_be_makes_it_unreadable(
    study: StudyPaths, place: str, value: Any
) -> None:
    path = study.fold(FOLD).result
    change(path, place, value)
    with pytest.raises(UnreadableError, match=r"result\.json"):
        result.read(path, FOLD)


def test_another_folds_result_is_told_by_every_command_alike(study: StudyPaths) -> None:
    paths = study.fold(FOLD)
    paths.result.write_bytes(study.fold(FOLD._replace(fold=1)).result.read_bytes())
    told = b"its result.json is of hepatitis/pivot/fold-1"
    sweep = ["dataset=hepatitis", "method=pivot", "cluster=local", "fold=0,1"]
    sweep += ["solver=native", "scan.plateau=null"]  # what the study has
    for words in (
        ["status", *place_of(study)],
        ["collect", *place_of(study)],
        ["plan", *sweep, *place_of(study)],
        ["explain", str(paths.folder)],
    ):
        _, printed = said(*words)
        assert told in printed, words[0]
    assert main(["report", *place_of(study)]) == 0
    assert told in study.report.read_bytes()
