"""What a user of a rule has to know, as data that each front end puts into words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from fsm_hpc.formulas.formula import Formula
from fsm_hpc.search.objective import ACCURACY
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.shortest import lengths_without
from fsm_hpc.system.numbers import counted, percent

LARGE = 20_000  # rows from which on `fit` uses one split and compares longer formulas
IMBALANCED = 0.1  # share of the rarer class below which balanced classes are suggested
WARNING = "warning: "  # how the notes of a table begin that are warnings

Value = str | int | float | bool


class FrontEnd(Enum):
    """Where a note is read, which decides what settings are called there."""

    COMMAND = "command"
    PYTHON = "python"

    @property
    def words(self) -> dict[str, str]:
        """The names of settings."""
        return _WORDS[self]


class NoteKind(Enum):
    """What a note is about."""

    TEXT = "text"  # of an older version
    TABLE = "table"
    WEIGHTS_ROUNDED = "weights_rounded"
    BALANCE_ROUNDED = "balance_rounded"
    LENGTH_TIMED_OUT = "length_timed_out"
    LENGTH_INTERRUPTED = "length_interrupted"
    NOT_PROVED = "not_proved"
    ONE_SPLIT = "one_split"
    FOLDS_TIMED_OUT = "folds_timed_out"
    CONSTRAINTS = "constraints"
    ONE_ANSWER = "one_answer"
    NOT_BETTER_ON_FITTED = "not_better_on_fitted"
    RARE_CLASS = "rare_class"
    NOT_BETTER_THAN_MAJORITY = "not_better_than_majority"
    MAY_BE_CHANCE = "may_be_chance"
    LOW_RECALL = "low_recall"
    EXPLAINS = "explains"
    CHOSEN = "chosen"
    NOT_CHOSEN = "not_chosen"


_ROUNDED = "rounded to whole numbers, which moves at most {moved} of all weight: the formula is "
_TEXTS = {  # of kinds that do not bring a whole sentence
    NoteKind.WEIGHTS_ROUNDED: "the weights of rows were "
    + _ROUNDED
    + "the best found for the rounded weights, and is not proved to be the best for the given ones",
    NoteKind.BALANCE_ROUNDED: "the classes are so large that the weights that balance them were "
    + _ROUNDED
    + "the best found for these, and is not proved to be the best; small whole costs in about the "
    "ratio of the classes, such as 2 and 3, can be proved ({costs})",
    NoteKind.LENGTH_TIMED_OUT: "{cause} ended the proofs after length {length}; longer formulas "
    "were compared without proof; {continues}",
    NoteKind.LENGTH_INTERRUPTED: "{cause} ended the search at length {length}; longer formulas "
    "were not all compared",
    NoteKind.NOT_PROVED: "{cause} ended the search for the best formula of length {length}; the "
    "best so far is taken, and is not proved; {continues}",
    NoteKind.ONE_SPLIT: "as the table has {rows} rows, the length was chosen on one split into "
    "training and validation rows; {splits} uses more",
    NoteKind.FOLDS_TIMED_OUT: "{count} of {folds} reached the time limit, so these figures may be "
    "too low",
    NoteKind.ONE_ANSWER: "it predicts {target} = {answer} on each of its rows: no formula of this "
    "length does better than one answer for all",
    NoteKind.NOT_BETTER_ON_FITTED: "on the fitted rows it does not beat always predicting {answer}",
    NoteKind.RARE_CLASS: "the class {answer} has only {share} of the {of}; with {balance} both "
    "classes count the same",
    NoteKind.NOT_BETTER_THAN_MAJORITY: "with {accuracy} it does not beat always predicting the "
    "most frequent class, which is right on {majority} of the rows",
    NoteKind.MAY_BE_CHANCE: "its {accuracy} may be chance: always predicting the most frequent "
    "class is right on {majority} of the rows",
    NoteKind.LOW_RECALL: "it finds only {recall} of the rows with {target} = {answer}",
    NoteKind.EXPLAINS: "it explains the answers in {labels}: the figures state agreement with "
    "them; against {target} itself it is right on {own} of the rows, those answers on {theirs}",
    NoteKind.NOT_CHOSEN: "the optimum was kept, not chosen among alternatives: {text}",
}
_WARNINGS = {
    NoteKind.TABLE,
    NoteKind.ONE_ANSWER,
    NoteKind.NOT_BETTER_THAN_MAJORITY,
    NoteKind.LOW_RECALL,
    NoteKind.NOT_CHOSEN,
}
_LIMITS = {  # of the search: `FormulaClassifier.fit` warns about these
    NoteKind.WEIGHTS_ROUNDED,
    NoteKind.BALANCE_ROUNDED,
    NoteKind.LENGTH_TIMED_OUT,
    NoteKind.LENGTH_INTERRUPTED,
    NoteKind.NOT_PROVED,
    NoteKind.ONE_ANSWER,
}
_WORDS = {
    FrontEnd.COMMAND: {
        "time limit": "the time limit",
        "memory limit": "the memory limit",
        "number of formulas": "the number of formulas",
        "costs": "objective=costs",
        "balance": "objective=balanced",
        "max_length": "scan.max_length",
        "splits": "scan.splits=5",
        "continues": "a larger fit.budget_h continues the search",
        "repeats": "the same command continues the search",
    },
    FrontEnd.PYTHON: {
        "time limit": "time_limit_s",
        "memory limit": "the memory limit",
        "number of formulas": "the number of formulas",
        "costs": "class_weight={class: cost}",
        "balance": "class_weight='balanced'",
        "max_length": "max_length",
        "splits": "cv=5",
        "continues": "a larger time_limit_s searches on",
        "repeats": "another fit starts the search again",
    },
}


@dataclass(frozen=True)
class Note:
    """One thing to know: its kind, its figures, and the class whose rule it is about."""

    kind: NoteKind
    values: dict[str, Any] = field(default_factory=dict)
    about: Value | None = None  # None: the whole model
    is_warning: bool = False

    @staticmethod
    def of(kind: NoteKind, **values: Value) -> Note:
        return Note(kind, values, None, kind in _WARNINGS)

    @property
    def is_limit(self) -> bool:
        """Whether it says what the search could not do."""
        return self.kind in _LIMITS

    def text(self, front_end: FrontEnd = FrontEnd.COMMAND) -> str:
        """In words; shares are written as percentages."""
        words = dict(front_end.words)
        if self.values.get("cause") == "Ctrl-C":
            words["continues"] = words["repeats"]
        values = {name: _shown(value, words) for name, value in self.values.items()}
        text = _TEXTS.get(self.kind, "{text}").format(**{**words, **values})
        return text if self.about is None else f"{self.about}: {text}"

    def sentence(self, front_end: FrontEnd) -> str:
        """The text with a capital letter and a full stop, where it does not begin with a name."""
        text = self.text(front_end)
        if self.kind not in _TEXTS or self.about is not None or not text.split()[0].isalnum():
            return text
        return f"{text[0].upper()}{text[1:]}."

    def __str__(self) -> str:
        return f"{WARNING if self.is_warning else ''}{self.text()}"


def _shown(value: Any, words: dict[str, str]) -> str:
    if isinstance(value, float):
        return percent(value)
    return words.get(value, value) if isinstance(value, str) else str(value)


def of_table(texts: Iterable[str]) -> list[Note]:
    """The warnings among what was noticed when a table was read."""
    warnings = (text.removeprefix(WARNING) for text in texts if text.startswith(WARNING))
    return [Note.of(NoteKind.TABLE, text=text) for text in warnings]


def of_rounded_weights(error: float, measure: str) -> Iterator[Note]:
    """Where weights could not be made whole numbers exactly: by how much they are off."""
    if error:
        is_balanced = measure == "balanced accuracy"
        kind = NoteKind.BALANCE_ROUNDED if is_balanced else NoteKind.WEIGHTS_ROUNDED
        yield Note.of(kind, moved=f"{max(100 * error, 1e-9):.2g} %")


def of_formula(
    problem: Problem, formula: Formula, target: str, answers: Sequence[Any], suggests_balance: bool
) -> Iterator[Note]:
    """Where one answer for all is as good on the fitted rows, or one class is so rare that it may
    be; `answers` are what the formula says where it is false, and where it is true."""
    yield from (Note.of(NoteKind.CONSTRAINTS, text=text) for text in lengths_without(problem))
    positives, negatives = problem.positives, problem.weight - problem.positives
    rare, frequent = answers if positives > negatives else (answers[1], answers[0])
    if problem.errors(formula) >= min(positives, negatives):
        yield Note.of(NoteKind.NOT_BETTER_ON_FITTED, answer=str(frequent))
    share = min(positives, negatives) / problem.weight
    if suggests_balance and share < IMBALANCED and problem.objective == ACCURACY:
        of = "rows" if problem.weights is None else "weight"
        yield Note.of(NoteKind.RARE_CLASS, answer=str(rare), share=share, of=of)
    truth = formula.evaluate(problem.table)
    if truth.all() or not truth.any():
        answer = str(answers[int(truth[0])])
        yield Note.of(NoteKind.ONE_ANSWER, target=target, answer=answer)


def of_evaluation(
    figures: dict[str, Any],
    timed_out: int,
    target: str,
    classes: Sequence[Value],
    is_balanced: bool,
) -> Iterator[Note]:
    """Doubts from held-out rows; balanced classes are not compared with the majority class."""
    if timed_out:
        folds = counted(figures["folds"], "fold")
        yield Note.of(NoteKind.FOLDS_TIMED_OUT, count=timed_out, folds=folds)
    expected, majority = figures.get("accuracy"), figures["majority"]
    if not expected or expected["value"] is None:
        return
    accuracy, interval = expected["value"], expected["interval"]
    if accuracy <= majority and not is_balanced:
        kind = NoteKind.NOT_BETTER_THAN_MAJORITY
        yield Note.of(kind, accuracy=accuracy, majority=majority)
    elif interval is not None and interval[0] <= majority and not is_balanced:
        yield Note.of(NoteKind.MAY_BE_CHANCE, accuracy=accuracy, majority=majority)
    recall = figures.get("recall", {}).get("value")
    if recall is not None and recall < 0.5:
        answer = str(classes[-1])
        yield Note.of(NoteKind.LOW_RECALL, recall=recall, target=target, answer=answer)


def merged(notes_by_class: Sequence[tuple[Value, Sequence[Note]]]) -> tuple[Note, ...]:
    """The notes of all rules once, those of some rules with their class."""
    if len(notes_by_class) == 1:
        return tuple(notes_by_class[0][1])
    first = notes_by_class[0][1]
    shared = [note for note in first if all(note in notes for _, notes in notes_by_class)]
    own = [
        replace(note, about=about)
        for about, notes in notes_by_class
        for note in notes
        if note not in shared
    ]
    return (*shared, *own)
