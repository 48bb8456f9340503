"""Say what a formula means, whether it is true on a row, and which of its parts decide that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path

import numpy as np

from fsm_hpc.cluster import submissions
from fsm_hpc.data import dataset as dataset_module
from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.data.dataset import Dataset
from fsm_hpc.data.fold_kind import Folding, FoldKind
from fsm_hpc.data.folds import fold_rows
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Atom, Formula, Not, Proposition
from fsm_hpc.formulas.parser import parse
from fsm_hpc.formulas.text import number
from fsm_hpc.models import model as model_file
from fsm_hpc.models.model import Model
from fsm_hpc.study import hydra, result
from fsm_hpc.study.compose import compose
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.study.result import FoldResult
from fsm_hpc.system.files import UnreadableError

MOST_PROPOSITIONS = 12  # beyond, all assignments are too many to look for the fewest that suffice

Values = Mapping[Proposition, bool]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a formula on one row."""

    depth: int
    words: str
    is_true: bool
    decides: bool  # the answer would be the other one if this part alone were
    facts: str  # what the row says, for a part with one proposition


def result_path(place: Path) -> Path:
    """A result.json, named as such or by the folder of its fold."""
    if not place.is_dir():
        return place
    found = FoldPaths(place).result
    return found if found.exists() else model_file.place(place)


def load(path: Path) -> FoldResult:
    """The result with a formula that is in the file, or an error."""
    try:
        done = result.read(path, FoldPaths(path.absolute().parent).id)
    except UnreadableError as error:
        raise UserError(f"{path}: {error}") from None
    if done is None:
        raise UserError(f"expected a result.json of this version, found none in {path}")
    if done.formula is None:
        raise UserError(f"{path} is of {done.method}, which has no formula to explain")
    return done


def table_of(path: Path, done: FoldResult, words: Sequence[str]) -> Dataset:
    """The table that the formula was learnt from, or an error."""
    config = _config(FoldPaths(path.parent), done, words)
    dataset = dataset_module.load(config.dataset, config.data_dir, config.allow_changed_data)
    if dataset.digest != done.settings.get("data"):
        raise UserError(
            f"{dataset.path} is not the table that {path} was learnt from: its content differs"
        )
    return dataset


def table_of_model(path: Path, model: Model, words: Sequence[str]) -> Dataset:
    """The table that a rule was fitted on, or the one that the words name."""
    submission = submissions.load(FoldPaths(path.parent))
    if not words and submission is not None:
        config = submission.config_then
    elif any(hydra.key_of(word) in ("dataset", "dataset.path") for word in words):
        given = {hydra.key_of(word) for word in words}
        name = [] if "dataset" in given else ["dataset=csv"]
        own = {"target": model.target, "negative": model.classes[0], "positive": model.classes[1]}
        stated = [
            f"dataset.{key}={hydra.quoted(str(value))}"
            for key, value in own.items()
            if "dataset" not in given and f"dataset.{key}" not in given
        ]
        config = compose([*name, f"method={model.method}", *stated, *words])
    else:
        raise UserError(f"{path}: nothing says where its table is; add dataset.path=FILE")
    return dataset_module.load(config.dataset, config.data_dir, config.allow_changed_data)


def _config(paths: FoldPaths, done: FoldResult, words: Sequence[str]) -> Config:
    """Where the table is: as the words say, as the fold was submitted, or by its name."""
    submission = submissions.load(paths)
    if not words and submission is not None:
        return submission.config_then
    given = {hydra.key_of(word) for word in words}
    is_known = done.dataset in hydra.names_in("dataset") and done.dataset != "csv"
    if not is_known and not {"dataset", "dataset.path"} & given:
        raise UserError(
            f"{done.dataset} is a table of your own; add dataset.path= and dataset.target="
        )
    name = [] if "dataset" in given else [f"dataset={done.dataset if is_known else 'csv'}"]
    return compose([*name, f"method={done.method}", *words])


# ---------------------------------------------------------------------------------------- a row


def on_row(done: FoldResult, dataset: Dataset, row: int) -> Iterator[str]:
    """Lines that tell the formula's truth on a row of the fold's table, and why."""
    _check_row(dataset, row)
    formula = parse(done.formula or "")
    answers = (f"{done.target} = {done.negative}", f"{done.target} = {done.positive}")
    return truth_on_row(formula, answers, dataset, row, _role(done, dataset, row))


def of_model(model: Model, dataset: Dataset, row: int) -> Iterator[str]:
    """The same of a rule that was fitted on all rows."""
    _check_row(dataset, row)
    answers = tuple(f"{model.target} = {value}" for value in model.classes)
    is_fitted = dataset.digest == model.settings.get("data")
    role = "one of those it was fitted on" if is_fitted else "of another table"
    return truth_on_row(model.formula, (answers[0], answers[1]), dataset, row, role)


def _check_row(dataset: Dataset, row: int) -> None:
    if not 0 <= row < dataset.rows:
        raise UserError(f"--row: expected 0 to {dataset.rows - 1}, found {row}")


def truth_on_row(
    formula: Formula, answers: tuple[str, str], dataset: Dataset, row: int, role: str
) -> Iterator[str]:
    """Lines that tell a formula's truth on a row, which of its parts decide, and what suffices."""
    known = {column.name for column in dataset.columns}
    absent = [p.column for p in formula.propositions() if not p.is_known_in(known)]
    if absent:
        raise UserError(f"the rule asks for {absent[0]}, which {dataset.path} does not have")
    table = {column.name: column.values[row : row + 1] for column in dataset.columns}
    values = {p: bool(p.evaluate(table)[0]) for p in formula.propositions()}
    truth = truth_of(formula, values)
    says, label = answers[truth], answers[bool(dataset.labels[row])]
    yield f"Row {row} ({role}): the formula is {_word(truth)}, so it says {says}."
    yield f"The table says {label}: {'right' if says == label else 'wrong'}.\n"
    parts = list(parts_of(formula, values, dataset, row))
    width = max(len(part.words) + 2 * part.depth for part in parts)
    for part in parts:
        mark = "decides" if part.decides else "       "
        words = "  " * part.depth + part.words
        yield f"  {_word(part.is_true):<5}  {mark}  {words:<{width}}  {part.facts}".rstrip()
    yield "\n`decides`: were this part alone the other way round, so would be the answer."
    yield from _enough(formula, values, dataset)


def _enough(formula: Formula, values: Values, dataset: Dataset) -> Iterator[str]:
    fewest = sufficient(formula, values)
    if fewest is not None and len(fewest) < len(values):
        phrases = dataset.phrases()
        said = [p.words(phrases, values[p]) for p in fewest]
        yield f"Enough for it, whatever the rest: {' and '.join(said)}."


def _role(done: FoldResult, dataset: Dataset, row: int) -> str:
    """What the row was to this fold."""
    chosen = done.settings
    kind = FoldKind(chosen.get("fold_kind", "kfold"))
    folding = Folding(kind, chosen["folds"], chosen["seed"], chosen["validation_fraction"])
    rows = fold_rows(dataset.labels, dataset.groups, done.fold, folding)
    return "held out" if np.isin(row, rows.test) else "one of those it was fitted on"


def _word(truth: bool) -> str:
    return "true" if truth else "false"


# -------------------------------------------------------------------------------------- deciding


def truth_of(formula: Formula, values: Values, flipped: Formula | None = None) -> bool:
    """The truth under these values; the one part `flipped` (by identity) counts as its opposite."""
    if isinstance(formula, Atom):
        truth = values[formula.proposition]
    else:
        truth = formula.joined([truth_of(part, values, flipped) for part in formula.parts])
    return truth != (formula is flipped)


def parts_of(formula: Formula, values: Values, dataset: Dataset, row: int) -> Iterator[Part]:
    """Every part from the whole formula down to its propositions, which may be negated."""
    answer = truth_of(formula, values)

    def visit(part: Formula, depth: int) -> Iterator[Part]:
        is_leaf = isinstance(part, Atom) or (isinstance(part, Not) and _is_atom(part.parts[0]))
        yield Part(
            depth,
            part.words(dataset.phrases()),
            truth_of(part, values),
            truth_of(formula, values, part) != answer,
            _fact(next(part.propositions()), dataset, row) if is_leaf else "",
        )
        if not is_leaf:
            for inner in part.parts:
                yield from visit(inner, depth + 1)

    return visit(formula, 0)


def sufficient(formula: Formula, values: Values) -> tuple[Proposition, ...] | None:
    """The fewest propositions whose truth alone fixes the answer; None when there are too many."""
    propositions = list(values)
    if len(propositions) > MOST_PROPOSITIONS:
        return None
    answer = truth_of(formula, values)
    for count in range(len(propositions) + 1):
        for chosen in combinations(propositions, count):
            if _is_fixed(formula, values, chosen, answer):
                return chosen
    return None


def _is_fixed(
    formula: Formula, values: Values, chosen: tuple[Proposition, ...], answer: bool
) -> bool:
    rest = [p for p in values if p not in chosen]
    return all(
        truth_of(formula, {**values, **dict(zip(rest, guess, strict=True))}) == answer
        for guess in product([False, True], repeat=len(rest))
    )


def _is_atom(formula: Formula) -> bool:
    return isinstance(formula, Atom)


def _of_source(name: str, dataset: Dataset) -> Column:
    """Some category of a column, to say which one a row has."""
    return next(c for c in dataset.columns if c.source == name and not c.is_gap)


def _fact(proposition: Proposition, dataset: Dataset, row: int) -> str:
    """`albumin = 3.5`, `job = services`: what the row says about the proposition's column."""
    named = (c for c in dataset.columns if c.name == proposition.column)
    column = next(named, None) or _of_source(proposition.column, dataset)
    source = column.source or column.name
    gaps = (c.values[row] for c in dataset.columns if c.is_gap and c.source == source)
    if next(gaps, False):
        return f"{source} is missing"
    if column.kind is Kind.NUMERIC:
        return f"{column.name} = {number(float(column.values[row]))}"
    if column.source is None or column.category is None:
        return f"{column.name} = {_word(bool(column.values[row]))}"
    holding = (c for c in dataset.columns if c.source == column.source and bool(c.values[row]))
    found = next(holding, None)
    return f"{column.source} = {found.category if found else 'none of its categories'}"
