"""results/** -> one row per fold, at any moment, whatever has become of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any

from fsm_hpc.errors import UserError
from fsm_hpc.search.method import Method
from fsm_hpc.study import result
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.study.result import FoldResult
from fsm_hpc.system import files

Key = tuple[str, str, int]  # dataset, method, fold


class Status(Enum):
    """What a fold came to; docs/results.md explains each word."""

    DONE = "done"
    UNPROVED = "unproved"  # the final formula is the best found, not the best there is
    TIMED_OUT = "timed out"  # the scan's budget was spent: the best finished length was taken
    OUT_OF_MEMORY = "out of memory"  # likewise
    RUNNING = "running"  # somebody works on it, or it waits in a queue
    PARTIAL = "partial"  # begun, and nobody works on it
    FAILED = "failed"
    MISSING = "missing"  # never begun

    @property
    def has_result(self) -> bool:
        return self in (Status.DONE, Status.UNPROVED, Status.TIMED_OUT, Status.OUT_OF_MEMORY)


@dataclass(frozen=True, slots=True)
class Row:
    """One fold: its status with the reason, and its result where there is one."""

    dataset: str
    method: str
    fold: int
    status: Status
    reason: str = ""
    result: FoldResult | None = None
    lengths: tuple[Mapping[str, Any], ...] = ()  # of an unfinished fold those on disk so far

    @property
    def name(self) -> str:
        return f"{self.dataset}/{self.method}/fold-{self.fold}"

    @property
    def threads(self) -> int:
        return int(self.result.provenance.get("threads") or 1) if self.result else 1

    @property
    def core_hours(self) -> float:
        return self.result.seconds.total * self.threads / 3600 if self.result else 0.0

    @property
    def model_size(self) -> int | None:
        """Symbols of a formula, or nodes of an ensemble of trees."""
        if self.result is None:
            return None
        return self.result.size if self.result.model is None else self.result.model.get("nodes")


@dataclass(frozen=True)
class Cell:
    """The folds of one dataset and method."""

    dataset: str
    method: str
    rows: tuple[Row, ...]

    @cached_property
    def results(self) -> tuple[FoldResult, ...]:
        return tuple(row.result for row in self.rows if row.result is not None)

    @cached_property
    def counts(self) -> Counter[Status]:
        return Counter(row.status for row in self.rows)

    @property
    def finds_formula(self) -> bool:
        return finds_formula(self.method)


@dataclass(frozen=True)
class Study:
    """All folds of a study, in order."""

    name: str
    rows: tuple[Row, ...]

    @cached_property
    def cells(self) -> dict[tuple[str, str], Cell]:
        groups: dict[tuple[str, str], list[Row]] = {}
        for row in self.rows:
            groups.setdefault((row.dataset, row.method), []).append(row)
        return {key: Cell(*key, tuple(rows)) for key, rows in groups.items()}

    @cached_property
    def datasets(self) -> tuple[str, ...]:
        return tuple(sorted({row.dataset for row in self.rows}))

    @cached_property
    def methods(self) -> tuple[str, ...]:
        return tuple(sorted({row.method for row in self.rows}, key=_method_order))

    @cached_property
    def counts(self) -> Counter[Status]:
        return Counter(row.status for row in self.rows)


def read(study: StudyPaths, expected: Iterable[Key] | None = None) -> Study:
    """Every expected fold; without expectations all folds of each dataset and method begun."""
    if not study.root.is_dir():
        raise UserError(f"there is no study in {study.root}; results_dir= and study= name another")
    wanted = None if expected is None else set(expected)
    rows: dict[Key, Row] = {}
    unfinished: list[tuple[Key, FoldPaths]] = []
    for dataset, method, fold, paths in study.folds_on_disk():
        key = (dataset, method, fold)
        if wanted is None or key in wanted:
            rows[key] = _read_fold(key, paths)
            if rows[key].status is Status.MISSING:
                unfinished.append((key, paths))
    rows |= _tell_unfinished(unfinished)
    for key in wanted if wanted is not None else _expected(rows.values()):
        if key not in rows:
            rows[key] = Row(*key, Status.MISSING)
    if not rows:
        raise UserError(f"there are no folds in {study.root} to collect")
    return Study(study.root.name, tuple(rows[key] for key in sorted(rows, key=_order)))


def finds_formula(method: str) -> bool:
    return method not in (Method.RANDOM_FOREST.value, Method.XGBOOST.value)


def label(method: str) -> str:
    """A method as a reader knows it."""
    return {"random_forest": "random forest", "xgboost": "XGBoost"}.get(method, method)


def _read_fold(key: Key, paths: FoldPaths) -> Row:
    try:
        done = result.load(paths.result)
    except (KeyError, TypeError, AttributeError) as error:
        return Row(*key, Status.FAILED, f"result.json is not one of this version: {error!r}")
    if done is None:
        if paths.result.exists():
            return Row(*key, Status.FAILED, "result.json cannot be read, or is of another format")
        return Row(*key, Status.MISSING)
    if (done.dataset, done.method, done.fold) != key:
        found = f"{done.dataset}/{done.method}/fold-{done.fold}"
        return Row(*key, Status.FAILED, f"its result.json is of {found}")
    status, reason = _judge(done)
    return Row(*key, status, reason, done, tuple(done.lengths))


def _judge(done: FoldResult) -> tuple[Status, str]:
    unproved = done.formula is not None and not done.proved
    also = "; the final formula is not proved either" if unproved else ""
    if done.stop_reason == "timeout":
        length = done.length_bound
        return Status.TIMED_OUT, f"scan budget spent, fell back to length {length}{also}"
    if done.stop_reason == "out_of_memory":
        return Status.OUT_OF_MEMORY, f"fell back to length {done.length_bound}{also}"
    if unproved:
        bound = "" if done.lower_bound is None else f", of which {done.lower_bound} are proved"
        return Status.UNPROVED, f"final budget spent at {done.errors} errors{bound}"
    return Status.DONE, ""


def _tell_unfinished(folds: Sequence[tuple[Key, FoldPaths]]) -> dict[Key, Row]:
    """What became of folds without a result, in the words of `status`."""
    if not folds:
        return {}
    from fsm_hpc.cluster.watch.evidence import Target
    from fsm_hpc.cluster.watch.states import State, look

    ours = {
        State.MISSING: Status.MISSING,
        State.PARTIAL: Status.PARTIAL,
        State.RUNNING: Status.RUNNING,
        State.QUEUED: Status.RUNNING,
        State.UNKNOWN: Status.RUNNING,
    }
    rows = {}
    for (key, paths), seen in zip(folds, look([Target(*k, p) for k, p in folds])[0], strict=True):
        status = ours.get(seen.state, Status.FAILED)
        words = [] if seen.state.value == status.value else [seen.state.value]
        reason = ": ".join([*words, *([seen.why] if seen.why else [])])
        rows[key] = _with_scan(Row(*key, status, reason), paths)
    return rows


def _with_scan(row: Row, paths: FoldPaths) -> Row:
    """The row with the lengths, or the trials, that an unfinished fold has on disk."""
    saved = files.read_json(paths.scan) or {}
    lengths = tuple(saved.get("lengths") or ())
    if row.status is Status.MISSING and paths.trials.exists():
        return replace(row, status=Status.PARTIAL, reason="stopped while tuning")
    return replace(row, lengths=lengths)


def _expected(rows: Iterable[Row]) -> list[Key]:
    """All folds of every dataset and method that has begun, as many as its results say."""
    folds: dict[tuple[str, str], int] = {}
    for row in rows:
        known = row.result.settings.get("folds", 0) if row.result else 0
        place = (row.dataset, row.method)
        folds[place] = max(folds.get(place, 0), known)
    most = max(folds.values(), default=0)
    return [(*place, fold) for place, count in folds.items() for fold in range(count or most)]


def _order(key: Key) -> tuple[str, tuple[int, str], int]:
    return key[0], _method_order(key[1]), key[2]


_METHODS = {method.value: number for number, method in enumerate(Method)}


def _method_order(method: str) -> tuple[int, str]:
    return _METHODS.get(method, len(_METHODS)), method
