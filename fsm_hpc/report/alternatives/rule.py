"""Read a rule, or the formula of a fold, with its fitted rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fsm_hpc.data.dataset import Dataset
from fsm_hpc.data.fold_kind import Folding, FoldKind
from fsm_hpc.data.folds import fold_rows
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Formula
from fsm_hpc.formulas.parser import parse
from fsm_hpc.models import model as model_file
from fsm_hpc.models.model import Model, Rule
from fsm_hpc.report import explain
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.study import fingerprint
from fsm_hpc.study.config_folders import names_in
from fsm_hpc.study.override_syntax import quoted

OWN = (
    "cuts",
    "language",
    "objective",
    "dataset.weight",
    "rule.",
)  # settings that are not in the paper
COUNTED = "alternatives support the settings of the paper only; fit it again without this one"


@dataclass(frozen=True)
class FittedRule:
    """The rule whose alternatives are searched."""

    path: Path
    formula: Formula
    errors: int
    bound: int
    proved: bool
    dataset: Dataset
    problem: Problem
    rows: Sequence[int]  # fitted rows of the table
    held_out: Problem | None  # other rows of the table
    target: str
    classes: tuple[object, object]
    label: str | None = None  # the class, if there are more than two
    fingerprint: str = ""  # of the table and settings of a fold


def read_rule(
    named: Path, overrides: Sequence[str], label: str | None = None, limit: str = COUNTED
) -> FittedRule:
    """Read model.json or result.json, with its table by the overrides or as recorded.

    `label` selects the class if there are more than two. `limit` is the message for settings that
    are not in the paper.
    """
    path = explain.result_path(named)
    if model_file.is_model(path):
        return _of_model(path, overrides, label, limit)
    if label is not None:
        raise UserError(f"class={label}: expected a model.json with it, found {path}")
    return _of_fold(path, overrides, limit)


def rule_of(path: Path, model: Model, label: str | None) -> Rule:
    """The rule of a class; without a class the only rule."""
    rules = {str(rule.prediction): rule for rule in model.rules}
    if label is None and len(rules) == 1:
        return model.rules[0]
    if label not in rules:
        known, found = ", ".join(rules), "none" if label is None else label
        raise UserError(f"{path}: expected class=NAME with one of {known}, found {found}")
    return rules[label]


def _of_model(path: Path, overrides: Sequence[str], label: str | None, limit: str) -> FittedRule:
    model = model_file.load(path)
    rule = rule_of(path, model, label)
    _refuse_own_settings(path, {**model.settings, **model.constraints}, limit)
    if not overrides and explain.submission_of_model(path) is None:
        overrides = _table_overrides(path, model)
    dataset = explain.table_of_model(path, model, rule, overrides)
    if rule.data and dataset.digest != rule.data:
        raise UserError(
            f"{dataset.path} is not the table that {path} was fitted on: its content differs; "
            "pass the right one with dataset.path=FILE and the settings to read it"
        )
    problem = Problem.build(dataset.columns, dataset.labels, Method(model.method))
    return FittedRule(
        path,
        rule.formula,
        rule.errors,
        rule.length,
        rule.proved,
        dataset,
        problem,
        range(problem.rows),
        None,
        model.target,
        (model.otherwise if len(model.rules) == 1 else "rest", rule.prediction),
        label if len(model.rules) > 1 else None,
    )


def _table_overrides(path: Path, model: Model) -> list[str]:
    """Overrides for the table, from the rule or its folder."""
    table = model.provenance.get("table")
    if table:
        return [f"dataset.path={quoted(str(table))}"]
    parents = path.absolute().parts[:-1]
    named = parents[-3:-2] if parents[-1:] == ("model",) else ()
    known = [name for name in named if name in names_in("dataset")]
    return [f"dataset={name}" for name in known]


def _of_fold(path: Path, overrides: Sequence[str], limit: str) -> FittedRule:
    done = explain.load(path)
    _refuse_own_settings(path, done.settings, limit)
    dataset = explain.table_of(path, done, overrides)
    chosen = done.settings
    kind = FoldKind(chosen.get("fold_kind", "kfold"))
    folding = Folding(kind, chosen["folds"], chosen["seed"], chosen["validation_fraction"])
    rows = fold_rows(dataset.labels, dataset.groups, done.fold, folding)
    all_rows = Problem.build(dataset.columns, dataset.labels, Method(done.method))
    formula = parse(done.formula or "")
    fitted = all_rows.on(rows.fitted)
    return FittedRule(
        path,
        formula,
        fitted.errors(formula),
        done.length_bound or formula.size,
        done.proved,
        dataset,
        fitted,
        rows.fitted.tolist(),
        all_rows.on(np.sort(rows.test)),
        done.target,
        (done.negative, done.positive),
        fingerprint=done.fingerprint,
    )


def _refuse_own_settings(path: Path, settings: dict[str, object], limit: str) -> None:
    """Reject rules with settings that are not in the paper."""
    keys = {name: key for name, key in fingerprint.KEYS.items() if key.startswith(OWN)}
    for name, key in keys.items():
        plain = fingerprint.LEGACY_DEFAULTS[key]
        if settings.get(name, plain) != plain:
            raise UserError(f"{path} was fitted with {name}={settings[name]}; {limit}")
