"""Start Python processes that find this package and import nothing from the working directory."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from fsm_hpc.system.files import SOURCE

RUN_MODULE = Path(__file__).with_name("run_module.py").absolute()
SAFE_PATH = ("-P",) if sys.version_info >= (3, 11) else ()  # also for their child processes


def module_command(module: str, *arguments: str) -> list[str]:
    """The command line to run a module like `python -m MODULE`, in any folder."""
    return [sys.executable, *SAFE_PATH, str(RUN_MODULE), module, *arguments]


def child_environment() -> dict[str, str]:
    """The environment of a Python process that finds this package in any folder."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE), *python_path()])}


def python_path() -> list[str]:
    """The folders of PYTHONPATH, without empty ones, which mean the working directory."""
    return [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
