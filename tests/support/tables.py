"""Where tests find tables, and specs for tables that they write themselves."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.data.dataset import Dataset, load
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.study.compose import compose

SHARED = Path(__file__).parents[3] / "shared" / "data"  # the paper's files, beside the project
NAMES = (
    "bank",
    "breast_cancer",
    "diabetes",
    "german_credit",
    "heart_disease",
    "hepatitis",
    "student_dropout",
)
MORE_NAMES = (  # shipped beside them
    "breast_cancer_diagnostic",
    "car_evaluation",
    "fertility",
    "haberman_survival",
    "hypothyroid",
    "ionosphere",
    "mammographic_mass",
    "spectf_heart",
)
SHIPPED = tuple(name for name in NAMES if name not in ("diabetes", "student_dropout"))


@cache
def spec_of(name: str, *overrides: str) -> DatasetSpec:
    return compose([f"dataset={name}", "method=pivot", *overrides]).dataset


def own_table(folder: Path, text: str | bytes, target: str = "y", **changes: Any) -> Dataset:
    """What `dataset=csv` makes of a file with this content."""
    path = folder / changes.pop("file", "my.csv")
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load(replace(spec_of("csv"), path=str(path), target=target, **changes), None)


def shared_file(name: str) -> Path:
    """A file of the paper's authors; the test says so and is skipped where there is none."""
    path = SHARED / name
    if not path.is_file():
        pytest.skip(f"../shared/data/{name} is not here, so this was not tested")
    return path
