"""FoldResult: the content of result.json."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypedDict

from msgspec import Meta

from fsm_hpc.data.fold_kind import FoldKind
from fsm_hpc.formulas.formula import Formula
from fsm_hpc.formulas.parser import parse
from fsm_hpc.search.proof import bounds_in_words
from fsm_hpc.search.stop_reason import StopReason
from fsm_hpc.study.encoded_rows import EncodedRows
from fsm_hpc.study.fold_id import ALL, FoldId
from fsm_hpc.study.measures import Confusion, Scores
from fsm_hpc.study.scan_file import Lengths
from fsm_hpc.system import serialization
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.serialization import OpenSchema, Valid
from fsm_hpc.system.value_types import (
    Count,
    Length,
    NonNegative,
    Positive,
    Share,
    SpentSeconds,
)

FORMAT = 3
FoldNumber = Annotated[int, Meta(ge=ALL, le=100_000)]
Seed = Annotated[int, Meta(ge=0, le=2**32 - 1)]
INTERRUPTED = "interrupted"  # the stop reason of a stopped search
DERIVED = ("measures", "seconds.total")  # written for readers of the file


class FoldSettings(TypedDict):
    """Settings of every result."""

    data: str
    folds: FoldNumber
    fold: FoldNumber
    seed: Seed
    validation_fraction: Share
    method: str


class Settings(FoldSettings, total=False):
    """The known fields of `settings`."""

    fold_kind: FoldKind


class Origin(TypedDict, total=False):
    """The known fields of `provenance`."""

    table: str | None
    version: str | None
    commit: str | None
    code: str | None
    packages: dict[str, str | None] | None
    host: str | None
    threads: Positive | None
    memory_mb: NonNegative | None
    job_ids: list[str]
    warnings: list[str]
    requeues: Count | None


class _AlternativesRow(TypedDict):
    slack: Count
    count: Count
    families: Count
    complete: bool


class AlternativesRow(_AlternativesRow, total=False):
    """The field `alternatives`; alternatives.json has the formulas."""

    digest: str  # of the content of that file


class TreesRow(TypedDict, total=False):
    """The known fields of `model` of a baseline."""

    parameters: dict[str, Any]
    trees: Count
    nodes: Count
    trials: Count
    symbols: Count
    claims_optimality: bool


class Rounded(TypedDict):
    """A formula before its thresholds were rounded."""

    formula: Formula
    errors: Count


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Shares of correctly classified rows, 0 to 1."""

    train: Share  # of the final model on all rows that it was fitted on
    validation: Share | None  # the best of the scan or of the trials; None: nothing was chosen
    test: Share  # on the held-out rows; for the fold `all`: of its cross-validation


@dataclass(frozen=True, slots=True)
class Seconds:
    """Wall-clock seconds, all attempts together."""

    scan: SpentSeconds
    final: SpentSeconds

    @property
    def total(self) -> float:
        return round(self.scan + self.final, 3)


@dataclass(frozen=True, slots=True)
class FoldResult:
    """The content of result.json."""

    dataset: str
    method: str
    fold: FoldNumber
    solver: str  # as configured; `lengths` has the solver of each proof
    seed: Seed
    accuracy: Accuracy  # validation: in the measure
    confusion: Confusion
    rows: dict[str, Count]  # train, validation, test
    stop_reason: str
    proved: bool
    seconds: Seconds
    fingerprint: str
    settings: Annotated[dict[str, Any], OpenSchema(Settings)]  # the content of the fingerprint
    provenance: Annotated[dict[str, Any], OpenSchema(Origin)]
    formula: Annotated[str | None, Valid(parse)] = None  # None for a baseline
    latex: str | None = None
    words: str | None = None
    size: Length | None = None
    length_bound: Length | None = None
    errors: Count | None = None  # of the final formula on the fitted rows, each with its weight
    measure: str = "accuracy"  # of the objective; `lengths` use it
    weight: Count | None = None  # of all fitted rows together; None: their number
    weight_error: Share = 0.0  # the share of it that rounding to whole weights may have changed
    measured: Accuracy | None = None  # in that measure, if it is not accuracy
    final_end: str | None = None  # why the final search ended: proved, timeout, out_of_memory
    lower_bound: Count | None = None  # of the errors of all formulas within the bound
    proved_length: Count | None = None  # the largest bound up to which optimality is proved
    lengths: Lengths = field(default_factory=list)
    # the proved formula and its errors, if rounded thresholds cause further errors
    before_rounding: Annotated[dict[str, Any] | None, OpenSchema(Rounded)] = None
    # of a baseline: parameters, trees, nodes, trials
    model: Annotated[dict[str, Any] | None, OpenSchema(TreesRow)] = None
    target: str = ""
    positive: str = "1"
    negative: str = "0"
    phrases: dict[str, list[str]] = field(default_factory=dict)  # columns of the formula in words
    peak_rss_mb: NonNegative = 0.0
    # the number of near-optimal formulas, with scan.alternatives
    alternatives: AlternativesRow | None = None
    variant: str = ""  # the settings that differ from those that the study started with
    scores: Scores | None = None  # of predicted probabilities; version 0.2 had none
    processor_s: SpentSeconds | None = None  # of the attempt that wrote it, all threads
    helpers_lost: Count = 0  # of several nodes, by the job that wrote this

    @property
    def id(self) -> FoldId:
        return FoldId(self.dataset, self.method, self.fold, self.variant)

    @property
    def is_final(self) -> bool:
        """Whether more time or memory would not improve it."""
        limits = (StopReason.TIMEOUT.value, StopReason.OUT_OF_MEMORY.value)
        is_complete = self.proved or self.formula is None or self.weight_error > 0
        return self.stop_reason not in limits and is_complete

    @property
    def measures(self) -> dict[str, float | None]:
        """The metrics of the held-out rows, by name; None if undefined."""
        of_scores = {"auc": None, "log_loss": None} if self.scores is None else asdict(self.scores)
        return self.confusion.measures() | of_scores

    @property
    def bounds(self) -> str:
        """The known bounds of an unproved formula as text, or an empty text."""
        if self.formula is None or self.proved or self.proved_length is None:
            return ""
        errors, bound = self.errors or 0, self.length_bound or 0
        return bounds_in_words(errors, bound, self.lower_bound or 0, self.proved_length)

    @property
    def beats_majority(self) -> bool | None:
        """Whether it is more accurate than the majority class."""
        majority = self.confusion.majority
        return None if majority is None else exceeds(self.accuracy.test, majority)


def exceeds(accuracy: float, majority: float) -> bool:
    """Whether a share is larger than another by more than a rounding error."""
    return accuracy > majority + 1e-9


def save(path: Path, result: FoldResult) -> None:
    """Write result.json, with the metrics of its confusion matrix."""
    seconds = serialization.plain(result.seconds) | {"total": result.seconds.total}
    serialization.write(path, FORMAT, result, seconds=seconds, measures=result.measures)


def load(path: Path, fold: FoldId) -> FoldResult | None:
    """The result of this fold; None if it cannot be used. Refuses a newer format."""
    try:
        return read(path, fold)
    except UnreadableError as error:
        if error.is_newer:
            raise
        return None


def read(path: Path, fold: FoldId | None = None) -> FoldResult | None:
    """The result on disk, which must be of this fold if one is given; None without a file."""
    done = serialization.load(FoldResult, path, FORMAT, DERIVED)
    if done is None:
        return None
    object.__setattr__(done, "lengths", EncodedRows(done.lengths))
    if fold is not None and done.id != fold:
        raise UnreadableError(f"its {path.name} is of {done.id}")
    if not done.fold == done.settings["fold"] < done.settings["folds"]:
        raise UnreadableError(f"{path.name} is invalid: its settings are of another fold")
    return done
