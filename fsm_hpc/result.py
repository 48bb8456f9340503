"""FoldResult: what one fold came to, in words that the collector and a reader share."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import resource
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import fsm_hpc
from fsm_hpc import files
from fsm_hpc.config import Config

FORMAT = 1
PACKAGES = (
    "clingo",
    "clingo-dl",
    "numba",
    "numpy",
    "pandas",
    "scikit-learn",
    "optuna",
    "xgboost-cpu",
)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Shares of rows classified rightly, 0 to 1."""

    train: float  # of the final model on all rows that it was fitted on
    validation: float  # the best of the scan, or of the trials: what the length was chosen by
    test: float  # on the held-out rows


@dataclass(frozen=True, slots=True)
class Confusion:
    """The held-out rows by label and prediction."""

    true_positive: int
    false_positive: int
    true_negative: int
    false_negative: int


@dataclass(frozen=True, slots=True)
class Seconds:
    """Wall-clock seconds, all attempts together."""

    scan: float
    final: float

    @property
    def total(self) -> float:
        return self.scan + self.final


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
    lower_bound: int | None = None  # what no formula of that bound goes below
    lengths: list[dict[str, Any]] = field(default_factory=list)
    model: dict[str, Any] | None = None  # a baseline: parameters, trees, nodes, trials
    target: str = ""
    positive: str = "1"
    negative: str = "0"
    phrases: dict[str, list[str]] = field(default_factory=dict)  # columns of the formula in words
    peak_rss_mb: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        values = asdict(self)
        values["seconds"] = {
            name: round(value, 3)
            for name, value in {**values["seconds"], "total": self.seconds.total}.items()
        }
        return {"format": FORMAT, **values}


def save(path: Path, result: FoldResult) -> None:
    files.write_json(path, result.to_dict())


def load(path: Path) -> FoldResult | None:
    """The result on disk; None where there is none, or not one of this format."""
    saved = files.read_json(path)
    if saved is None or saved.pop("format", None) != FORMAT:
        return None
    seconds = {name: saved["seconds"][name] for name in ("scan", "final")}
    parts = {
        "accuracy": Accuracy(**saved["accuracy"]),
        "confusion": Confusion(**saved["confusion"]),
        "seconds": Seconds(**seconds),
    }
    return FoldResult(**{**saved, **parts})


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
    return settings


def fingerprint(settings: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """The settings that differ, said as `seed: 42 -> 43`."""
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return [f"{name}: {_short(old.get(name))} -> {_short(new.get(name))}" for name in names]


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 12 else text[:8]


# ------------------------------------------------------------------------------------- provenance


def provenance(config: Config, threads: int, memory_mb: float | None) -> dict[str, Any]:
    """Where a result comes from: code, packages, machine, job."""
    return {
        "version": fsm_hpc.__version__,
        "commit": code_commit(),
        "code": code_digest(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "host": platform.node(),
        "cpu": _cpu_model(),
        "threads": threads,
        "memory_mb": memory_mb,
        "config": hashlib.sha256(json.dumps(config.to_dict()).encode()).hexdigest(),
        "job_ids": [os.environ[name] for name in ("SLURM_JOB_ID",) if name in os.environ],
        "requeues": int(os.environ.get("SLURM_RESTART_COUNT", "0")),
    }


@cache
def code_commit() -> str | None:
    """The commit of the checkout that runs, marked when it has changes; None in a wheel."""
    root = Path(__file__).parent.parent
    if not (root / ".git").exists():
        return None
    try:
        said = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12"],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return said.stdout.strip()


@cache
def code_digest() -> str:
    """A digest of the code that decides results: the package and its encodings."""
    digest = hashlib.sha256()
    package = sorted(Path(__file__).parent.rglob("*.py"))
    for path in [*package, *sorted(files.encodings_dir().rglob("*.lp"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def peak_rss_mb() -> float:
    """The most memory that this process or a finished child of it held, in MiB."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return round(max(resource.getrusage(kind).ru_maxrss for kind in kinds) / unit, 1)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next(
        (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), ""
    )
