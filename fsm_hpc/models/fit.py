"""One model from all rows of a table, and from folds of the same procedure what to expect of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsm_hpc.data.dataset import Dataset
from fsm_hpc.errors import UserError
from fsm_hpc.models import choice, combine, comparison, evaluation, learn, notes
from fsm_hpc.models import model as model_file
from fsm_hpc.models.combine import ClassRule, Places
from fsm_hpc.models.learn import SHARE_OF_SCAN
from fsm_hpc.models.model import Model
from fsm_hpc.models.notes import WARNING, Note, NoteKind
from fsm_hpc.models.tasks import ClassTask, classes_of, labels_of, rule_paths, tasks_of
from fsm_hpc.search.claim import write_if_proved
from fsm_hpc.search.near_optimal.choices import RuleChoice
from fsm_hpc.search.near_optimal.kept import Checkpoint, Means
from fsm_hpc.search.objective import ObjectiveName
from fsm_hpc.search.scan import ScanState, finish
from fsm_hpc.search.solvers.base import Control
from fsm_hpc.search.stop_reason import StopReason
from fsm_hpc.study import fingerprint
from fsm_hpc.study.config import Config
from fsm_hpc.study.fold import memory_mb, threads
from fsm_hpc.study.provenance import provenance
from fsm_hpc.study.result import FoldResult
from fsm_hpc.study.run import (
    History,
    SolverOf,
    configured_solver,
    length_rows,
    limits_of,
    run_fold,
    search_formula,
)
from fsm_hpc.system import clock

if TYPE_CHECKING:
    from fsm_hpc.search.solvers.native.parts import Helpers

SHARE_OF_RULE = 1 / 3  # of the budget that the model itself may take; its folds have the rest
SHARE_OF_OTHERS = 0.15  # of the budget that other models may take
LEAST_OF_OTHERS_S = 2.0
LEAST_OF_CHOICE_S = 10.0  # that a choice may take, however little of the budget is left
Results = list[list[FoldResult]]  # of each fold, of each class


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
) -> Model | None:
    """The model; None when `stop` was set, and the next call continues from there.

    With `keeps_best` a stopped search gives the best model so far, without what is missing.

    The budget counts from `started`, on the clock of clock.monotonic(), so that it includes reading
    and preparing the table; compilation is not included.
    """
    began = clock.monotonic() if started is None else started
    stop, steps = stop or threading.Event(), steps or Steps()
    tasks = tasks_of(config)
    _refuse_other_table(rule_paths(config).model, config, tasks[0].dataset)
    for task in tasks:
        task.refuse_too_many_folds()
        choice.check(task.fitted, config.fit)
    budget = Budget(config.fit.budget_h * 3600, clock.monotonic() - began)
    search = _Searches(stop, steps, may_write, solver_of, helpers, budget, keeps_best)
    states = search.all_rows(tasks)
    others = {} if states is None else search.others(tasks)
    results = None if states is None else search.folds(tasks)
    if states is None or results is None:
        return None
    fitted = [
        _fitted_rule(task, state, [of_fold[at] for of_fold in results], len(tasks) > 1)
        for at, (task, state) in enumerate(zip(tasks, states, strict=True))
    ]
    chosen = [search.choose(task, one) for task, one in zip(tasks, fitted, strict=True)]
    if stop.is_set() and config.fit.choose is not RuleChoice.OPTIMUM:
        return None
    if config.fit.claim and may_write():
        for task, one in zip(tasks, chosen, strict=True):
            rule, claim = one.rule, task.paths.claim
            steps.say(write_if_proved(claim, task.fitted, rule.formula, rule.length, rule.proved))
    model = describe(config, tasks, chosen, results, others)
    return replace(model, provenance=model.provenance | history())


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

    def all_rows(self, tasks: Sequence[ClassTask]) -> list[ScanState] | None:
        """The final state of each rule's search; None when it was stopped."""
        states = []
        for at, task in enumerate(tasks):
            self.steps.begin(f"{_title(tasks, at)}the rule, on all rows")
            end = SHARE_OF_RULE if task.config.fit.folds else 1.0
            own = with_budget(task.config, self.budget.share(end, len(tasks) - at))
            state = search_formula(
                task.paths.scan,
                task.splits,
                task.fitted,
                self.solver_of(own, self.helpers),
                limits_of(own, self.stop, gives_up=True),
                self.steps.watch,
                self.may_write,
                self.steps.say,
            )
            if not state.is_finished and self.keeps_best:
                state = self._best_so_far(task, state)
            elif not state.is_finished:
                return None
            assert state.final is not None
            self.budget.spent_s += state.scan_s + state.final.seconds
            states.append(state)
        return states

    def _best_so_far(self, task: ClassTask, state: ScanState) -> ScanState:
        """The state with a final formula, found without further search."""
        if state.final is not None and state.final.best.formula is not None:
            return state
        limits = replace(limits_of(task.config, threading.Event()), final_budget_s=0.0)
        with closing(self.solver_of(task.config, None)) as solver:
            return list(finish(task.fitted, solver, replace(state, final=None), limits))[-1]

    def others(self, tasks: list[ClassTask]) -> dict[str, Places]:
        """The predictions of other models for the rows that the folds hold out."""
        began, task, config = clock.monotonic(), tasks[0], tasks[0].config
        parts = [task.fold_rows(number) for number in range(config.fit.folds)]
        end_s = began + max(LEAST_OF_OTHERS_S, SHARE_OF_OTHERS * self.budget.total_s)
        found = comparison.predictions(
            task.dataset.table().to_numpy(dtype=float),
            labels_of(tasks),
            [(rows.fitted, rows.test) for rows in parts],
            config.fit.compare.names if parts else (),
            _class_weight(config),
            task.dataset.weights,
            config.seed,
            lambda: self.stop.is_set() or clock.monotonic() > end_s,
        )
        self.budget.spent_s += clock.monotonic() - began
        return found

    def folds(self, tasks: Sequence[ClassTask]) -> Results | None:
        """The results of each fold; None when it was stopped."""
        run = partial(
            run_fold,
            stop=self.stop,
            watch=self.steps.watch,
            may_write=self.may_write,
            solver_of=self.solver_of,
            say=self.steps.say,
            helpers=self.helpers,
            gives_up=True,
        )
        results: Results = []
        count = tasks[0].config.fit.folds
        for number in range(count):
            results.append([])
            for at, task in enumerate(tasks):
                title = f"{_title(tasks, at)}cross-validation fold {number + 1} of {count}"
                self.steps.begin(title)
                left = (count - number) * len(tasks) - at
                own = with_budget(task.fold_config(number), self.budget.share(1.0, left))
                began, done = clock.monotonic(), run(own)
                if done is None:
                    return results[:-1] if self.keeps_best else None
                self.budget.spent_s += max(done.seconds.total, clock.monotonic() - began)
                results[-1].append(done)
        return results

    def choose(self, task: ClassTask, rule: ClassRule) -> ClassRule:
        """The rule, or another one among those that are about as good."""
        left_s = max(LEAST_OF_CHOICE_S, self.budget.share(1.0, 1))
        control = Control(deadline=clock.monotonic() + left_s, stop=self.stop)
        means = Means(threads(task.config), control, self.helpers)
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


# ----------------------------------------------------------------------------------- description


def _fitted_rule(
    task: ClassTask, state: ScanState, results: Sequence[FoldResult], has_more: bool
) -> ClassRule:
    """The rule of a class, with the formulas of its folds."""
    dataset, problem = task.dataset, task.fitted
    lengths = tuple(length_rows(state, task.splits))
    is_cut = state.stop_reason is None or state.final is None or state.final.end is None
    found = learn.described(problem, dataset.positive, state, lengths, interrupted=is_cut)
    stability = evaluation.stability(results)
    rule = replace(found.rule, stability=stability, data=dataset.digest)
    no = f"not {dataset.positive}" if has_more else dataset.negative
    is_plain = task.config.objective.name is ObjectiveName.ACCURACY
    answers = (no, dataset.positive)
    about = notes.of_formula(problem, rule.formula, dataset.target, answers, is_plain)
    return ClassRule(rule, problem, (*found.notes, *about))


def describe(
    config: Config,
    tasks: list[ClassTask],
    fitted: Sequence[ClassRule],
    results: Results,
    others: dict[str, Places],
) -> Model:
    """The model of finished searches, with what their folds tell."""
    dataset, classes, labels = tasks[0].dataset, classes_of(tasks), labels_of(tasks)
    used = {p.column for one in fitted for p in one.rule.formula.propositions()}
    found = evaluation.held_out(tasks, labels, results)
    figures = evaluation.figures(labels, classes, found)
    if found is not None and others:
        is_balanced = config.objective.name is ObjectiveName.BALANCED
        same = {name: places[: len(found.rows)] for name, places in others.items()}  # if stopped
        compared = comparison.compare(found.labels, found.predicted, same, is_balanced)
        figures["comparison"] = asdict(compared)
    model = combine.build(
        dataset.target,
        classes,
        labels,
        fitted,
        dataset.schemas_of(used),
        constraints=config.rule.named,
        figures=figures,
        reading={
            "missing_values": list(config.dataset.missing_values),
            "zero_is_missing": list(config.dataset.zero_is_missing),
            "notes": [note for note in dataset.notes if not note.startswith(WARNING)],
        },
        settings=fingerprint.settings_that_matter(tasks[0].config, dataset.digest),
        provenance=provenance(config, threads(config), memory_mb(config)),
    )
    more = (
        *_imitation(model, dataset, config),
        *notes.of_evaluation(figures, _timed_out(results), dataset.target, classes),
    )
    return replace(model, notes=(*notes.of_table(dataset.notes), *model.notes, *more))


def _timed_out(results: Results) -> int:
    """The number of folds that reached their time limit."""
    return sum(
        any(r.stop_reason == StopReason.TIMEOUT.value or r.final_end == "timeout" for r in of_fold)
        for of_fold in results
    )


def _imitation(model: Model, dataset: Dataset, config: Config) -> Iterator[Note]:
    """What a rule that explains another model's answers has to state beside its agreement."""
    if dataset.own_labels is None:
        return
    truth = model.formula.evaluate({c.name: c.values for c in dataset.columns})
    own, theirs = dataset.own_labels, dataset.labels
    values: dict[str, Any] = {"labels": str(config.dataset.labels), "target": model.target}
    values |= {"own": float((truth == own).mean()), "theirs": float((theirs == own).mean())}
    yield Note.of(NoteKind.EXPLAINS, **values)
