"""FoldResult: what one fold came to, in words that the collector and a reader share."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fsm_hpc.errors import UserError
from fsm_hpc.study.config import Config
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.study.measures import Confusion
from fsm_hpc.system import files

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Shares of rows classified rightly, 0 to 1."""

    train: float  # of the final model on all rows that it was fitted on
    validation: float  # the best of the scan, or of the trials: what the length was chosen by
    test: float  # on the held-out rows


@dataclass(frozen=True, slots=True)
class Seconds:
    """Wall-clock seconds, all attempts together."""

    scan: float
    final: float

    @property
    def total(self) -> float:
        return round(self.scan + self.final, 3)


@dataclass(frozen=True, slots=True)
class FoldResult:
    """The content of result.json."""

    dataset: str
    method: str
    fold: int
    solver: str  # the one configured; `lengths` tell whose each proof is
    seed: int
    accuracy: Accuracy
    confusion: Confusion
    rows: dict[str, int]  # train, validation, test
    stop_reason: str
    proved: bool
    seconds: Seconds
    fingerprint: str
    settings: dict[str, Any]  # what the fingerprint covers, by name
    provenance: dict[str, Any]
    formula: str | None = None  # None for a baseline
    latex: str | None = None
    words: str | None = None
    size: int | None = None
    length_bound: int | None = None
    errors: int | None = None  # of the final formula on the rows that it was fitted on
    final_end: str | None = None  # proved, timeout, out_of_memory: why the final solve ended
    lower_bound: int | None = None  # what no formula of that bound goes below
    lengths: list[dict[str, Any]] = field(default_factory=list)
    model: dict[str, Any] | None = None  # a baseline: parameters, trees, nodes, trials
    target: str = ""
    positive: str = "1"
    negative: str = "0"
    phrases: dict[str, list[str]] = field(default_factory=dict)  # columns of the formula in words
    peak_rss_mb: float = 0.0

    @property
    def id(self) -> FoldId:
        return FoldId(self.dataset, self.method, self.fold)

    @property
    def measures(self) -> dict[str, float | None]:
        """What the held-out rows say, by name; None where it is undefined."""
        return self.confusion.measures()

    @property
    def beats_majority(self) -> bool | None:
        """Whether always saying the more frequent class would have been right less often."""
        majority = self.confusion.majority
        return None if majority is None else exceeds(self.accuracy.test, majority)

    def to_dict(self) -> dict[str, Any]:
        values = asdict(self)
        values["seconds"]["total"] = self.seconds.total
        return {"format": FORMAT, **values}


def exceeds(accuracy: float, majority: float) -> bool:
    """Whether a share is truly above another, not by the last digits of a float."""
    return accuracy > majority + 1e-9


def save(path: Path, result: FoldResult) -> None:
    """Write it down, with what follows from its confusion matrix for whoever reads the file."""
    files.write_json(path, result.to_dict() | {"measures": result.measures})


class UnreadableError(UserError):
    """A file that is there but is not what it should be."""


def load(path: Path) -> FoldResult | None:
    """The result on disk, where there is one that can be used."""
    try:
        return read(path)
    except UnreadableError:
        return None


def read(path: Path) -> FoldResult | None:
    """The result on disk; None where there is no file."""
    saved = files.read_json(path)
    if saved is None:
        if path.exists():
            raise UnreadableError(f"{path.name} cannot be read")
        return None
    if saved.pop("format", None) != FORMAT:
        raise UnreadableError(f"{path.name} is of another format")
    saved.pop("measures", None)  # they follow from the matrix, and version 0.1 had none
    try:
        seconds = {name: saved["seconds"][name] for name in ("scan", "final")}
        parts = {
            "accuracy": Accuracy(**saved["accuracy"]),
            "confusion": Confusion(**saved["confusion"]),
            "seconds": Seconds(**seconds),
        }
        return FoldResult(**{**saved, **parts})
    except (KeyError, TypeError, AttributeError) as error:
        raise UnreadableError(f"{path.name} is not one of this version: {error!r}") from None


# ------------------------------------------------------------------------------------ fingerprint


def settings_that_matter(config: Config, data_digest: str) -> dict[str, Any]:
    """All that changes the answer, and nothing else: no threads, memory, partition or paths."""
    settings: dict[str, Any] = {
        "data": data_digest,
        "folds": config.folds,
        "fold": config.fold,
        "seed": config.seed,
        "validation_fraction": config.validation_fraction,
        "method": config.method.name.value,
    }
    if config.method.name.finds_formula:
        settings |= {"patience": config.scan.patience, "max_length": config.scan.max_length}
    else:
        settings |= {"trials": config.method.trials}
    return settings | _later_settings(config)


def _later_settings(config: Config) -> dict[str, Any]:
    """Settings that version 0.1 did not have, where they are not what it did without them."""
    later: dict[str, tuple[Any, Any]] = {  # name -> value, what 0.1 did
        "fold_kind": (config.fold_kind.value, "kfold"),
        "group": (config.dataset.group, None),
    }
    if config.method.name.finds_formula:
        later |= {"plateau": (config.scan.plateau, None), "splits": (config.scan.splits, 1)}
    return {name: value for name, (value, before) in later.items() if value != before}


def fingerprint(settings: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """The settings that differ, said as `seed: 42 -> 43`."""
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return [f"{name}: {_short(old.get(name))} -> {_short(new.get(name))}" for name in names]


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 12 else text[:8]
