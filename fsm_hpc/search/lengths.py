"""The finished lengths of a scan, by split, and their means over several splits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from typing import Any

from fsm_hpc.formulas.formula import Formula
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import End, Incumbent
from fsm_hpc.system import serialization

_DIGITS = 12  # of a mean accuracy: sums that differ by rounding alone are ties


@dataclass(frozen=True, slots=True)
class Split:
    """Rows to fit formulas on, and rows to choose the length by."""

    train: Problem
    validation: Problem


@dataclass(frozen=True, slots=True)
class Length:
    """The result of the scan for one length bound."""

    length: int
    formula: Formula
    errors: int
    train_accuracy: float
    validation_accuracy: float
    proved: bool
    seconds: float
    solver: str

    @property
    def size(self) -> int:
        return self.formula.size

    @property
    def row(self) -> dict[str, Any]:
        """Its row of `lengths` in result.json and model.json."""
        values: dict[str, Any] = serialization.plain(self)
        return values | {"size": self.size, "seconds": round(self.seconds, 3)}


@dataclass(frozen=True, slots=True)
class LengthAttempt:
    """A length under way: the best formula so far, and the seconds spent on it."""

    length: int
    best: Incumbent = field(default_factory=Incumbent)
    seconds: float = 0.0
    end: End | None = None  # None: not ended
    solver: str = ""

    @property
    def progress(self) -> float | None:
        """The searched share of the length, if the solver reports it."""
        frontier = self.best.frontier
        return None if frontier is None else frontier.progress(self.length)

    @property
    def left_s(self) -> float | None:
        """An estimate of the remaining seconds, if the solver reports it."""
        frontier = self.best.frontier
        return None if frontier is None else frontier.left_s(self.length)

    def aged(self, seconds: float) -> LengthAttempt:
        return replace(self, seconds=self.seconds + seconds)


@dataclass(frozen=True, slots=True)
class SplitProgress:
    """One split's finished lengths, and the one under way."""

    lengths: tuple[Length, ...] = ()
    under_way: LengthAttempt | None = None
    spare: tuple[Length, ...] = ()  # proved by a longer scan than the current rule allows
    unproved: tuple[Length, ...] = ()  # longer ones, searched for better formulas only; not kept

    @property
    def whole(self) -> SplitProgress:
        """With the spare lengths among the others."""
        return replace(self, lengths=(*self.lengths, *self.spare), spare=(), unproved=())

    @property
    def candidates(self) -> tuple[Length, ...]:
        """The lengths to choose among."""
        return (*self.lengths, *self.unproved)

    def up_to(self, count: int) -> SplitProgress:
        """The first lengths only, the others to spare."""
        return SplitProgress(self.lengths[:count], None, self.lengths[count:])

    @property
    def seconds(self) -> float:
        under_way = self.under_way.seconds if self.under_way else 0.0
        return sum(entry.seconds for entry in self.lengths) + under_way

    def next_attempt(self, first: int = 1) -> LengthAttempt:
        """The length to look at next; `first` is the smallest with a formula in every split."""
        if not self.lengths:
            return LengthAttempt(first)
        last = self.lengths[-1]
        return LengthAttempt(last.length + 1, Incumbent(last.formula, last.errors, last.length))

    def aged(self, seconds: float) -> SplitProgress:
        return replace(self, under_way=self.under_way and self.under_way.aged(seconds))


def means(by_split: Sequence[tuple[Length, ...]]) -> tuple[Length, ...]:
    """The lengths that all have, with mean accuracies; the formula is that of the first."""
    if len(by_split) == 1:
        return by_split[0]
    return tuple(map(_mean, zip(*by_split, strict=False)))


def _mean(entries: tuple[Length, ...]) -> Length:
    def average(name: str) -> float:
        return round(fsum(getattr(entry, name) for entry in entries) / len(entries), _DIGITS)

    return replace(
        entries[0],
        train_accuracy=average("train_accuracy"),
        validation_accuracy=average("validation_accuracy"),
        proved=all(entry.proved for entry in entries),
        seconds=sum(entry.seconds for entry in entries),
    )


def describe_length(
    split: Split, attempt: LengthAttempt, formula: Formula, errors: int, proved: bool
) -> Length:
    """The record of a length with the accuracies of its formula."""
    return Length(
        length=attempt.length,
        formula=formula,
        errors=errors,
        train_accuracy=1.0 - errors / split.train.weight,
        validation_accuracy=split.validation.accuracy(formula),
        proved=proved and split.train.has_exact_weights,
        seconds=attempt.seconds,
        solver=attempt.solver,
    )


def best_within(entries: Iterable[Length], first: int, last: int) -> tuple[Length, ...]:
    """Of each length the formula with fewest errors, of these the smallest; none where none is."""
    ranked = sorted(entries, key=lambda entry: (entry.errors, entry.size))
    best = ((n, next((e for e in ranked if e.size <= n), None)) for n in range(first, last + 1))
    return tuple(replace(entry, length=n) for n, entry in best if entry is not None)


def shortest_length(problem: Problem) -> int:
    """The smallest length at which some formula meets the constraints."""
    return problem.shortest.size if problem.constraints.binds else 1


def first_length(splits: Sequence[Split]) -> int:
    """The smallest length with a formula in every split."""
    return max((shortest_length(split.train) for split in splits), default=1)
