"""The command fit: fit one rule to all rows of a table, and estimate its accuracy."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsm_hpc.cli import options
from fsm_hpc.cli.usage import CTRL_C, Command, Group, option
from fsm_hpc.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console

    from fsm_hpc.models.model import Model
    from fsm_hpc.study.config import Config
    from fsm_hpc.study.files import ModelPaths


# One rule deserves more care than one of many folds: the mean over several splits is more reliable,
# and with a patience of two a scan misses every rule that starts with "not".
# On three tables a budget of three minutes instead of one changed no accuracy beyond chance.
DEFAULTS: dict[str, Any] = {
    "method": "pivot",
    "scan.splits": 5,
    "scan.patience": 4,
    "fit.budget_h": 0.0167,
}
# Several classes share the budget, each with a rule of its own.
DEFAULTS_IF_SEVERAL = {**DEFAULTS, "fit.budget_h": 0.05}
# Of a table with many rows: one split has validation rows enough, and they support longer rules.
DEFAULTS_IF_LARGE = {**DEFAULTS, "scan.splits": 1, "scan.max_length": 16, "fit.budget_h": 0.05}


def main(flags: argparse.Namespace, arguments: list[str]) -> int:
    """Fit the rule here, or submit it as a job."""
    from fsm_hpc.cluster import schedulers
    from fsm_hpc.system import clock, terminal

    started = clock.monotonic()
    overrides = as_settings(arguments, flags.target)
    if options.shows_config(flags, overrides):
        return 0
    config = _composed(arguments, flags.target)
    if flags.multirun and not schedulers.of(config).ends_with_command:
        from fsm_hpc.cluster.submit import launch

        return launch.launch([config], launch.Options(), stays=True)
    return _fit_here(config, terminal.console(), started)


def _composed(arguments: list[str], target: str | None) -> Config:
    """The config of the rule on all rows, with the defaults for its rows and classes."""
    from fsm_hpc.models.notes import LARGE
    from fsm_hpc.models.tasks import on_all_rows, tasks_of
    from fsm_hpc.study.compose import compose

    config = compose(as_settings(arguments, target))
    if not config.method.name.finds_formula:
        known = "median, pivot or interval"
        raise UserError(f"fit: expected method={known}, found {config.method.name.value}")
    tasks = tasks_of(config)
    if tasks[0].dataset.rows >= LARGE:
        config = compose(as_settings(arguments, target, DEFAULTS_IF_LARGE))
    elif len(tasks) > 1:
        config = compose(as_settings(arguments, target, DEFAULTS_IF_SEVERAL))
    return on_all_rows(config)


def as_settings(
    arguments: list[str], target: str | None, defaults: Mapping[str, Any] = DEFAULTS
) -> list[str]:
    """`my.csv --target label` and the defaults of this command as overrides."""
    from fsm_hpc.study.override_syntax import key_of, quoted

    tables = [argument for argument in arguments if "=" not in argument]
    if len(tables) > 1:
        raise UserError(f"fit: expected one table, found {' '.join(tables)}")
    overrides = [_full_key(argument) for argument in arguments if argument not in tables]
    given = {key_of(override) for override in overrides}
    if tables:
        path = Path(tables[0])
        overrides += ["dataset=csv", f"dataset.path={quoted(tables[0])}"]
        overrides += [] if "out" in given else [f"out={quoted(path.name.split('.')[0] + '_rule')}"]
    if tables and target is None and "dataset.target" not in given:
        raise UserError(f"fit: expected the column to predict: fit {tables[0]} --target COLUMN")
    if target is not None:
        overrides.append(f"dataset.target={quoted(target)}")
    return overrides + [f"{key}={value}" for key, value in defaults.items() if key not in given]


def _full_key(override: str) -> str:
    """The override with its section: fit.choose=, dataset.labels=."""
    section = {"choose": "fit.", "labels": "dataset."}.get(override.partition("=")[0], "")
    return f"{section}{override}"


def _fit_here(config: Config, console: Console, started: float) -> int:
    from fsm_hpc.cluster.node.foreground import Foreground
    from fsm_hpc.models import tasks
    from fsm_hpc.models.fit import SHARE_OF_RULE
    from fsm_hpc.models.progress import FoldProgress
    from fsm_hpc.system.numbers import duration

    parts = tasks.tasks_of(config)
    dataset = parts[0].dataset
    for note in dataset.notes:
        _print(console, note)
    if len(parts) > 1:
        classes = ", ".join(tasks.classes_of(parts))
        message = f"{dataset.target} has {len(parts)} classes, each with a rule: {classes}"
        _print(console, message)
    budget_s = config.fit.budget_h * 3600
    rule_s = budget_s * (SHARE_OF_RULE if config.fit.folds else 1)
    _print(
        console,
        f"takes at most {duration(budget_s)}, the rule itself at most {duration(rule_s)} "
        "(fit.budget_h); Ctrl-C keeps the best rule so far",
    )
    with FoldProgress(console, str(config.id.dataset)) as shown:
        attempt = Foreground(config, shown, started)
        attempt.result()
    paths = tasks.model_paths(config)
    if attempt.model is None:
        _print(console, f"stopped; run the same command again to continue from {paths.folder}")
        return CTRL_C
    _show(console, attempt.model, paths)
    return 0


def _show(console: Console, model: Model, paths: ModelPaths) -> None:
    """Print the rules, their estimated accuracy and the files."""
    from fsm_hpc.models.notes import NoteKind
    from fsm_hpc.models.presenter import summarize

    facts = summarize(model)
    _print(console, facts.sentence, "bold")
    for line in facts.fact_lines():
        _print(console, line)
    _print(console, "")
    for figure in facts.figures:
        values = f"{figure.name:<18} {figure.value:>8}  {figure.interval:<18}"
        _print(console, f"  {values} {figure.meaning}")
    _print(console, f"  {'majority class':<18} {facts.majority:>8}")
    _print(console, "")
    for text in filter(None, [facts.comparison, *(rule.stability for rule in facts.rules)]):
        _print(console, text)
    for note in model.notes:
        if note.kind is not NoteKind.TABLE:  # printed before the search
            _print(console, str(note), "yellow" if note.is_warning else None)
    _print(console, f"wrote {paths.model} and {paths.card}")


def _print(console: Console, text: str, style: str | None = None) -> None:
    """Wrap at words on a terminal, nowhere in a file."""
    console.print(text, style=style, soft_wrap=not console.is_terminal)


COMMAND = Command(
    Group.MODELS,
    "Fit one rule to a table and estimate its accuracy.",
    "TABLE --target COLUMN | dataset=NAME [key=value ...] [-m]",
    (
        "fit my.csv --target label",
        "fit my.csv --target label out=my_rule fit.budget_h=0.5",
        "fit my.csv --target label objective=balanced",
        "fit my.csv --target label objective=costs objective.false_positive=1 "
        "objective.false_negative=5",
        "fit my.csv --target label language=dnf scan.max_length=8",
        "fit my.csv --target label cuts=rounded cuts.slack=2",
        "fit my.csv --target label rule.require=[age] rule.forbid=[id] rule.max_columns=3",
        "fit my.csv --target label rule.increasing=[income] rule.min_support=20",
        "fit dataset=heart_disease method=interval",
        "fit dataset=heart_disease method=pivot labels=answers.csv out=explained",
    ),
    main,
    (
        option("--target COLUMN", "the column of TABLE to predict"),
        options.multirun("submit a job instead of fitting here"),
        *options.CONFIG,
    ),
    {
        "out=FOLDER": "output folder of model.json and model.html (default: TABLE_rule)",
        "method=NAME": "conditions on numeric columns: pivot (x >= a), interval (a <= x <= b) or "
        "median (default: pivot)",
        "fit.budget_h=HOURS": "time limit in hours, cross-validation included (default: 0.0167, "
        "which is one minute; 0.05 from 20,000 rows or three classes on)",
        "fit.folds=N": "folds of the cross-validation; 0: none (default: 10)",
        "fit.compare=NAME": "models to compare with: simple (tree, logistic regression), all "
        "(also XGBoost) or none",
        "objective=NAME": "what to optimize: accuracy, balanced (balanced accuracy) or costs "
        "(misclassification costs)",
        "scan.max_length=N": "longest formula (default: 10; 16 from 20,000 rows on)",
        "scan.splits=N": "splits into training and validation rows that choose the length "
        "(default: 5; 1 from 20,000 rows on)",
        "language=NAME": "connectives of formulas: paper (and, or, not), xor, implies, dnf, cnf, "
        "conjunction, disjunction or at_least (default: paper)",
        "cuts=NAME": "candidate thresholds: observed, midpoints, quantiles, rounded or given",
        "rule.KEY=VALUE": "constraints: require, forbid, increasing, decreasing, min_support, "
        "max_columns",
        "choose=NAME": "rule among the near-optimal ones: optimum, consensus, simplest or given",
        "labels=FILE": "predictions of another model, to be explained by a rule",
    },
)
