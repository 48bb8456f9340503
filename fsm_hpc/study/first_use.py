"""Compile ahead everything that a first use would compile."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import fsm_hpc.search
from fsm_hpc.search.solvers.native.compiling import Say, Stage, ensure, ensure_compiled

STAGES_IN = "compiling"  # a package of the search with kernels of its own has a module of this name


def stages() -> Iterator[Stage]:
    """Of every package of the search, in the order of its folders; a new one is found by itself."""
    packages = pkgutil.walk_packages(fsm_hpc.search.__path__, f"{fsm_hpc.search.__name__}.")
    for module in packages:
        if module.name.rpartition(".")[2] == STAGES_IN:
            yield importlib.import_module(module.name).STAGE


def compile_all(say: Say | None = None) -> float:
    """Make all kernels ready, the solver's first, since folds wait for it; the seconds it took."""
    return ensure_compiled(say) + sum(ensure(stage, say) for stage in stages())
