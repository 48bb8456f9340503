"""The available schedulers, by their names in conf/cluster."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

from fsm_hpc.cluster.schedulers.base import JobEnvironment, Scheduler
from fsm_hpc.errors import UserError
from fsm_hpc.study import config_folders
from fsm_hpc.study.config import Config

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_HERE = Path(__file__).parent


@cache
def named(name: str) -> Scheduler:
    """The scheduler of that name: a module of this package or of the user's config folder."""
    path = _modules().get(name)
    if path is None:
        known = ", ".join(sorted(_modules()))
        raise UserError(
            f"cluster.scheduler: expected one of {known}, found {name!r}; to add one, write "
            f"cluster/{name}.py next to cluster/{name}.yaml in your config folder"
        )
    scheduler: Scheduler = _load(name, path).SCHEDULER()
    return scheduler


def of(config: Config) -> Scheduler:
    """The scheduler of the config; an error if it is not available here."""
    scheduler = named(config.cluster.scheduler)
    if not scheduler.is_available():
        raise UserError(
            f"cluster.scheduler={scheduler.name}, but {scheduler.title} is not installed on this "
            "machine; cluster=local runs the folds here"
        )
    return scheduler


def available() -> Iterator[Scheduler]:
    """The schedulers that are installed on this machine."""
    return (site for name in sorted(_modules()) if (site := named(name)).is_available())


def environment_here() -> JobEnvironment | None:
    """The job that this process belongs to, for any scheduler."""
    found = (named(name).environment() for name in sorted(_modules()))
    return next((environment for environment in found if environment is not None), None)


def _modules() -> dict[str, Path]:
    """The file of every scheduler: those of this package come first."""
    own = [folder / "cluster" for folder in config_folders.own_folders()]
    files = (path for folder in (*reversed(own), _HERE) for path in folder.glob("*.py"))
    return {path.stem: path for path in files if _is_scheduler(path)}


def _is_scheduler(path: Path) -> bool:
    """Whether it is a scheduler and not a helper module such as `NAME_script.py`."""
    name = path.stem
    is_helper = any(path.with_name(f"{name[:n]}.py").exists() for n in _underscores(name))
    return _NAME.fullmatch(name) is not None and name != "base" and not is_helper


def _underscores(name: str) -> Iterator[int]:
    return (n for n, letter in enumerate(name) if letter == "_")


def _load(name: str, path: Path) -> ModuleType:
    if path.parent == _HERE:
        return importlib.import_module(f"{__name__}.{name}")
    spec = importlib.util.spec_from_file_location(f"fsm_hpc_scheduler_{name}", path)
    if spec is None or spec.loader is None:
        raise UserError(f"expected a Python module, found {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
