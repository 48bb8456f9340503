"""One rule, complete in itself: model.json and what it takes to apply it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data.kinds import RawKind
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Formula, Truth, missing_name
from fsm_hpc.formulas.language import Language
from fsm_hpc.models.source import Reading, Source
from fsm_hpc.search.constraints import named_in_words, of_named
from fsm_hpc.study.files import RulePaths
from fsm_hpc.study.result import Origin, Rounded, fingerprint
from fsm_hpc.system import files, serialization
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.serialization import OpenSchema, Valid
from fsm_hpc.system.value_types import Count, Length, Share

FORMAT = 3
KIND = "fsm_hpc model"
CHOSEN = "chosen "  # how the note begins that tells what spoke for it
DERIVED = ("kind", "latex", "words", "size")  # written for readers of the file

Class = str | int | float | bool  # what a rule may answer


class MissingWords(TypedDict, total=False):
    """What counted as missing in the table of a rule."""

    missing_values: list[str]
    zero_is_missing: list[str]


@dataclass(frozen=True)
class Model:
    """A formula with all that is needed to use it and to judge it."""

    formula: Formula
    target: str
    classes: tuple[Class, Class]  # what it says where the formula is false, and where it is true
    sources: tuple[Source, ...]  # the columns that it reads
    shares: tuple[Share, Share]  # of those classes among the fitted rows where it says them
    method: str
    rows: Count  # that it was fitted on
    errors: Count  # each with the weight of its row
    length: Length  # the bound that it is the best formula of
    proved: bool
    # of a formula whose rounder cuts cost errors: the proved one, and its errors
    before_rounding: Annotated[dict[str, Any] | None, OpenSchema(Rounded)] = None
    measure: str = "accuracy"  # what it is the best at
    weight: Count | None = None  # of all fitted rows together; None: their number
    stop_reason: str = ""  # why no longer formula was looked at
    cut: bool = False  # whether time ended the choice of length
    lengths: tuple[dict[str, Any], ...] = ()  # what every length brought
    figures: dict[str, Any] = field(default_factory=dict)  # what to expect of it
    stability: dict[str, Any] = field(default_factory=dict)  # what other rows would have given
    notes: tuple[str, ...] = ()  # what its user should know
    # how its table was read
    reading: Annotated[dict[str, Any], OpenSchema(MissingWords)] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    provenance: Annotated[dict[str, Any], OpenSchema(Origin)] = field(default_factory=dict)
    language: Language = Language.PAPER  # among whose formulas it is the best
    # what it was asked to have, and has
    constraints: Annotated[dict[str, Any], Valid(of_named)] = field(default_factory=dict)

    @property
    def branches(self) -> tuple[tuple[Class, Model], ...]:
        """What is said, and when; else the other class."""
        return ((self.classes[1], self),)

    @property
    def otherwise(self) -> Class:
        return self.classes[0]

    @property
    def is_chosen(self) -> bool:
        """Whether it was taken among formulas that are about as good, as a note then says."""
        return any(note.startswith(CHOSEN) for note in self.notes)

    @property
    def phrases(self) -> dict[str, tuple[str, str]]:
        """How its Boolean columns are said in words."""
        known = {s.name: (s.name, "true") for s in self.sources if s.kind is RawKind.BOOLEAN}
        for source in self.sources:
            known |= {f"{source.name}_{c}": (source.name, c) for c in source.categories}
            if source.keeps_missing:
                known[missing_name(source.name)] = (source.name, "missing")
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

    def refuse_unknown_columns(self, name: str) -> None:
        """A file whose formula asks for what none of its sources gives is no whole model."""
        given = {column for source in self.sources for column in source.names}
        absent = {p.column for p in self.formula.propositions()} - given
        if absent:
            raise UnreadableError(f"{name} is invalid: nothing gives {min(absent)!r}")

    def answers(self, truth: Truth) -> NDArray[Any]:
        """The class that it predicts for each row."""
        return np.asarray(np.array(self.classes, dtype=object)[truth.astype(int)])

    def shares_of(self, truth: Truth) -> NDArray[np.float64]:
        """The share of the predicted class among the fitted rows where it says the same."""
        return np.asarray(np.array(self.shares)[truth.astype(int)])


def content(model: Model) -> dict[str, Any]:
    """What model.json holds, with the texts that its readers want."""
    texts = {"latex": model.formula.latex(), "words": model.words, "size": model.formula.size}
    return {"kind": KIND, **serialization.header(FORMAT), **serialization.plain(model), **texts}


def kind_of_formula(model: Model) -> str:
    """What it is the best of: formulas of its length, of its language, under its constraints."""
    kind = "formula"
    if model.language is not Language.PAPER:
        kind = f"formula of the language {model.language.value}"
    kind = f"{kind} of size {model.length} or less"
    return f"{kind} that meets the constraints" if model.constraints else kind


def constraints_in_words(model: Model) -> str:
    """`require age; min_support 20`; nothing where there are none."""
    return named_in_words(model.constraints)


def save(path: Path, model: Model) -> None:
    files.write_json(path, content(model))


def quarantine_outdated(path: Path, settings: dict[str, Any], say: Callable[[str], None]) -> None:
    """Before model.json is written: keep, under a name that is told, one of other rows or
    settings."""
    told = files.make_room(path, serialization.read)
    saved = serialization.read(path)
    before = None if saved is None else saved.get("settings")
    if before is not None and fingerprint(before) != fingerprint(settings):
        told = f"{path.name} is of other rows or settings; kept as {files.quarantine(path)}"
    if told:
        say(told)


def is_model(path: Path) -> bool:
    """Whether the file says that it is a model."""
    try:
        saved = serialization.read(path)
    except UnreadableError:
        return False
    return saved is not None and saved.get("kind") == KIND


def place(named: Path) -> Path:
    """A model.json, named as such or by its folder."""
    return RulePaths(named).model if named.is_dir() else named


def of_saved(saved: dict[str, Any], name: str) -> Model:
    """The model that a file of that name holds."""
    values = serialization.without_header(saved, name, FORMAT)
    model = serialization.convert(Model, values, name, DERIVED)
    model.refuse_unknown_columns(name)
    return model


def load(path: Path) -> Model:
    """The model in the file, or an error that says what is there instead."""
    expected = f"{path}: expected a model.json that `fit` has written, found"
    try:
        saved = serialization.read(path)
        if saved is None:
            raise UserError(f"{expected} no file")
        if saved.get("kind") != KIND:
            raise UserError(f"{expected} something else")
        return of_saved(saved, path.name)
    except UnreadableError as error:
        raise UserError(f"{path}: {error}") from None
