"""Another model's answers in a file, to stand in place of a table's target."""

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

COLUMN = "prediction"  # where `predict` and others write them


def read(path: Path, rows: int, kept: Sequence[int], classes: tuple[str, str]) -> NDArray[np.bool_]:
    """Whether the answer is the second class, for the rows of the table that are kept."""
    answers = _column(path)
    if len(answers) != rows:
        raise UserError(
            f"{path}: expected an answer for each of the {counted(rows, 'row')} of the table, "
            f"found {len(answers)}"
        )
    meant = {answer: texts.match(answer, classes) for answer in set(answers)}
    strange = sorted(answer for answer, value in meant.items() if value is None)
    if strange:
        raise UserError(
            f"{path}: expected the answers {classes[0]} and {classes[1]}, found {strange[0]!r}"
        )
    labels = np.array([meant[answers[row]] == classes[1] for row in kept])
    if labels.all() or not labels.any():
        raise UserError(f"{path}: expected both answers, found {answers[0]!r} only")
    return labels


def _column(path: Path) -> list[str]:
    if not path.is_file():
        raise UserError(f"labels: there is no file {path}")
    table = reader.read(store.read_bytes(path), path, DatasetSpec(name="labels", target=""))
    names = list(table.columns)
    column = table.columns[COLUMN if COLUMN in names else names[-1]].as_text()
    return list(column.spread(np.array(column.texts, dtype=object), ""))
