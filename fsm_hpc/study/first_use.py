"""Compile all kernels before their first use."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import fsm_hpc.search
from fsm_hpc.search.solvers.native.compiling import Say, Stage, ensure, ensure_compiled

STAGES_IN = "compiling"  # the module of this name in a package of the search with kernels


def stages() -> Iterator[Stage]:
    """The stages of all packages of the search, in the order of their folders."""
    packages = pkgutil.walk_packages(fsm_hpc.search.__path__, f"{fsm_hpc.search.__name__}.")
    for module in packages:
        if module.name.rpartition(".")[2] == STAGES_IN:
            yield importlib.import_module(module.name).STAGE


def compile_all(say: Say | None = None) -> float:
    """Compile all kernels, those of the solver first, as folds wait for them; the seconds."""
    return ensure_compiled(say) + sum(ensure(stage, say) for stage in stages())
