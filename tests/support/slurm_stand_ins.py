"""Configs and stand-in SLURM commands for tests of how answers are read."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.study.compose import compose
from fsm_hpc.study.config import Config


def some_config(**cluster: Any) -> Config:
    """A small job with these cluster settings."""
    config = compose(["dataset=hepatitis", "method=median", "cluster=slurm"])
    return replace(config, cluster=replace(config.cluster, **cluster))


def fake_slurm(folder: Path, monkeypatch: pytest.MonkeyPatch, **commands: str | None) -> None:
    """Commands first on the path that print a text, or fail where it is None."""
    for name, text in commands.items():
        script = "exit 1" if text is None else f"cat <<'END'\n{text}\nEND"
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
