"""Start Python processes that find this package and import nothing from the working directory."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from fsm_hpc.system.files import SOURCE

RUN_MODULE = Path(__file__).with_name("run_module.py").absolute()
SAFE_PATH = ("-P",) if sys.version_info >= (3, 11) else ()  # handed on to processes of theirs


def module_command(module: str, *arguments: str) -> list[str]:
    """What starts a module in place of `python -m MODULE`, in any folder."""
    return [sys.executable, *SAFE_PATH, str(RUN_MODULE), module, *arguments]


def child_environment() -> dict[str, str]:
    """The environment of a Python process that finds this package whatever folder it runs in."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE), *python_path()])}


def python_path() -> list[str]:
    """The folders of PYTHONPATH; an empty one, often a slip, would be the working directory."""
    return [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
