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
from tests.models.test_exporters import CASES, THERE
from tests.support.rules import Case, shipped_case

needs_r = pytest.mark.skipif(shutil.which("Rscript") is None, reason="Rscript is not installed")


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
    names = [name for name in CASES if name.split("-")[0] not in THERE]
    _check([CASES[name]() for name in names], tmp_path)


@needs_r
def test_the_seven_tables_have_the_same_answers_in_r(tmp_path: Path) -> None:
    kinds = [(name, is_text) for name in THERE for is_text in (False, True)]
    _check([shipped_case(name, Method.PIVOT, is_text, 3) for name, is_text in kinds], tmp_path)


def _check(cases: list[Case], folder: Path) -> None:
    expected = {case.name: list(map(plain, case.expected)) for case in cases}
    assert expected == _answers(cases, folder)
