"""Tables that are parsed once and written to every format as typed frames."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import polars as pl

from fsm_hpc.data.columns import Column
from fsm_hpc.data.dataset import Dataset, load
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds import ColumnSchema
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError
from tests.support.rules import HOSTILE_CATEGORIES, HOSTILE_NAMES
from tests.support.tables import SHARED, spec_of

FORMATS = ("csv", "parquet", "xlsx")
_ROWS = 40


@dataclass(frozen=True)
class TypedTable:
    """A frame with a type for each column, and the kinds that its user gives them."""

    frame: pd.DataFrame
    spec: DatasetSpec
    labels: np.ndarray

    @property
    def feature_types(self) -> dict[str, str]:
        known = {name: self.spec.kind_of(name) for name in self.frame.columns}
        return {name: kind.value for name, kind in known.items() if kind is not None}

    def write(self, path: Path) -> DatasetSpec:
        """The file in the format that its name says; with it, the settings to load it by."""
        frame = self.frame.assign(**{self.spec.target: np.where(self.labels, "in", "out")})
        if path.suffix == ".csv":
            frame.to_csv(path, index=False)
        elif path.suffix == ".parquet":
            frame.to_parquet(path)
        else:
            _write_workbook(frame, path)
        return replace(self.spec, path=str(path))

    @property
    def polars(self) -> pl.DataFrame:
        return pl.from_pandas(self.frame)


def shipped(name: str) -> TypedTable:
    """One of the seven tables, or of the eight further ones."""
    return _typed(load(spec_of(name), SHARED if SHARED.is_dir() else None))


def hostile(seed: int, folder: Path) -> TypedTable:
    """A random table with hostile names and contents; seeds of refused tables go on."""
    rng = random.Random(seed)
    while True:
        path = folder / "hostile.csv"
        path.write_text(_hostile_text(rng), encoding="utf-8")
        try:
            return _typed(load(replace(spec_of("csv"), path=str(path), target="the target"), None))
        except UserError:
            continue


def _hostile_text(rng: random.Random) -> str:
    names = {" ".join(name.split()).casefold(): name for name in HOSTILE_NAMES if name.strip()}
    chosen = rng.sample(list(names.values()), rng.randint(3, 6))
    columns = [_cells(rng) for _ in chosen]
    target = [rng.choice(["good", "bad"]) for _ in range(_ROWS)]
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow([*chosen, "the target"])
    writer.writerows(zip(*columns, target, strict=True))
    return stream.getvalue()


def _cells(rng: random.Random) -> list[str]:
    kind = rng.choice(["real", "whole", "truth", "category", "category", "date"])
    words = rng.sample(HOSTILE_CATEGORIES, rng.randint(2, 6))
    makers: dict[str, Callable[[], str]] = {
        "real": lambda: f"{rng.choice((rng.gauss(0, 1), rng.uniform(0, 1e-7), 1e300, -0.0)):.12g}",
        "whole": lambda: str(rng.randint(-5, 10**6)),
        "truth": lambda: rng.choice(("yes", "No", "YES")),
        "category": lambda: rng.choice(words),
        "date": lambda: f"20{rng.randint(10, 40)}-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}",
    }
    make = makers[kind]
    missing = rng.choice((0.0, 0.0, 0.05))
    return ["NA" if rng.random() < missing else make() for _ in range(_ROWS)]


def _typed(dataset: Dataset) -> TypedTable:
    columns = {s.name: _column(s, dataset) for s in dataset.schemas}
    lists: dict[str, Any] = {
        kind.value: tuple(s.name for s in dataset.schemas if s.kind is kind) for kind in KindName
    }
    lists |= {"ordered": {}}
    spec = DatasetSpec("typed", dataset.target, positive="in", infer=True)
    frame: pd.DataFrame = pd.DataFrame(columns)
    return TypedTable(frame, replace(spec, **lists), dataset.labels)


def _column(schema: ColumnSchema, dataset: Dataset) -> Any:
    made = list(_own(schema, dataset))
    if schema.kind is KindName.CATEGORICAL:
        places = np.argmax([column.values for column in made], axis=0)
        return pd.Categorical([str(made[at].category) for at in places])
    if schema.kind is KindName.DATE:
        return made[0].values.astype("M8[D]").astype("M8[us]")
    if made[0].values.dtype.kind == "f":  # a sheet holds 15 digits of a number
        return np.array([float(f"{value:.15g}") for value in made[0].values])
    return made[0].values


def _own(schema: ColumnSchema, dataset: Dataset) -> Iterator[Column]:
    return (column for column in dataset.columns if column.name in schema.one_hot_names)


def _write_workbook(frame: pd.DataFrame, path: Path) -> None:
    """Cells with the types of the frame; a text is no formula, whatever it begins with."""
    book = openpyxl.Workbook()
    for at, name in enumerate(frame.columns, start=1):
        for row, value in enumerate([name, *frame[name].tolist()], start=1):
            cell = book.active.cell(row, at, value)
            if isinstance(value, str):
                cell.value, cell.data_type = value, "s"
    book.save(path)
