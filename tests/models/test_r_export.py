"""A rule in R says what it says in Python, on shipped tables and on hostile ones."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.models.exporters import export
from fsm_hpc.models.exporters.conditions import plain
from fsm_hpc.models.exporters.r import _literal
from fsm_hpc.search.method import Method
from tests.support.rules import Case, missing_case, random_case, shipped_case

needs_r = pytest.mark.skipif(shutil.which("Rscript") is None, reason="Rscript is not installed")
TABLES = (
    *("bank", "breast_cancer", "diabetes", "german_credit", "heart_disease", "hepatitis"),
    "student_dropout",
)


def _column(values: list[Any]) -> str:
    known = ["NA" if value is None else _literal(plain(value)) for value in values]
    return f"c({', '.join(known)})"


def _script(case: Case) -> str:
    """Print for each row the place of its answer among the classes."""
    names = ", ".join(map(_literal, case.table))
    columns = ", ".join(map(_column, case.table.values()))
    classes = _column([plain(one) for one in case.model.classes])
    return (
        f"{export(case.model, 'r')}\ndata <- list({columns})\nnames(data) <- c({names})\n"
        f'cat(match(predict_rule(data), {classes}), "\\n")\n'
    )


def _answers(cases: list[Case], folder: Path) -> dict[str, list[Any]]:
    path = folder / "rules.R"
    path.write_text("\n".join(map(_script, cases)), encoding="utf-8")
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    command = ["Rscript", "--vanilla", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = done.stdout.splitlines()
    return {
        case.name: [plain(case.model.classes[int(place) - 1]) for place in line.split()]
        for case, line in zip(cases, lines, strict=True)
    }


@needs_r
def test_hostile_tables_have_the_same_answers_in_r(tmp_path: Path) -> None:
    cases = [random_case(seed, seed % 2 == 1) for seed in range(50)]
    cases += [missing_case(seed) for seed in range(20)]
    found = _answers(cases, tmp_path)
    assert {case.name: list(map(plain, case.expected)) for case in cases} == found


@needs_r
def test_the_seven_tables_have_the_same_answers_in_r(tmp_path: Path) -> None:
    cases = [shipped_case(name, Method.PIVOT, False, 3) for name in TABLES]
    found = _answers(cases, tmp_path)
    assert {case.name: list(map(plain, case.expected)) for case in cases} == found
