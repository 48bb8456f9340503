"""One model from all rows of a table, and from folds of the same procedure what to expect of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsm_hpc.data.dataset import Dataset
from fsm_hpc.errors import UserError
from fsm_hpc.models import card, choice, comparison
from fsm_hpc.models import model as model_file
from fsm_hpc.models.combine import ClassRule, Places
from fsm_hpc.models.fit_results import Results, describe, fitted_rule, result_of
from fsm_hpc.models.learn import SHARE_OF_SCAN
from fsm_hpc.models.model import Model
from fsm_hpc.models.tasks import (
    ClassTask,
    labels_of,
    model_paths,
    on_all_rows,
    tasks_of,
)
from fsm_hpc.search.claim import write_if_proved
from fsm_hpc.search.near_optimal.checkpoint import Checkpoint
from fsm_hpc.search.near_optimal.rashomon import ResourceLimits
from fsm_hpc.search.near_optimal.rule_choice import RuleChoice
from fsm_hpc.search.objective import ObjectiveName
from fsm_hpc.search.scan import ScanState
from fsm_hpc.search.solvers.base import Control
from fsm_hpc.study import result
from fsm_hpc.study.config import Config
from fsm_hpc.study.fold import fold_paths, threads
from fsm_hpc.study.fold_id import ALL
from fsm_hpc.study.result import FoldResult
from fsm_hpc.study.run import History, SolverOf, configured_solver, run_fold
from fsm_hpc.system import clock, files

if TYPE_CHECKING:
    from fsm_hpc.search.solvers.native.parts import Helpers

SHARE_OF_RULE = 1 / 3  # of the budget that the model itself may take; its folds have the rest
SHARE_OF_OTHERS = 0.15  # of the budget that other models may take
LEAST_OF_OTHERS_S = 2.0
LEAST_OF_CHOICE_S = 10.0  # that a choice may take, however little of the budget is left


@dataclass(frozen=True)
class Steps:
    """Where progress is reported: which part begins, and the state of its search."""

    begin: Callable[[str], None] = lambda part: None
    watch: Callable[[ScanState], None] = lambda state: None
    say: Callable[[str], None] = lambda text: None


@dataclass
class Budget:
    """Seconds for everything, and those that are spent."""

    total_s: float
    spent_s: float

    def share(self, end: float, count: int) -> float:
        """The time that each of `count` parts may take until this share of all is spent."""
        return max(0.0, end * self.total_s - self.spent_s) / count


@dataclass(frozen=True)
class Fitted:
    """What a fit has come to."""

    model: Model
    result: FoldResult | None  # of the fold `all`; None where it was stopped before its end


def fit(
    config: Config,
    stop: threading.Event | None = None,
    steps: Steps | None = None,
    may_write: Callable[[], bool] = lambda: True,
    history: History = dict,
    solver_of: SolverOf = configured_solver,
    helpers: Helpers | None = None,
    started: float | None = None,
    keeps_best: bool = False,
) -> Fitted | None:
    """The model; None when `stop` was set, and the next call continues from there.

    With `keeps_best` a stopped search gives the best model so far, without what is missing.

    The budget counts from `started`, on the clock of clock.monotonic(), so that it includes reading
    and preparing the table; compilation is not included.
    """
    began = clock.monotonic() if started is None else started
    stop, steps = stop or threading.Event(), steps or Steps()
    tasks = tasks_of(config)
    _refuse_other_table(model_paths(config).model, config, tasks[0].dataset)
    for task in tasks:
        task.refuse_too_many_folds()
        choice.check(task.fitted, config.fit)
    budget = Budget(config.fit.budget_h * 3600, clock.monotonic() - began)
    search = _Searches(stop, steps, may_write, solver_of, helpers, budget, keeps_best)
    searched = search.all_rows(tasks)
    others = {} if searched is None else search.others(tasks)
    results = None if searched is None else search.folds(tasks)
    if searched is None or results is None:
        return None
    fitted = [
        fitted_rule(task, done, [of_fold[at] for of_fold in results], len(tasks) > 1)
        for at, (task, done) in enumerate(zip(tasks, searched, strict=True))
    ]
    chosen = [search.choose(task, one) for task, one in zip(tasks, fitted, strict=True)]
    if stop.is_set() and config.fit.choose is not RuleChoice.OPTIMUM:
        return None
    if config.fit.claim and may_write():
        for task, one in zip(tasks, chosen, strict=True):
            rule, name = one.rule, task.dataset.positive if len(tasks) > 1 else ""
            claim = model_paths(config).claim(name)
            steps.say(write_if_proved(claim, task.fitted, rule.formula, rule.length, rule.proved))
    model = describe(config, tasks, chosen, results, others)
    model = replace(model, provenance=model.provenance | history())
    return Fitted(model, None if stop.is_set() else result_of(config, tasks, searched, model))


def save(config: Config, fitted: Fitted, say: Callable[[str], None]) -> None:
    """Write model.json and its card, and the result of the fold `all` once it has ended."""
    paths, model = model_paths(config), fitted.model
    model_file.quarantine_outdated(paths.model, model.settings, say)
    model_file.save(paths.model, model)
    files.write_atomically(paths.card, card.page(model))
    if fitted.result is not None:
        result.save(fold_paths(on_all_rows(config)).result, fitted.result)


@dataclass(frozen=True)
class _Searches:
    """The searches of one fit, which share a budget."""

    stop: threading.Event
    steps: Steps
    may_write: Callable[[], bool]
    solver_of: SolverOf
    helpers: Helpers | None
    budget: Budget
    keeps_best: bool

    def all_rows(self, tasks: Sequence[ClassTask]) -> list[FoldResult] | None:
        """The result of each rule's search; None when it was stopped."""
        results = []
        for at, task in enumerate(tasks):
            end = SHARE_OF_RULE if task.config.fit.folds else 1.0
            share_s = self.budget.share(end, len(tasks) - at)
            title = f"{_title(tasks, at)}the rule, on all rows"
            done = self._run(task.fold_config(ALL), title, share_s, self.keeps_best)
            if done is None:
                return None
            results.append(done)
        return results

    def _run(
        self, config: Config, title: str, seconds: float, keeps_best: bool = False
    ) -> FoldResult | None:
        """One fold within its share of the budget; None when it was stopped."""
        self.steps.begin(title)
        began = clock.monotonic()
        done = run_fold(
            with_budget(config, seconds),
            self.stop,
            watch=self.steps.watch,
            may_write=self.may_write,
            solver_of=self.solver_of,
            say=self.steps.say,
            helpers=self.helpers,
            gives_up=True,
            keeps_best=keeps_best,
        )
        if done is not None:
            self.budget.spent_s += max(done.seconds.total, clock.monotonic() - began)
        return done

    def others(self, tasks: list[ClassTask]) -> dict[str, Places]:
        """The predictions of other models for the rows that the folds hold out."""
        began, task, config = clock.monotonic(), tasks[0], tasks[0].config
        parts = [task.fold_rows(number) for number in range(config.fit.folds)]
        end_s = began + max(LEAST_OF_OTHERS_S, SHARE_OF_OTHERS * self.budget.total_s)
        found = comparison.predictions(
            task.dataset.table().to_numpy(dtype=float),
            labels_of(tasks),
            [(rows.fitted, rows.test) for rows in parts],
            config.fit.compare.methods if parts else {},
            _class_weight(config),
            task.dataset.weights,
            config.seed,
            lambda: self.stop.is_set() or clock.monotonic() > end_s,
        )
        self.budget.spent_s += clock.monotonic() - began
        return found

    def folds(self, tasks: Sequence[ClassTask]) -> Results | None:
        """The results of each fold; None when it was stopped."""
        results: Results = []
        count = tasks[0].config.fit.folds
        for number in range(count):
            results.append([])
            for at, task in enumerate(tasks):
                title = f"{_title(tasks, at)}cross-validation fold {number + 1} of {count}"
                share_s = self.budget.share(1.0, (count - number) * len(tasks) - at)
                done = self._run(task.fold_config(number), title, share_s)
                if done is None:
                    return results[:-1] if self.keeps_best else None
                results[-1].append(done)
        return results

    def choose(self, task: ClassTask, rule: ClassRule) -> ClassRule:
        """The rule, or another one among those that are about as good."""
        left_s = max(LEAST_OF_CHOICE_S, self.budget.share(1.0, 1))
        control = Control(deadline=clock.monotonic() + left_s, stop=self.stop)
        means = ResourceLimits(threads(task.config), control, self.helpers)
        mark = Checkpoint(task.paths.unfinished_alternatives, self.may_write, self.steps.say)
        return choice.applied(rule, task.config.fit, means, mark)


def _class_weight(config: Config) -> Any:
    """The objective in scikit-learn's terms."""
    objective = config.objective
    if objective.name is ObjectiveName.COSTS:
        return {0: objective.false_positive, 1: objective.false_negative}
    return "balanced" if objective.name is ObjectiveName.BALANCED else None


def _title(tasks: Sequence[ClassTask], at: int) -> str:
    return "" if len(tasks) == 1 else f"{tasks[at].dataset.positive}: "


def with_budget(config: Config, seconds: float) -> Config:
    """The config with this time, unless it gives less itself."""
    scan_h = min(config.scan.budget_h, SHARE_OF_SCAN * seconds / 3600)
    final_h = min(config.final.budget_h, (1 - SHARE_OF_SCAN) * seconds / 3600)
    scan, final = (
        replace(config.scan, budget_h=scan_h),
        replace(config.final, budget_h=final_h),
    )
    return replace(config, scan=scan, final=final)


def _refuse_other_table(there: Path, config: Config, dataset: Dataset) -> None:
    """A second table of the same name must not replace the first one's rule."""
    if not there.exists():
        return
    known = model_file.load(there)
    table = known.provenance.get("table")
    if known.settings.get("data") != dataset.digest and table != config.dataset.own_path:
        raise UserError(
            f"{there} is the rule of another table{f', {table}' if table else ''}; name a folder "
            "of its own with out=FOLDER, or remove it"
        )
