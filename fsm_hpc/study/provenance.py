"""The origin of a result: table, code, packages, machine, job."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import fsm_hpc
from fsm_hpc import baselines
from fsm_hpc.study.config import Config
from fsm_hpc.system import files, machine

PACKAGES = ("clingo", "clingo-dl", "numba", "numpy", "optuna", "pandas", "scikit-learn")
DECIDING = ("formulas", "data", "search", "baselines", "study")  # packages that decide results


def provenance(config: Config, threads: int, memory_mb: float | None) -> dict[str, Any]:
    """The origin by name; `table` is null for a dataset of the package."""
    package = baselines.PACKAGES.get(config.method.name.value)
    return {
        "table": config.dataset.own_path,
        "version": fsm_hpc.__version__,
        "commit": code_commit(),
        "code": code_digest(),
        "python": platform.python_version(),
        "packages": {
            **{name: _version(name) for name in PACKAGES},
            "xgboost": _version("xgboost-cpu") or _version("xgboost"),
            **({package: _version(package)} if package else {}),
        },
        "host": platform.node(),
        "cpu": machine.cpu_model(),
        "nodes": config.nodes,
        "threads": threads,
        "memory_mb": memory_mb,
        "config": hashlib.sha256(json.dumps(config.to_dict()).encode()).hexdigest(),
        "job_ids": [],  # added by the job
        "requeues": 0,
    }


@cache
def code_commit() -> str | None:
    """The commit of the checkout, marked if it has changes; None for an installed wheel."""
    root = files.SOURCE
    if not (root / ".git").exists():
        return None
    try:
        process = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12"],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return process.stdout.strip()


@cache
def code_digest() -> str:
    """A digest of the code that decides results, without the code that presents them."""
    modules = [module for package in DECIDING for module in (files.PACKAGE / package).rglob("*.py")]
    digest = hashlib.sha256()
    for path in [*sorted(modules), *sorted(files.encodings_dir().rglob("*.lp"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
