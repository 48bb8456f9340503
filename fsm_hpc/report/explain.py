"""Explain a formula on a row: its truth, and the parts that decide it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from fsm_hpc.cluster import arrays
from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.data import dataset as dataset_module
from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.data.dataset import Dataset
from fsm_hpc.data.fold_kind import Folding, FoldKind
from fsm_hpc.data.folds import fold_rows
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Formula, Proposition
from fsm_hpc.formulas.parser import parse
from fsm_hpc.formulas.text import number
from fsm_hpc.models import model as model_file
from fsm_hpc.models.explanation import DECIDES, FormulaExplanation, explain_formula, word
from fsm_hpc.models.model import Model, Rule
from fsm_hpc.study import result
from fsm_hpc.study.compose import compose
from fsm_hpc.study.config import Config
from fsm_hpc.study.config_folders import names_in
from fsm_hpc.study.files import FoldPaths, ModelPaths
from fsm_hpc.study.override_syntax import key_of, quoted
from fsm_hpc.study.result import FoldResult
from fsm_hpc.system.files import UnreadableError


def result_path(path: Path) -> Path:
    """A result.json, given as such or by the folder of its fold."""
    if not path.is_dir():
        return path
    file = FoldPaths(path).result
    return file if file.exists() else model_file.place(path)


def load(path: Path) -> FoldResult:
    """The result in a file; an error if it has no formula."""
    try:
        done = result.read(path, FoldPaths(path.absolute().parent).id)
    except UnreadableError as error:
        raise UserError(f"{path}: {error}") from None
    if done is None:
        raise UserError(f"{path} does not exist; run `fit`, or the fold, first")
    if done.formula is None:
        raise UserError(f"{path} is a result of {done.method}, which has no formula to explain")
    return done


def table_of(path: Path, done: FoldResult, overrides: Sequence[str]) -> Dataset:
    """The table of the fold; an error if its content has changed."""
    config = _config(FoldPaths(path.parent), done, overrides)
    dataset = dataset_module.load(config.dataset, config.data_dir, config.allow_changed_data)
    if dataset.digest != done.settings.get("data"):
        raise UserError(f"{dataset.path} is not the table of {path}: its content differs")
    return dataset


def submission_of_model(path: Path) -> Submission | None:
    """The settings of a model.json; None if they are not stored."""
    known = map(arrays.last_submission, ModelPaths(path.parent).folds())
    return next(filter(None, known), None)


def table_of_model(path: Path, model: Model, rule: Rule, overrides: Sequence[str]) -> Dataset:
    """The table of a rule, or the one in the overrides.

    With several classes, the labels are the class of the rule against the others.
    """
    negative = str(model.otherwise) if len(model.rules) == 1 else "rest"
    submission = submission_of_model(path)
    if not overrides and submission is not None:
        config = submission.config_then
        if len(model.rules) > 1:
            dataset = replace(config.dataset, positive=str(rule.prediction), negative=negative)
            config = replace(config, dataset=dataset)
    elif (given := set(map(key_of, overrides))) & {"dataset", "dataset.path"}:
        name = [] if "dataset" in given else ["dataset=csv"]
        own = {"target": model.target, "negative": negative, "positive": rule.prediction}
        stated = [
            f"dataset.{key}={quoted(str(value))}"
            for key, value in own.items()
            if "dataset" not in given and f"dataset.{key}" not in given
        ]
        config = compose([*name, f"method={model.method}", *stated, *overrides])
    else:
        raise UserError(f"{path}: the path of its table is not stored; add dataset.path=FILE")
    return dataset_module.load(config.dataset, config.data_dir, config.allow_changed_data)


def _config(paths: FoldPaths, done: FoldResult, overrides: Sequence[str]) -> Config:
    """The config of the table: from the overrides, the submission, or the dataset name."""
    submission = arrays.last_submission(paths)
    if not overrides and submission is not None:
        return submission.config_then
    given = set(map(key_of, overrides))
    is_known = done.dataset in names_in("dataset") and done.dataset != "csv"
    if not is_known and not {"dataset", "dataset.path"} & given:
        raise UserError(f"{done.dataset} is your own table; add dataset.path= and dataset.target=")
    name = [] if "dataset" in given else [f"dataset={done.dataset if is_known else 'csv'}"]
    return compose([*name, f"method={done.method}", *overrides])


# ---------------------------------------------------------------------------------------- a row


def on_row(done: FoldResult, dataset: Dataset, row: int) -> Iterator[str]:
    """Explain the formula of a fold on a row of its table."""
    _check_row(dataset, row)
    formula = parse(done.formula or "")
    answers = (f"{done.target} = {done.negative}", f"{done.target} = {done.positive}")
    return truth_on_row(formula, answers, dataset, row, _role(done, dataset, row))


def of_model(path: Path, model: Model, overrides: Sequence[str], row: int) -> Iterator[str]:
    """Explain a model on a row: its rules up to the first that holds."""
    for rule in model.rules:
        dataset = table_of_model(path, model, rule, overrides)
        _check_row(dataset, row)
        no = model.otherwise if len(model.rules) == 1 else f"not {rule.prediction}"
        answers = (f"{model.target} = {no}", f"{model.target} = {rule.prediction}")
        is_fitted = dataset.digest == rule.data
        role = "fitted" if is_fitted else "other table"
        if len(model.rules) > 1:
            yield f"The rule for {rule.prediction}: {rule.formula}"
        yield from truth_on_row(rule.formula, answers, dataset, row, role)
        if _explained(rule.formula, dataset, row).is_true:
            return
        yield ""
    if len(model.rules) > 1:
        yield f"No rule holds, so the prediction is {model.target} = {model.otherwise}."


def _check_row(dataset: Dataset, row: int) -> None:
    if not 0 <= row < dataset.rows:
        raise UserError(f"--row: expected 0 to {dataset.rows - 1}, found {row}")


def truth_on_row(
    formula: Formula, answers: tuple[str, str], dataset: Dataset, row: int, role: str
) -> Iterator[str]:
    """The truth of a formula on a row, the parts that decide it, and sufficient conditions."""
    explained = _explained(formula, dataset, row)
    answer, label = answers[explained.is_true], answers[bool(dataset.labels[row])]
    truth = word(explained.is_true)
    yield f"Row {row} ({role}): the formula is {truth}, so the prediction is {answer}."
    yield f"The class in the table is {label}: {'right' if answer == label else 'wrong'}.\n"
    yield from explained.lines()
    yield f"\n{DECIDES}"


def _explained(formula: Formula, dataset: Dataset, row: int) -> FormulaExplanation:
    known = {column.name for column in dataset.columns}
    absent = [p.column for p in formula.propositions() if not p.is_known_in(known)]
    if absent:
        raise UserError(
            f"the rule needs the column {absent[0]}, which {dataset.path} does not have"
        )
    table = {column.name: column.values[row : row + 1] for column in dataset.columns}
    facts = partial(_fact, dataset=dataset, row=row)
    return explain_formula(formula, table, dataset.phrases(), facts)


def _role(done: FoldResult, dataset: Dataset, row: int) -> str:
    """Whether the fold was fitted on the row."""
    chosen = done.settings
    kind = FoldKind(chosen.get("fold_kind", "kfold"))
    folding = Folding(kind, chosen["folds"], chosen["seed"], chosen["validation_fraction"])
    rows = fold_rows(dataset.labels, dataset.groups, done.fold, folding)
    return "held out" if np.isin(row, rows.test) else "fitted"


def _of_source(name: str, dataset: Dataset) -> Column:
    """A one-hot column of this source."""
    return next(c for c in dataset.columns if c.source == name and not c.is_missing_indicator)


def _fact(proposition: Proposition, dataset: Dataset, row: int) -> str:
    """`albumin = 3.5`, `job = services`: the value of the row in the column of the proposition."""
    named = (c for c in dataset.columns if c.name == proposition.column)
    column = next(named, None) or _of_source(proposition.column, dataset)
    source = column.source or column.name
    gaps = (c.values[row] for c in dataset.columns if c.is_missing_indicator and c.source == source)
    if next(gaps, False):
        return f"{source} is missing"
    if column.kind is Kind.NUMERIC:
        return f"{column.name} = {number(column.threshold(column.values[row]))}"
    if column.source is None or column.category is None:
        return f"{column.name} = {word(bool(column.values[row]))}"
    holding = (c for c in dataset.columns if c.source == column.source and bool(c.values[row]))
    if column.is_threshold:
        *_, highest = (None, *holding)
        return f"{column.source} is {highest.category if highest else 'the lowest category'}"
    true_column = next(holding, None)
    category = true_column.category if true_column else "none of its categories"
    return f"{column.source} = {category}"
