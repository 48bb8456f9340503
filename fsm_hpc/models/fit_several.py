"""Rules of several classes from a table: a rule for each against the rest, and what to expect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data.dataset import Dataset, target_values
from fsm_hpc.data.folds import fold_rows
from fsm_hpc.formulas.parser import parse
from fsm_hpc.models import fit, several
from fsm_hpc.models.learn import shares
from fsm_hpc.models.model import Model
from fsm_hpc.models.several import Several
from fsm_hpc.study import result
from fsm_hpc.study.config import Config
from fsm_hpc.study.fold import fold_paths, load_dataset, problem_of
from fsm_hpc.study.measures import wilson

MOST = 20  # classes; more are numbers, or a mistake
FOLDER = "classes"  # below that of the rules: a rule for each class


def classes_of(config: Config) -> list[str]:
    """The classes of a target that has several; none where one of two is to be told."""
    spec = config.dataset
    if spec.positive is not None or spec.negative is not None or spec.labels is not None:
        return []
    values = target_values(spec, config.data_dir, config.allow_changed_data)
    return values if 2 < len(values) <= MOST else []


def against_rest(config: Config, one: str, share: float) -> Config:
    """The config of one class's rule, with its share of the time."""
    folder = fit.rule_paths(config).folder / FOLDER / quote(one, safe=" ")
    return replace(
        config,
        dataset=replace(config.dataset, positive=one, negative="rest"),
        out=folder,
        fit=replace(config.fit, budget_h=config.fit.budget_h * share),
    )


def share_of_time(config: Config, spent_s: float, done: int, count: int) -> float:
    """An equal part of the budget, and less where the classes before took more than theirs."""
    budget_s = config.fit.budget_h * 3600
    left_s = max(0.0, budget_s - spent_s)
    return min(1 / count, left_s / (count - done) / budget_s) if budget_s else 0.0


def needs_two_classes(path: Path) -> str:
    """What a command says that reads a rule for two classes, and which it can read instead."""
    rules = sorted((path.parent / FOLDER).glob("*/model.json"))
    todo = (
        f"name the rule of one class against the rest, such as {rules[0]}"
        if rules
        else "fit one class against the rest: fit dataset.positive=CLASS dataset.negative=rest"
    )
    return f"{path}: expected a rule for two classes, found one for several; {todo}"


def put_together(config: Config, classes: Sequence[str], rules: Sequence[Model]) -> Several:
    """All rules as one, with what their folds tell of all together."""
    configs = [against_rest(config, one, 1 / len(classes)) for one in classes]
    tables = [_table(one) for one in configs]
    labels = _labels(classes, tables)
    columns = {c.name: c.values for c in tables[0].columns}
    truths = {rule.classes[1]: rule.formula.evaluate(columns) for rule in rules}
    given = tables[0].weights
    counted = several.whole_weights(labels, given, config.objective)
    made = several.combine(config.dataset.target, rules, labels, truths, counted, given)
    figures = made.figures | _expected(configs, classes, tables, labels)
    origin = dict(rules[0].provenance)
    return replace(made, figures=figures, settings=dict(rules[0].settings), provenance=origin)


def _table(config: Config) -> Dataset:
    return load_dataset(config.dataset, config.data_dir, config.allow_changed_data)


def _labels(classes: Sequence[str], tables: Sequence[Dataset]) -> NDArray[Any]:
    """The class of every row."""
    found = np.full(tables[0].rows, None, dtype=object)
    for one, table in zip(classes, tables, strict=True):
        found[table.labels] = one
    return found


def _expected(
    configs: Sequence[Config],
    classes: Sequence[str],
    tables: Sequence[Dataset],
    labels: NDArray[Any],
) -> dict[str, Any]:
    """How often all together are right on rows that folds held out, where all held out the same."""
    right = rows = 0
    count = configs[0].fit.folds
    for number in range(count):
        said = _said_on_fold(configs, classes, tables, labels, number)
        if said is None:
            return {}
        test, answers = said
        right += int(sum(labels[row] == one for row, one in zip(test, answers, strict=True)))
        rows += len(test)
    if not rows:
        return {}
    accuracy = {"value": right / rows, "interval": wilson(right, rows)}
    return {"folds": count, "rows": rows, "accuracy": accuracy}


def _said_on_fold(
    configs: Sequence[Config],
    classes: Sequence[str],
    tables: Sequence[Dataset],
    labels: NDArray[Any],
    number: int,
) -> tuple[list[int], list[str]] | None:
    """The held-out rows of a fold, and what the rules of its other rows say of them together."""
    shares_of: dict[str, float] = {}
    truths: dict[str, Any] = {}
    parts = []
    for config, one, table in zip(configs, classes, tables, strict=True):
        judging = fit.fold_config(config, number)
        part = fold_rows(table.labels, table.groups, number, judging.folding)
        done = result.load(fold_paths(judging).result, judging.id)
        if done is None or done.formula is None:
            return None
        formula = parse(done.formula)
        shares_of[one] = shares(problem_of(table, config, part.fitted), formula)[1]
        truths[one] = formula.evaluate({c.name: c.values for c in table.columns})
        parts.append(part)
    if any(not np.array_equal(part.test, parts[0].test) for part in parts):
        return None  # folds that keep the share of each class differ between the classes
    fitted, test = parts[0].fitted, parts[0].test
    given = tables[0].weights
    known = None if given is None else given[fitted]
    weights = several.whole_weights(labels[fitted], known, configs[0].objective)
    counted = np.ones(len(fitted), np.int64) if weights is None else weights
    on_fitted = {one: truths[one][fitted] for one in classes}
    ordered, otherwise = several.order_and_default(shares_of, labels[fitted], on_fitted, counted)
    chosen = several.first_that_holds(
        [truths[one][test] for one in ordered], ordered.index(otherwise)
    )
    return test.tolist(), [ordered[place] for place in chosen.tolist()]
