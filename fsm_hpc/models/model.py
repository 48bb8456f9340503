"""One rule, complete in itself: model.json and what it takes to apply it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fsm_hpc
from fsm_hpc.data.kinds import RawKind
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Formula, Truth
from fsm_hpc.formulas.parser import parse
from fsm_hpc.models.source import Reading, Source
from fsm_hpc.system import files

FORMAT = 1
KIND = "fsm_hpc model"
FILE, CARD = "model.json", "model.html"  # what `fit` writes


@dataclass(frozen=True)
class Model:
    """A formula with all that is needed to use it and to judge it."""

    formula: Formula
    target: str
    classes: tuple[Any, Any]  # what it says where the formula is false, and where it is true
    sources: tuple[Source, ...]  # the columns that it reads
    shares: tuple[float, float]  # of those classes among the fitted rows where it says them
    method: str
    rows: int  # that it was fitted on
    errors: int
    length: int  # the bound that it is the best formula of
    proved: bool
    stop_reason: str = ""  # why no longer formula was looked at
    cut: bool = False  # whether time ended the choice of length
    lengths: tuple[dict[str, Any], ...] = ()  # what every length brought
    figures: dict[str, Any] = field(default_factory=dict)  # what to expect of it
    stability: dict[str, Any] = field(default_factory=dict)  # what other rows would have given
    notes: tuple[str, ...] = ()  # what its user should know
    reading: dict[str, Any] = field(default_factory=dict)  # what counted as missing in its table
    settings: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def phrases(self) -> dict[str, tuple[str, str]]:
        """How its Boolean columns are said in words."""
        known = {s.name: (s.name, "true") for s in self.sources if s.kind is RawKind.BOOLEAN}
        for source in self.sources:
            known |= {f"{source.name}_{c}": (source.name, c) for c in source.categories}
        return known

    @property
    def words(self) -> str:
        """`Predict y = yes when age is at least 40; otherwise y = no.`"""
        no, yes = (f"{self.target} = {value}" for value in self.classes)
        return f"Predict {yes} when {self.formula.words(self.phrases)}; otherwise {no}."

    def read(self, table: Mapping[str, Any], rows: int) -> tuple[Truth, Reading]:
        """The formula's truth on every row of a table, and what was noticed in reading it."""
        missing = [source.name for source in self.sources if source.name not in table]
        if missing:
            found = ", ".join(map(str, list(table)[:20]))
            names = ", ".join(map(repr, missing))
            raise UserError(f"expected the columns {names}, which are not there; found: {found}")
        reading = Reading(rows)
        columns = [c for s in self.sources for c in s.columns(table[s.name], reading)]
        if reading.problems:
            raise UserError("; ".join(reading.problems))
        return self.formula.evaluate({c.name: c.values for c in columns}), reading

    def answers(self, truth: Truth) -> NDArray[Any]:
        """The class that it predicts for each row."""
        return np.asarray(np.array(self.classes, dtype=object)[truth.astype(int)])

    def shares_of(self, truth: Truth) -> NDArray[np.float64]:
        """The share of the predicted class among the fitted rows where it says the same."""
        return np.asarray(np.array(self.shares)[truth.astype(int)])

    def to_dict(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        sources = [asdict(s) | {"kind": s.kind.value} for s in self.sources]
        texts = {"latex": self.formula.latex(), "words": self.words, "size": self.formula.size}
        return {
            "kind": KIND,
            "format": FORMAT,
            **values,
            "formula": str(self.formula),
            **texts,
            "sources": sources,
        }


def save(path: Path, model: Model) -> None:
    files.write_json(path, model.to_dict())


def is_model(path: Path) -> bool:
    """Whether the file says that it is a model."""
    saved = files.read_json(path)
    return saved is not None and saved.get("kind") == KIND


def place(named: Path) -> Path:
    """A model.json, named as such or by its folder."""
    return named / FILE if named.is_dir() else named


def load(path: Path) -> Model:
    """The model in the file, or an error that says what is there instead."""
    saved = files.read_json(path)
    if saved is None or saved.get("kind") != KIND:
        what = "no file" if not path.exists() else "something else"
        raise UserError(f"{path}: expected a model.json that `fit` has written, found {what}")
    if saved.get("format") != FORMAT:
        by = saved.get("provenance", {}).get("version", "another version")
        raise UserError(
            f"{path}: expected a model of format {FORMAT}, found {saved.get('format')}, written by "
            f"fsm_hpc {by}; this is {fsm_hpc.__version__}"
        )
    try:
        return _from_dict(saved)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{path}: the model is damaged: {error!r}") from None


def _from_dict(saved: dict[str, Any]) -> Model:
    derived = ("kind", "format", "latex", "words", "size")
    values = {name: value for name, value in saved.items() if name not in derived}
    lists = {name: tuple(values[name]) for name in ("classes", "shares", "lengths", "notes")}
    model = Model(**{**values, **lists, "formula": parse(values["formula"]), "sources": ()})
    sources = tuple(
        Source(
            one["name"],
            RawKind(one["kind"]),
            tuple(one["categories"]),
            tuple(one["true_values"]),
            tuple(one["false_values"]),
            one.get("place"),
        )
        for one in values["sources"]
    )
    return replace(model, sources=sources)
