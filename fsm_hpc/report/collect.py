"""Read the results of a study: one row per fold, in any state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any, NamedTuple

from fsm_hpc import baselines
from fsm_hpc.cluster.watch import fold_files
from fsm_hpc.cluster.watch.fold_files import FoldRef
from fsm_hpc.cluster.watch.states import FoldState, FoldStatus, fold_states
from fsm_hpc.errors import UserError
from fsm_hpc.search.method import Method
from fsm_hpc.search.proof import ProofLevel, Verification, level
from fsm_hpc.study import alternatives
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold_id import ALL, FoldId
from fsm_hpc.study.measures import METRICS
from fsm_hpc.study.result import FoldResult, exceeds


@dataclass(frozen=True, slots=True)
class Row:
    """One fold: its state with the reason, and its result where there is one."""

    id: FoldId
    state: FoldState
    reason: str = ""
    result: FoldResult | None = None
    lengths: Sequence[Mapping[str, Any]] = ()  # of an unfinished fold: those on disk
    without_set: str = ""  # why its file of alternatives is missing or invalid
    outdated: int = 0  # number of renamed files of other rows or settings
    verification: Verification | None = None  # of this result, by the independent checker

    @property
    def dataset(self) -> str:
        return self.id.dataset

    @property
    def method(self) -> str:
        return self.id.method

    @property
    def variant(self) -> str:
        return self.id.variant

    @property
    def fold(self) -> int:
        return self.id.fold

    @property
    def proof(self) -> ProofLevel | None:
        """The proof level of its formula; None without one."""
        done = self.result
        if done is None or done.formula is None:
            return None
        return level(done.proved, self.verification)

    @property
    def threads(self) -> int:
        """Of all nodes together."""
        provenance = self.result.provenance if self.result else {}
        return int(provenance.get("nodes") or 1) * int(provenance.get("threads") or 1)

    @property
    def core_hours(self) -> float:
        return self.result.seconds.total * self.threads / 3600 if self.result else 0.0

    @property
    def model_size(self) -> int | None:
        """Symbols of a formula or model; nodes of an ensemble that version 0.2 fitted."""
        if self.result is None:
            return None
        model = self.result.model
        return self.result.size if model is None else model.get("symbols", model.get("nodes"))


class DatasetVariant(NamedTuple):
    """A dataset in one variant of the study; methods are compared within it."""

    dataset: str
    variant: str = ""

    def __str__(self) -> str:
        return f"{self.dataset}, {self.variant}" if self.variant else self.dataset


@dataclass(frozen=True)
class FoldGroup:
    """The folds of one dataset, method and variant."""

    dataset: str
    method: str
    rows: tuple[Row, ...]
    variant: str = ""

    @property
    def dataset_variant(self) -> DatasetVariant:
        return DatasetVariant(self.dataset, self.variant)

    @property
    def name(self) -> str:
        """`bank/pivot`, `bank/pivot/seed=2`."""
        return "/".join(filter(None, (self.dataset, self.method, self.variant)))

    @cached_property
    def results(self) -> tuple[FoldResult, ...]:
        return tuple(row.result for row in self.rows if row.result is not None)

    @cached_property
    def counts(self) -> Counter[FoldState]:
        return Counter(row.state for row in self.rows)

    @property
    def finds_formula(self) -> bool:
        return finds_formula(self.method)

    @cached_property
    def example(self) -> Row | None:
        """The first fold that has a formula."""
        return next((row for row in self.rows if row.result and row.result.formula), None)

    def shares(self, measure: str) -> dict[int, float | None]:
        """A measure of the held-out rows by fold, 0 to 1; None where it is undefined."""
        if measure == "accuracy":
            return {done.fold: done.accuracy.test for done in self.results}
        return {done.fold: done.measures[measure] for done in self.results}

    def gains_over(self, other: FoldGroup, measure: str) -> list[float]:
        """Differences to the other group in points, for folds in which both are defined."""
        theirs = other.shares(measure)
        pairs = [(share, theirs.get(fold)) for fold, share in self.shares(measure).items()]
        gain = METRICS[measure].gain
        return [gain(a, b) for a, b in pairs if a is not None and b is not None]

    def mean(self, measure: str) -> float | None:
        """The mean of a measure over the folds in which it is defined."""
        return mean_of_defined(self.shares(measure).values())

    @cached_property
    def majority(self) -> float | None:
        """The accuracy of always predicting the more frequent class, averaged over the folds."""
        return self.mean("majority")

    @cached_property
    def beats_majority(self) -> bool | None:
        """Whether the folds are more accurate than the majority; None without results."""
        accuracy = self.mean("accuracy")
        if accuracy is None or self.majority is None:
            return None
        return exceeds(accuracy, self.majority)


@dataclass(frozen=True)
class Study:
    """All folds of a study, in order."""

    name: str
    rows: tuple[Row, ...]

    @cached_property
    def groups(self) -> dict[tuple[str, ...], FoldGroup]:
        """Groups by dataset, method and variant."""
        groups: dict[tuple[str, ...], list[Row]] = {}
        for row in self.rows:
            groups.setdefault(row.id.place, []).append(row)
        return {
            key: FoldGroup(rows[0].dataset, rows[0].method, tuple(rows), rows[0].variant)
            for key, rows in groups.items()
        }

    def group(self, key: DatasetVariant, method: str) -> FoldGroup | None:
        """The folds of a method on a dataset, in a variant."""
        return self.groups.get(FoldId(key.dataset, method, 0, key.variant).place)

    @cached_property
    def variants(self) -> tuple[str, ...]:
        """The variants of its folds, the plain one first; only "" without variants."""
        return tuple(sorted({row.variant for row in self.rows}))

    @property
    def has_variants(self) -> bool:
        return any(self.variants)

    @cached_property
    def dataset_variants(self) -> tuple[DatasetVariant, ...]:
        """Every dataset in each of its variants."""
        return tuple(sorted({DatasetVariant(row.dataset, row.variant) for row in self.rows}))

    @cached_property
    def datasets(self) -> tuple[str, ...]:
        return tuple(sorted({row.dataset for row in self.rows}))

    @cached_property
    def methods(self) -> tuple[str, ...]:
        return tuple(sorted({row.method for row in self.rows}, key=_method_order))

    @cached_property
    def counts(self) -> Counter[FoldState]:
        return Counter(row.state for row in self.rows)

    @cached_property
    def proofs(self) -> Counter[ProofLevel]:
        """How many formulas have each proof level."""
        return Counter(row.proof for row in self.rows if row.proof is not None)


def read(
    study: StudyPaths, folds: Sequence[FoldRef] | None = None, *, fills_up: bool = False
) -> Study:
    """Read these folds; by default, or with `fills_up`, all of each started dataset and method."""
    if not study.root.is_dir():
        raise UserError(
            f"there is no study in {study.root}; select one with results_dir= and study="
        )
    known = fold_files.on_disk(study.root) if folds is None else folds
    statuses, _ = fold_states([ref for ref in known if ref.id.fold != ALL])
    rows = {status.ref.id: _row(status) for status in statuses}
    if folds is None or fills_up:
        rows |= {f: Row(f, FoldState.MISSING) for f in _expected(rows.values()) if f not in rows}
    if not rows:
        raise UserError(f"there are no folds in {study.root} to collect")
    return Study(study.root.name, tuple(rows[fold] for fold in sorted(rows, key=_order)))


def _row(status: FoldStatus) -> Row:
    done = status.result
    return Row(
        status.ref.id,
        status.state,
        "" if status.state is FoldState.DONE else status.reason,
        done,
        status.lengths,
        without_set="" if done is None else alternatives.file_error(status.ref.paths, done),
        outdated=status.files.outdated,
        verification=status.files.verification,
    )


def mean_of_defined(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are not None; None without any."""
    defined = [value for value in values if value is not None]
    return fmean(defined) if defined else None


def finds_formula(method: str) -> bool:
    return method not in baselines.MODULES


def label(method: str) -> str:
    """The name of a method for readers."""
    return baselines.LABELS.get(method, method)


def _expected(rows: Iterable[Row]) -> list[FoldId]:
    """All folds of every started dataset, method and variant, by the number in its results."""
    folds: dict[FoldId, int] = {}
    for row in rows:
        known = row.result.settings.get("folds", 0) if row.result else 0
        first = row.id._replace(fold=0)
        folds[first] = max(folds.get(first, 0), known)
    most = max(folds.values(), default=0)
    return [first._replace(fold=k) for first, n in folds.items() for k in range(n or most)]


def _order(fold: FoldId) -> tuple[str, tuple[int, str], str, int]:
    return fold.dataset, _method_order(fold.method), fold.variant, fold.fold


_METHODS = {method.value: number for number, method in enumerate(Method)}


def _method_order(method: str) -> tuple[int, str]:
    return _METHODS.get(method, len(_METHODS)), method
