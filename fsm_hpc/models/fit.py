"""One rule from all rows of a table, and from folds of the same procedure what to expect of it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsm_hpc.data.dataset import Dataset
from fsm_hpc.data.folds import all_rows, fold_rows
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.parser import parse
from fsm_hpc.models import choice, several, source
from fsm_hpc.models import model as model_file
from fsm_hpc.models.learn import SHARE_OF_SCAN, shares
from fsm_hpc.models.model import Model
from fsm_hpc.models.rule_notes import WARNING, notes_of_search, notes_on, one_answer
from fsm_hpc.search import rounding
from fsm_hpc.search.ladder import Split
from fsm_hpc.search.near_optimal.choices import RuleChoice
from fsm_hpc.search.near_optimal.kept import Bookmark, Means
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.rounding import within_slack
from fsm_hpc.search.scan import ScanState, is_proved
from fsm_hpc.search.shortest import lengths_without
from fsm_hpc.search.solvers.base import Control, End
from fsm_hpc.search.stop_reason import StopReason
from fsm_hpc.study import measures, result
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import RulePaths, StudyPaths
from fsm_hpc.study.fold import load_dataset, memory_mb, problem_of, threads
from fsm_hpc.study.measures import Confusion
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
from fsm_hpc.system.numbers import percent

if TYPE_CHECKING:
    from fsm_hpc.search.solvers.native.parts import Helpers

SHARE_OF_RULE = 0.4  # of the budget that the rule itself may take; its folds have the rest
LEAST_OF_CHOICE_S = 10.0  # that a choice may take, however little of the budget is left


@dataclass(frozen=True)
class Steps:
    """Whom to tell how far it is: which part begins, and the state of its search."""

    begin: Callable[[str], None] = lambda part: None
    watch: Callable[[ScanState], None] = lambda state: None
    say: Callable[[str], None] = lambda text: None


def rule_paths(config: Config) -> RulePaths:
    """Where model.json goes: `out`, else beside the folds of the method."""
    if config.out is not None:
        return RulePaths(config.out)
    study = StudyPaths(config.results_dir / config.study)
    return study.rule(config.dataset.name, config.method.name.value)


def fit(
    config: Config,
    stop: threading.Event | None = None,
    steps: Steps | None = None,
    may_write: Callable[[], bool] = lambda: True,
    history: History = dict,
    solver_of: SolverOf = configured_solver,
    helpers: Helpers | None = None,
    started: float | None = None,
) -> Model | None:
    """The rule; None when `stop` was set, and the next call goes on from there.

    The budget counts from `started`, on the clock of clock.monotonic(), so that it has reading and
    preparing the table in it; compiling is not.
    """
    began = clock.monotonic() if started is None else started
    stop, steps = stop or threading.Event(), steps or Steps()
    dataset = load_dataset(config.dataset, config.data_dir, config.allow_changed_data)
    paths = rule_paths(config)
    _refuse_other_table(paths.model, config, dataset)
    _refuse_too_many_folds(config, dataset)
    budget_s = config.fit.budget_h * 3600
    steps.begin("the rule, on all rows")
    rows = all_rows(dataset.labels, dataset.groups, config.folding)
    splits = [Split(*(problem_of(dataset, config, part) for part in two)) for two in rows.splits]
    fitted = problem_of(dataset, config, rows.fitted)
    choice.check(fitted, config.fit)
    preparation_s = clock.monotonic() - began
    rule_s = budget_s * (SHARE_OF_RULE if config.fit.folds else 1.0)
    own = _with_budget(config, max(0.0, rule_s - preparation_s))
    state = search_formula(
        paths.scan,
        splits,
        fitted,
        solver_of(own, helpers),
        limits_of(own, stop),
        steps.watch,
        may_write,
        steps.say,
    )
    if not state.is_finished:
        return None
    assert state.final is not None
    used_s = preparation_s + state.scan_s + state.final.seconds
    results = []
    run = partial(run_fold, stop=stop, watch=steps.watch, may_write=may_write, say=steps.say)
    for one in _fold_configs(config):
        steps.begin(f"fold {one.fold + 1} of {one.folds}, to tell what to expect")
        left_s = max(0.0, budget_s - used_s) / (one.folds - one.fold)
        one, began = _with_budget(one, left_s), clock.monotonic()
        done = run(one, solver_of=solver_of, helpers=helpers)
        if done is None:
            return None
        used_s += max(done.seconds.total, clock.monotonic() - began)
        results.append(done)
    model = describe(dataset, config, state, splits, fitted, results)
    deadline = clock.monotonic() + max(LEAST_OF_CHOICE_S, budget_s - used_s)
    means = Means(threads(config), Control(deadline=deadline, stop=stop), helpers)
    mark = Bookmark(paths.unfinished_alternatives, may_write, steps.say)
    model = choice.applied(model, dataset, fitted, config.fit, means, mark)
    if stop.is_set() and config.fit.choose is not RuleChoice.OPTIMUM:
        return None
    return replace(model, provenance=model.provenance | history())


def refuse_other_rules(there: Path, config: Config) -> None:
    """Rules of several classes of another target or table must not be replaced."""
    if not there.exists():
        return
    known = several.load(there)
    table, target = known.provenance.get("table"), known.target
    if (table, target) != (config.dataset.own_path, config.dataset.target):
        raise UserError(
            f"{there} is the rule of another table or target, {target}; name a folder of its own "
            "with out=FOLDER, or remove it"
        )


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


def _refuse_too_many_folds(config: Config, dataset: Dataset) -> None:
    """A table too small for its folds is told before anything is searched."""
    folding = replace(config.folding, folds=config.fit.folds)
    try:
        for number in range(config.fit.folds):
            fold_rows(dataset.labels, dataset.groups, number, folding)
    except UserError as error:
        raise UserError(f"{error} (fit.folds=NUMBER; 0 gives a rule that nothing judges)") from None


def _with_budget(config: Config, seconds: float) -> Config:
    """The config with this time, unless it gives less itself."""
    scan_h = min(config.scan.budget_h, SHARE_OF_SCAN * seconds / 3600)
    final_h = min(config.final.budget_h, (1 - SHARE_OF_SCAN) * seconds / 3600)
    return replace(
        config,
        scan=replace(config.scan, budget_h=scan_h),
        final=replace(config.final, budget_h=final_h),
    )


def _fold_configs(config: Config) -> Iterator[Config]:
    """The folds of the same procedure."""
    return (fold_config(config, number) for number in range(config.fit.folds))


def fold_config(config: Config, number: int) -> Config:
    """One of the folds that tell what to expect of a rule, kept beside it."""
    root = rule_paths(config).judging.root
    return replace(
        config, results_dir=root.parent, study=root.name, folds=config.fit.folds, fold=number
    )


# --------------------------------------------------------------------------------- what it says


def describe(
    dataset: Dataset,
    config: Config,
    state: ScanState,
    splits: Sequence[Split],
    fitted: Problem,
    results: Sequence[FoldResult],
) -> Model:
    """The model of a finished search, with what its folds tell."""
    assert state.final is not None
    assert state.final.best.formula is not None
    assert state.stop_reason is not None
    formula = within_slack(fitted, state.final.best.formula)
    used = {p.column for p in formula.propositions()}
    model = Model(
        formula=formula,
        target=dataset.target,
        classes=(dataset.negative, dataset.positive),
        sources=tuple(source.of_dataset(dataset, used)),
        shares=shares(fitted, formula),
        method=config.method.name.value,
        language=config.language.name,
        constraints=config.rule.named,
        rows=fitted.rows,
        errors=fitted.errors(formula),
        measure=fitted.measure,
        weight=None if fitted.weights is None else fitted.weight,
        length=state.final.length,
        proved=is_proved(fitted, state.final),
        stop_reason=state.stop_reason.value,
        cut=state.stop_reason in (StopReason.TIMEOUT, StopReason.OUT_OF_MEMORY),
        lengths=tuple(length_rows(state, splits)),
        figures=figures(results, fitted),
        before_rounding=rounding.before(fitted, state.final.best.formula, formula),
        stability=stability(results),
        reading={
            "missing_values": list(config.dataset.missing_values),
            "zero_is_missing": list(config.dataset.zero_is_missing),
            "notes": [note for note in dataset.notes if not note.startswith(WARNING)],
        },
        settings=result.settings_that_matter(config, dataset.digest),
        provenance=provenance(config, threads(config), memory_mb(config)),
    )
    doubts = [note for note in dataset.notes if note.startswith(WARNING)]
    same = one_answer(fitted, model.formula, model.target, model.classes)
    alike = (f"{WARNING}{note}" for note in same)
    rounded = measures.rounding_in_words(fitted.weight_error, fitted.measure)
    told = (
        *_imitation(model, dataset, config),
        *notes_of_search(model, state.final.end is End.PROVED, results),
    )
    more = notes_on(fitted, formula, model.classes, "objective=balanced")
    notes = (*doubts, *rounded, *lengths_without(fitted), *alike, *told, *more)
    return replace(model, notes=notes)


def figures(results: Sequence[FoldResult], fitted: Problem) -> dict[str, Any]:
    """What to expect of the rule on new rows, from rows that folds held out."""
    positives = int(fitted.labels.sum())
    majority = max(positives, fitted.rows - positives) / fitted.rows
    if not results:
        return {"folds": 0, "majority": majority}
    matrix = measures.total(one.confusion for one in results)
    known = measures.intervals(matrix)
    said: dict[str, Any] = {"folds": len(results), "rows": matrix.rows, "majority": majority}
    for name, value in matrix.measures().items():
        if name != "majority":
            said[name] = {"value": value, "interval": known.get(name)}
    names = Confusion.__dataclass_fields__
    return said | {"confusion": {name: getattr(matrix, name) for name in names}}


def stability(results: Sequence[FoldResult]) -> dict[str, Any]:
    """The formulas of the folds, and how often each column and each cut comes back."""
    formulas = Counter(one.formula for one in results if one.formula)
    columns: Counter[str] = Counter()
    cuts: dict[str, Counter[str]] = {}
    for one in results:
        propositions = set(parse(one.formula or "").propositions())
        columns.update({proposition.column for proposition in propositions})
        for proposition in propositions:
            if proposition.cuts:
                said = " to ".join(map(str, proposition.cuts))
                cuts.setdefault(proposition.column, Counter())[said] += 1
    return {
        "formulas": [{"formula": text, "folds": count} for text, count in formulas.most_common()],
        "columns": dict(columns.most_common()),
        "cuts": {column: dict(counts.most_common()) for column, counts in cuts.items()},
    }


def _imitation(model: Model, dataset: Dataset, config: Config) -> Iterator[str]:
    """What a rule that explains another model's answers has to say beside its agreement."""
    if dataset.own_labels is None:
        return
    truth = model.formula.evaluate({c.name: c.values for c in dataset.columns})
    own, theirs = dataset.own_labels, dataset.labels
    yield (
        f"it explains the answers in {config.dataset.labels}: what to expect of it is agreement "
        f"with them; against {model.target} itself it is right on "
        f"{percent(float((truth == own).mean()))} of the rows, those answers on "
        f"{percent(float((theirs == own).mean()))}"
    )
