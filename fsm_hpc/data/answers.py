"""Read the predictions of another model, which replace the target of a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data import reader, store
from fsm_hpc.data.kinds import texts
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError
from fsm_hpc.system.numbers import counted

COLUMN = "prediction"  # the column that `predict` writes


def read(path: Path, rows: int, kept: Sequence[int], classes: tuple[str, str]) -> NDArray[np.bool_]:
    """Whether the prediction is the second class, for the kept rows of the table."""
    answers = _column(path)
    if len(answers) != rows:
        raise UserError(
            f"{path}: expected an answer for each of the {counted(rows, 'row')} of the table, "
            f"found {len(answers)}"
        )
    class_of = {answer: texts.match(answer, classes) for answer in set(answers)}
    unknown = sorted(answer for answer, value in class_of.items() if value is None)
    if unknown:
        raise UserError(
            f"{path}: expected the answers {classes[0]} and {classes[1]}, found {unknown[0]!r}"
        )
    labels = np.array([class_of[answers[row]] == classes[1] for row in kept])
    if labels.all() or not labels.any():
        raise UserError(f"{path}: expected both answers, found {answers[0]!r} only")
    return labels


def _column(path: Path) -> list[str]:
    if not path.is_file():
        raise UserError(f"labels: there is no file {path}")
    table = reader.read(store.read_bytes(path), path, DatasetSpec(name="labels", target=""))
    names = list(table.columns)
    return list(table.columns[COLUMN if COLUMN in names else names[-1]].text_by_row())
