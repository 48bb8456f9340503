"""The model and the result of a finished `fit`, and what its folds tell of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from fsm_hpc.data.dataset import Dataset
from fsm_hpc.formulas.parser import parse
from fsm_hpc.models import combine, comparison, evaluation, learn, notes
from fsm_hpc.models.combine import ClassRule, Places
from fsm_hpc.models.model import Model
from fsm_hpc.models.notes import WARNING, Note, NoteKind
from fsm_hpc.models.tasks import ClassTask, classes_of, labels_of, on_all_rows
from fsm_hpc.search.lengths import LengthAttempt
from fsm_hpc.search.objective import ObjectiveName
from fsm_hpc.search.scan import ScanState
from fsm_hpc.search.solvers.base import End, Incumbent
from fsm_hpc.search.stop_reason import StopReason
from fsm_hpc.study import fingerprint
from fsm_hpc.study.config import Config
from fsm_hpc.study.fold import memory_mb, threads
from fsm_hpc.study.measures import Confusion
from fsm_hpc.study.provenance import provenance
from fsm_hpc.study.result import INTERRUPTED, FoldResult

Results = list[list[FoldResult]]  # of each fold, of each class


def fitted_rule(
    task: ClassTask, done: FoldResult, results: Sequence[FoldResult], has_more: bool
) -> ClassRule:
    """The rule of a class, with the formulas of its folds."""
    dataset, problem = task.dataset, task.fitted
    is_cut = done.stop_reason == INTERRUPTED or done.final_end is None
    lengths, end = tuple(done.lengths), _end_of(done)
    found = learn.described(problem, dataset.positive, end, lengths, interrupted=is_cut)
    stability = evaluation.stability(results)
    rule = replace(found.rule, stability=stability, data=dataset.digest)
    no = f"not {dataset.positive}" if has_more else dataset.negative
    is_plain = task.config.objective.name is ObjectiveName.ACCURACY
    answers = (no, dataset.positive)
    about = notes.of_formula(problem, rule.formula, dataset.target, answers, is_plain)
    return ClassRule(rule, problem, (*found.notes, *about))


def _end_of(done: FoldResult) -> ScanState:
    """The state in which a search ended, without its lengths."""
    formula = parse((done.before_rounding or {}).get("formula") or done.formula or "")
    best = Incumbent(formula, done.errors, done.proved_length or 0, done.lower_bound or 0)
    end = None if done.final_end is None else End(done.final_end)
    final = LengthAttempt(done.length_bound or 1, best, done.seconds.final, end)
    is_cut = done.stop_reason == INTERRUPTED
    return ScanState(stop_reason=None if is_cut else StopReason(done.stop_reason), final=final)


def result_of(
    config: Config, tasks: Sequence[ClassTask], searched: Sequence[FoldResult], model: Model
) -> FoldResult:
    """The result of the fold `all`; the rows that its folds hold out are its held-out rows."""
    done, whole = searched[0], on_all_rows(config)
    settings = fingerprint.settings_that_matter(whole, tasks[0].dataset.digest)
    accuracy = model.figures.get("accuracy", {}).get("value") or 0.0
    done = replace(
        done,
        settings=settings,
        fingerprint=fingerprint.fingerprint(settings),
        accuracy=replace(done.accuracy, test=accuracy),
        confusion=Confusion(**model.figures.get("confusion", dict.fromkeys(_CONFUSION, 0))),
        rows=done.rows | {"test": model.figures.get("rows", 0)},
        words=model.words,
        provenance=model.provenance | {"budgets_h": config.budgets_h},
        variant="",
    )
    if len(searched) == 1:
        return done
    cut = (StopReason.TIMEOUT.value, StopReason.OUT_OF_MEMORY.value)
    reasons = [one.stop_reason for one in searched]
    return replace(  # a model of several formulas
        done,
        formula=None,
        latex=None,
        size=None,
        length_bound=None,
        errors=None,
        lower_bound=None,
        proved_length=None,
        lengths=[],
        before_rounding=None,
        phrases={},
        proved=all(one.proved for one in searched),
        stop_reason=next((reason for reason in reasons if reason in cut), reasons[0]),
        positive=", ".join(classes_of(list(tasks))),
        negative="",
    )


_CONFUSION = tuple(Confusion.__dataclass_fields__)


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
    is_balanced = config.objective.name is ObjectiveName.BALANCED
    if found is not None and others:
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
        settings=fingerprint.settings_that_matter(replace(tasks[0].config, fold=0), dataset.digest),
        provenance=provenance(config, threads(config), memory_mb(config)),
    )
    more = (
        *_one_split(config, dataset.rows),
        *_imitation(model, dataset, config),
        *notes.of_evaluation(figures, _timed_out(results), dataset.target, classes, is_balanced),
    )
    return replace(model, notes=(*notes.of_table(dataset.notes), *model.notes, *more))


def _one_split(config: Config, rows: int) -> Iterator[Note]:
    """A large table has one split by default, which its users have to know."""
    if config.scan.splits == 1 and rows >= notes.LARGE:
        yield Note.of(NoteKind.ONE_SPLIT, rows=f"{rows:,}")


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
