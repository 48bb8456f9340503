"""A model of one or more rules, complete in itself: model.json and what it takes to apply it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data.frames import of_values
from fsm_hpc.data.kinds import ColumnSchema, Reading
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Formula, Truth
from fsm_hpc.formulas.language import Language
from fsm_hpc.models import legacy
from fsm_hpc.models.notes import Note, NoteKind
from fsm_hpc.search.constraints import of_named
from fsm_hpc.search.proof import ProofLevel, Verification, level
from fsm_hpc.system import files, serialization
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.serialization import OpenSchema, Valid
from fsm_hpc.system.value_types import Count, Length, Share

FORMAT = 4
KIND = "fsm_hpc model"
FILE = "model.json"
_DERIVED = (  # written for readers of the file
    *("kind", "classes", "formula", "words", "proved", "stop_reason"),
    *("rules.latex", "rules.words", "rules.size", "rules.proof"),
)

Class = str | int | float | bool  # what a rule may predict
Chosen = NDArray[np.int64]  # of each row: the predicted class, by its place in `Model.classes`
_TIMED_OUT = ("timeout", "out_of_memory")


class MissingWords(TypedDict, total=False):
    """What counted as missing in the table of a rule."""

    missing_values: list[str]
    zero_is_missing: list[str]


class ModelOrigin(TypedDict, total=False):
    """What readers of `provenance` rely on."""

    table: str | None
    version: str | None
    commit: str | None
    host: str | None


class BeforeRounding(TypedDict):
    """A formula before its thresholds were rounded."""

    formula: str
    errors: Count


@dataclass(frozen=True)
class Coverage:
    """Fitted rows that get a prediction, and how many of the class are among them."""

    support: Count
    precision: Share | None
    recall: Share | None


@dataclass(frozen=True)
class Rule:
    """A formula, the class that it predicts where it holds, and what is known about it."""

    formula: Formula
    prediction: Class
    length: Length  # the bound that it is the best formula of
    errors: Count  # of this class against the others, each with the weight of its row
    proved: bool
    precision: Share  # of the fitted rows where it holds, those of the class
    support: Count | None = None  # fitted rows where it holds; None in files of version 0.2
    recall: Share | None = None  # of the fitted rows of the class, those where it holds
    weight: Count | None = None  # of all fitted rows together; None: their number
    lower_bound: Count = 0  # no formula within the length makes fewer errors
    proved_length: Count = 0  # the largest length up to which it is proved to be the best
    stop_reason: str = ""  # why the search looked at no longer formula
    timed_out: bool = False  # whether time ended the choice of the length
    lengths: tuple[dict[str, Any], ...] = ()  # the result of every length
    # of a formula whose rounder cuts cost errors: the proved one, and its errors
    before_rounding: BeforeRounding | None = None
    stability: dict[str, Any] = field(default_factory=dict)  # formulas of the folds
    data: str = ""  # digest of the table, with the labels of this class against the others
    verification: Verification | None = None  # by the independent checker, where it was run

    @property
    def proof(self) -> ProofLevel:
        return level(self.proved, self.verification)

    @property
    def size(self) -> int:
        return self.formula.size

    def __repr__(self) -> str:
        return f"Rule({str(self.formula)!r} -> {self.prediction!r})"


@dataclass(frozen=True)
class Model:
    """Rules that are asked in their order; the first that holds gives the prediction.

    Two classes have one rule, for the second of them. More have one for each, in the order of their
    precision on the fitted rows. Where none holds the prediction is `otherwise`.
    """

    target: str
    rules: tuple[Rule, ...]
    otherwise: Class
    # of every class (columns) among the fitted rows with a prediction (rows), as in `classes`
    class_shares: tuple[tuple[Share, ...], ...]
    sources: tuple[ColumnSchema, ...]  # the columns that the rules read
    method: str
    rows: Count  # that it was fitted on
    errors: Count  # each with the weight of its row
    default: Coverage | None = None  # rows where no rule holds; None in files of version 0.2
    weight: Count | None = None  # of all fitted rows together; None: their number
    measure: str = "accuracy"  # what its formulas are the best at
    language: Language = Language.PAPER  # among whose formulas they are the best
    # what its formulas were asked to have, and have
    constraints: Annotated[dict[str, Any], Valid(of_named)] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)  # of held-out rows
    notes: tuple[Note, ...] = ()
    # how its table was read
    reading: Annotated[dict[str, Any], OpenSchema(MissingWords)] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    provenance: Annotated[dict[str, Any], OpenSchema(ModelOrigin)] = field(default_factory=dict)

    @property
    def classes(self) -> tuple[Class, ...]:
        """All classes: those of two as (otherwise, prediction), more in the order of the rules."""
        predictions = tuple(rule.prediction for rule in self.rules)
        return predictions if self.otherwise in predictions else (self.otherwise, *predictions)

    @property
    def rule(self) -> Rule:
        """The one rule of two classes."""
        if len(self.rules) != 1:
            raise UserError(f"expected a model of two classes, found {len(self.classes)} classes")
        return self.rules[0]

    @property
    def formula(self) -> Formula:
        """The formula of two classes."""
        return self.rule.formula

    @property
    def proved(self) -> bool:
        """Whether each formula is the best of its length for its class."""
        return all(rule.proved for rule in self.rules)

    @property
    def timed_out(self) -> bool:
        return any(rule.timed_out for rule in self.rules)

    @property
    def stop_reason(self) -> str:
        """Of one rule; of several, a limit that ended the search for one of them."""
        reasons = [rule.stop_reason for rule in self.rules]
        limits = (reason for reason in reasons if reason in _TIMED_OUT)
        return reasons[0] if len(reasons) == 1 else next(limits, "a rule for each class")

    @property
    def is_chosen(self) -> bool:
        """Whether it was taken among formulas that are about as good."""
        return any(note.kind is NoteKind.CHOSEN for note in self.notes)

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of each class among the fitted rows where it is predicted."""
        return tuple(row[place] for place, row in enumerate(self.class_shares))

    @property
    def keeps_missing(self) -> bool:
        """Whether it has an answer for a row without a value that it asks for."""
        return any(source.keeps_missing for source in self.sources)

    @property
    def phrases(self) -> dict[str, tuple[str, str]]:
        """How its Boolean columns are said in words."""
        return {name: said for s in self.sources for name, said in s.phrases.items()}

    def condition(self, rule: Rule) -> str:
        """`age is at least 40`."""
        return rule.formula.words(self.phrases)

    @property
    def words(self) -> str:
        """`Predict y = a when ...; else y = b when ...; otherwise y = c.`"""
        parts = (f"{self.target} = {r.prediction} when {self.condition(r)}" for r in self.rules)
        return f"Predict {'; else '.join(parts)}; otherwise {self.target} = {self.otherwise}."

    # ------------------------------------------------------------------------------- application

    def read(self, table: Mapping[str, Any], rows: int) -> tuple[Chosen, Reading]:
        """The predicted class of every row of a table, and what was noticed in reading it."""
        missing = [source.name for source in self.sources if source.name not in table]
        if missing:
            found = ", ".join(map(str, list(table)[:20]))
            names = ", ".join(map(repr, missing))
            raise UserError(f"expected the columns {names}, which are not there; found: {found}")
        reading = Reading(rows)
        values = [of_values(s.name, table[s.name]) for s in self.sources]
        pairs = zip(self.sources, values, strict=True)
        columns = [c for schema, column in pairs for c in schema.columns(column, reading)]
        if reading.problems:
            raise UserError("; ".join(reading.problems))
        return self.choose({c.name: c.values for c in columns}), reading

    def choose(self, table: Mapping[str, Any]) -> Chosen:
        """The predicted class of each row of a one-hot table, by its place."""
        return self.first_that_holds([rule.formula.evaluate(table) for rule in self.rules])

    def first_that_holds(self, truths: Sequence[Truth]) -> Chosen:
        places = [self.classes.index(rule.prediction) for rule in self.rules]
        return first_that_holds(truths, places, self.classes.index(self.otherwise))

    def answers(self, chosen: NDArray[Any]) -> NDArray[Any]:
        """The class that it predicts for each row; of two classes also by truth."""
        classes = np.array([*self.classes, None], dtype=object)[:-1]
        return np.asarray(classes[chosen.astype(np.int64)])

    def shares_of(self, chosen: Chosen) -> NDArray[np.float64]:
        """The share of the predicted class among the fitted rows with that prediction."""
        return np.asarray(np.array(self.shares)[chosen])

    # -------------------------------------------------------------------------------------- file

    def refuse_inconsistencies(self, name: str) -> None:
        """A file whose parts do not fit together is no whole model."""
        given = {column for source in self.sources for column in source.names}
        used = {p.column for rule in self.rules for p in rule.formula.propositions()}
        count = len(self.classes)
        problem = ""
        if not self.rules or (len(self.rules) > 1 and count != len(self.rules)):
            problem = "it has no rule for each class"
        elif used - given:
            problem = f"nothing gives {min(used - given)!r}"
        elif [len(shares) for shares in self.class_shares] != [count] * count:
            problem = "class_shares: expected a share of each class for each prediction"
        if problem:
            raise UnreadableError(f"{name} is invalid: {problem}")


def content(model: Model) -> dict[str, Any]:
    """What model.json holds, with the texts that its readers want."""
    rules = [
        serialization.plain(rule)
        | {"latex": rule.formula.latex(), "words": model.condition(rule), "size": rule.size}
        | {"proof": rule.proof.value}
        for rule in model.rules
    ]
    formulas = [f"{rule.prediction}: {rule.formula}" for rule in model.rules]
    derived = {
        "classes": model.classes,
        "formula": str(model.formula) if len(rules) == 1 else "; ".join(formulas),
        "words": model.words,
        "proved": model.proved,
        "stop_reason": model.stop_reason,
    }
    whole = {"kind": KIND, **serialization.header(FORMAT), **serialization.plain(model)}
    return {**whole, **derived, "rules": rules}


def first_that_holds(truths: Sequence[Truth], places: Sequence[int], otherwise: int) -> Chosen:
    """The place of the first true one of each row, or another place where none is."""
    chosen = np.full(len(truths[0]), otherwise, dtype=np.int64)
    for truth, place in reversed(list(zip(truths, places, strict=True))):
        chosen[truth] = place
    return chosen


def save(path: Path, model: Model) -> None:
    files.write_json(path, content(model))


def quarantine_outdated(path: Path, settings: dict[str, Any], say: Callable[[str], None]) -> None:
    """Before model.json is written: keep, under a name that is told, one of other rows or
    settings."""
    message = files.quarantine_if_invalid(path, serialization.read)
    saved = serialization.read(path)
    before = None if saved is None else saved.get("settings")
    if before is not None and _digest(before) != _digest(settings):
        message = f"{path.name} is of other rows or settings; kept as {files.rename_outdated(path)}"
    if message:
        say(message)


def _digest(settings: dict[str, Any]) -> str:
    return json.dumps(settings, sort_keys=True)


def is_model(path: Path) -> bool:
    """Whether the file says that it is a model."""
    try:
        saved = serialization.read(path)
    except UnreadableError:
        return False
    return saved is not None and saved.get("kind") in (KIND, legacy.SEVERAL)


def place(named: Path) -> Path:
    """A model.json, named as such or by its folder."""
    return named / FILE if named.is_dir() else named


def of_saved(saved: dict[str, Any], name: str) -> Model:
    """The model that a file of that name holds."""
    values = serialization.without_header(saved, name, FORMAT)
    values = legacy.updated(values, saved, name)
    _refuse_half_characters(values, name)
    model = serialization.convert(Model, values, name, _DERIVED)
    model.refuse_inconsistencies(name)
    return model


def _refuse_half_characters(values: dict[str, Any], name: str) -> None:
    """Only paths, in what is told of its origin, may hold bytes that are no characters."""
    for field_name in ("target", "rules", "otherwise", "sources", "reading"):
        try:
            json.dumps(values.get(field_name), ensure_ascii=False).encode()
        except UnicodeEncodeError:
            problem = "expected Unicode text, found half of a surrogate pair"
            raise UnreadableError(f"{name} is invalid at $.{field_name}: {problem}") from None


def load(path: Path) -> Model:
    """The model in the file, or an error that says what is there instead."""
    expected = f"{path}: expected a model.json that `fit` has written, found"
    try:
        saved = serialization.read(path)
        if saved is None:
            raise UserError(f"{path} does not exist; run `fit` first")
        if saved.get("kind") not in (KIND, legacy.SEVERAL):
            raise UserError(f"{expected} something else")
        return of_saved(saved, path.name)
    except UnreadableError as error:
        raise UserError(f"{path}: {error}") from None
