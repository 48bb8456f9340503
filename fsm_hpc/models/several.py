"""Rules of several classes: one formula for each against the rest, asked in a fixed order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Formula, Truth
from fsm_hpc.formulas.language import Language
from fsm_hpc.models import model as model_file
from fsm_hpc.models.model import Class, Model
from fsm_hpc.models.source import Reading, Source
from fsm_hpc.search.objective import ACCURACY, Objective, ObjectiveName
from fsm_hpc.search.stop_reason import StopReason
from fsm_hpc.search.weights import row_counts, weigh
from fsm_hpc.system import files, serialization
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.value_types import Count, Share

FORMAT = model_file.FORMAT
KIND = "fsm_hpc rules of several classes"
_DERIVED = (  # written for readers of the file
    *("kind", "words", "formula", "proved", "stop_reason"),
    *(f"rules.{name}" for name in (*serialization.HEADER, *model_file.DERIVED)),
)
_CUT = (StopReason.TIMEOUT.value, StopReason.OUT_OF_MEMORY.value)
_LARGEST = 1 << 62  # weight of all rows together that 64 bits hold
Chosen = NDArray[np.int64]  # of each row: which class is said, by its place


@dataclass(frozen=True)
class Several:
    """One rule against the rest for each class; the first that holds says the class of a row.

    They are asked in the order of their training shares: how often a row was of the class where its
    formula held. Where none holds the answer is `otherwise`, the class that most such rows had.
    Rows count with their weights, as far as they have some.
    """

    target: str
    rules: tuple[Model, ...]  # in the order in which they are asked
    otherwise: Class
    shares: tuple[Share, ...]  # of each class where it is said, in the order of the rules
    rows: Count
    errors: Count  # of all rules together, in weight where rows have weights
    weight: Count | None = None  # of all rows; None: one each
    # of every class (columns) where a class is said (rows), both in the order of the rules
    class_shares: tuple[tuple[Share, ...], ...] = ()
    figures: dict[str, Any] = field(default_factory=dict)  # what to expect of them
    notes: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def classes(self) -> tuple[Class, ...]:
        return tuple(rule.classes[1] for rule in self.rules)

    @property
    def formulas(self) -> dict[Class, Formula]:
        """The formula of each class, against the rest."""
        return {rule.classes[1]: rule.formula for rule in self.rules}

    @property
    def branches(self) -> tuple[tuple[Class, Model], ...]:
        """What is said, and when, the first that holds first."""
        return tuple((rule.classes[1], rule) for rule in self.rules)

    @property
    def sources(self) -> tuple[Source, ...]:
        """The columns that some of them reads."""
        return tuple({s.name: s for rule in self.rules for s in rule.sources}.values())

    @property
    def reading(self) -> dict[str, Any]:
        return self.rules[0].reading

    @property
    def language(self) -> Language:
        """That of all its formulas."""
        return self.rules[0].language

    @property
    def constraints(self) -> dict[str, Any]:
        """That all its formulas meet."""
        return self.rules[0].constraints

    @property
    def method(self) -> str:
        return self.rules[0].method

    @property
    def proved(self) -> bool:
        """Whether each formula is the best of its length for its class."""
        return all(rule.proved for rule in self.rules)

    @property
    def words(self) -> str:
        """`Predict y = a when ...; else y = b when ...; otherwise y = c.`"""
        said = (f"{self.target} = {c} when {m.formula.words(m.phrases)}" for c, m in self.branches)
        return f"Predict {'; else '.join(said)}; otherwise {self.target} = {self.otherwise}."

    def read(self, table: Mapping[str, Any], rows: int) -> tuple[Chosen, Reading]:
        """Which class is said of every row of a table, and what was noticed in reading it."""
        whole = Reading(rows)
        truths = []
        for rule in self.rules:
            truth, reading = rule.read(table, rows)
            truths.append(truth)
            whole.gaps |= reading.gaps
            whole.notes += [note for note in reading.notes if note not in whole.notes]
        return self.decide(truths), whole

    def decide(self, truths: Sequence[Truth]) -> Chosen:
        return first_that_holds(truths, self.classes.index(self.otherwise))

    def answers(self, chosen: Chosen) -> NDArray[Any]:
        return np.asarray(np.array([*self.classes, None], dtype=object)[:-1][chosen])

    def shares_of(self, chosen: Chosen) -> NDArray[np.float64]:
        """The share of the said class among the fitted rows where it is said."""
        return np.asarray(np.array(self.shares)[chosen])


def content(rules: Model | Several) -> dict[str, Any]:
    """What model.json holds, with the texts that its readers want."""
    if isinstance(rules, Model):
        return model_file.content(rules)
    ends = [rule.stop_reason for rule in rules.rules]
    texts: dict[str, Any] = {
        "words": rules.words,
        "formula": "; ".join(f"{answer}: {rule.formula}" for answer, rule in rules.branches),
        "proved": rules.proved,
        "stop_reason": next((end for end in ends if end in _CUT), "a rule for each class"),
    }
    texts["rules"] = [model_file.content(rule) for rule in rules.rules]
    return {"kind": KIND, **serialization.header(FORMAT), **serialization.plain(rules), **texts}


def first_that_holds(truths: Sequence[Truth], otherwise: int) -> Chosen:
    """The place of the first true one of each row, or another place where none is."""
    chosen = np.full(len(truths[0]), otherwise, dtype=np.int64)
    for place in reversed(range(len(truths))):
        chosen[truths[place]] = place
    return chosen


def whole_weights(
    labels: NDArray[Any], given: NDArray[np.float64] | None, objective: Objective
) -> NDArray[np.int64] | None:
    """What each row counts, in whole numbers; balanced classes count the same. None: one each."""
    is_balanced = objective.name is ObjectiveName.BALANCED
    if given is None and not is_balanced:
        return None
    weights = np.ones(len(labels)) if given is None else given
    if is_balanced:
        whole = _balanced(labels.tolist(), list(map(int, row_counts(weights).counts)))
        if sum(whole) < _LARGEST:
            return np.array(whole, np.int64)
        weights = np.array([count / max(whole) for count in whole])
    return weigh(ACCURACY, np.zeros(len(labels), dtype=bool), weights).weights


def _balanced(labels: Sequence[Any], counts: Sequence[int]) -> list[int]:
    """Whole numbers in the ratios of the counts, within each class, that sum to the same."""
    rows = list(zip(labels, counts, strict=True))
    totals: Counter[Any] = Counter()
    for one, count in rows:
        totals[one] += count
    shared = math.lcm(*totals.values())
    return [count * (shared // totals[one]) for one, count in rows]


def order_and_default(
    shares: Mapping[Any, float],
    labels: NDArray[Any],
    truths: Mapping[Any, Truth],
    counted: NDArray[np.int64],
) -> tuple[list[Any], Any]:
    """The classes by training share, then by weight, and the class where no formula holds."""
    weights = {one: int(counted[labels == one].sum()) for one in shares}
    ordered = sorted(shares, key=lambda one: (-shares[one], -weights[one]))
    none = ~np.logical_or.reduce([truths[one] for one in ordered])
    left = np.where(none if none.any() else True, counted, 0)
    most = {one: (int(left[labels == one].sum()), weights[one]) for one in ordered}
    return ordered, max(ordered, key=lambda one: most[one])


def combine(
    target: str,
    rules: Sequence[Model],
    labels: NDArray[Any],
    truths: Mapping[Any, Truth],
    weights: NDArray[np.int64] | None = None,
    sample: NDArray[np.float64] | None = None,
) -> Several:
    """The rules of all classes together, as the fitted rows tell; `truths` by class.

    `weights` are what rows count in errors, `sample` what they count in shares.
    """
    counted = np.ones(len(labels), np.int64) if weights is None else weights
    by_class = {rule.classes[1]: rule for rule in rules}
    training = {one: rule.shares[1] for one, rule in by_class.items()}
    classes, otherwise = order_and_default(training, labels, truths, counted)
    chosen = first_that_holds([truths[c] for c in classes], classes.index(otherwise))
    actual = np.array([classes.index(one) for one in labels.tolist()])
    observed = _observed(len(classes), chosen, actual, sample)
    ordered = [by_class[one] for one in classes]
    return Several(
        target=target,
        rules=tuple(ordered),
        otherwise=otherwise,
        shares=tuple(observed[at][at] for at in range(len(classes))),
        rows=len(labels),
        errors=int(counted[chosen != actual].sum()),
        weight=None if weights is None else int(counted.sum()),
        class_shares=observed,
        figures={"majority": float(np.bincount(actual).max() / len(labels))},
        notes=tuple(_notes(ordered)),
    )


def _notes(rules: Sequence[Model]) -> Iterator[str]:
    """Those of all rules once, those of some with their class."""
    shared = [note for note in rules[0].notes if all(note in rule.notes for rule in rules)]
    yield from shared
    for rule in rules:
        yield from (f"{rule.classes[1]}: {note}" for note in rule.notes if note not in shared)


def _observed(
    count: int, chosen: Chosen, actual: Chosen, sample: NDArray[np.float64] | None
) -> tuple[tuple[float, ...], ...]:
    """The shares of the classes where each is said; those of all rows where it is never said."""
    table = np.zeros((count, count))
    np.add.at(table, (chosen, actual), 1.0 if sample is None else sample)
    table[table.sum(axis=1) == 0] = table.sum(axis=0)
    return tuple(map(tuple, (table / table.sum(axis=1, keepdims=True)).tolist()))


def save(path: Path, rules: Model | Several) -> None:
    files.write_json(path, content(rules))


def is_several(path: Path) -> bool:
    """Whether the file says that it has rules of several classes."""
    try:
        saved = serialization.read(path)
    except UnreadableError:
        return False
    return saved is not None and saved.get("kind") == KIND


def load(path: Path) -> Model | Several:
    """The rule, or the rules of several classes, in the file."""
    if not is_several(path):
        return model_file.load(path)
    try:
        known = serialization.load(Several, path, FORMAT, _DERIVED)
        assert known is not None  # read a moment ago
        count = len(known.rules)
        if count < 3:
            raise UnreadableError(f"{path.name} is invalid: expected 3 rules or more")
        if known.otherwise not in known.classes:
            raise UnreadableError(f"{path.name} is invalid: no rule has {known.otherwise!r}")
        if len(known.shares) != count:
            raise UnreadableError(f"{path.name} is invalid: each rule has one share")
        if [len(shares) for shares in known.class_shares] != [count] * count:
            raise UnreadableError(f"{path.name} is invalid: each class has a share by rule")
        for rule in known.rules:
            rule.refuse_unknown_columns(path.name)
        return known
    except UnreadableError as error:
        raise UserError(f"{path}: {error}") from None
