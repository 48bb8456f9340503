"""The kernels are compiled once, all of them ahead, and it is said where they go."""

from __future__ import annotations

import ast
import fcntl
import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from numba.core.dispatcher import Dispatcher

import fsm_hpc
from fsm_hpc.search.solvers.native import compiling, kernels
from fsm_hpc.search.solvers.native.kernels import boxes
from fsm_hpc.study import first_use

PACKAGE = Path(fsm_hpc.__file__).parent


def test_a_cache_outside_of_the_installation_is_named(tmp_path: Path) -> None:
    inside = Path(boxes.__file__).parent / "__pycache__" / ".compiled-1"
    assert compiling._place(inside) == ""
    assert compiling._place(tmp_path / ".compiled-1") == f"; cached in {tmp_path}"
    assert "every process" in compiling._place(None)


def test_who_compiles_says_so_and_who_finds_it_done_does_not(tmp_path: Path) -> None:
    said: list[str] = []
    marker = tmp_path / ".compiled-1"
    message = compiling.STAGE.message
    with compiling._alone(marker, said.append), compiling._reporting(message, said.append, marker):
        marker.touch()
    assert said[0].startswith(message)
    assert said[-1].startswith("compiled in")
    with compiling._alone(marker, said.append), compiling._reporting(message, said.append, marker):
        pass
    assert len(said) == 2


def test_who_waits_for_another_process_that_compiles_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "REPORT_EVERY_S", 0.01)
    marker, said = tmp_path / ".compiled-1", list[str]()
    with marker.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)

        def tell(text: str) -> None:
            said.append(text)
            if len(said) == 3:
                fcntl.flock(lock, fcntl.LOCK_UN)

        with compiling._alone(marker, tell):
            pass
    assert said[0] == "waiting for another process that compiles"
    assert said[1].startswith("waiting for another process that compiles: ")
    assert said[1].endswith(" s so far")


def called_from_python() -> Iterator[tuple[str, Any]]:
    """Every kernel that a module outside of `kernels/` names, read from the sources."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.is_relative_to(Path(kernels.__file__).parent):
            continue
        tree = ast.parse(path.read_text())
        modules: dict[str, Any] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == kernels.__name__:
                modules |= {name: _module(name) for name in _names(node)}
            elif isinstance(node, ast.ImportFrom) and _is_kernels(node.module):
                for name in _names(node):
                    yield name, getattr(importlib.import_module(str(node.module)), name)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                yield node.attr, getattr(modules.get(node.value.id), node.attr, None)


def _names(node: ast.ImportFrom) -> list[str]:
    return [alias.name for alias in node.names]


def _module(name: str) -> Any:
    return importlib.import_module(f"{kernels.__name__}.{name}")


def _is_kernels(module: str | None) -> bool:
    return module is not None and module.startswith(f"{kernels.__name__}.")


def test_compile_makes_every_kernel_ready_that_python_calls() -> None:
    named = {name: found for name, found in called_from_python() if isinstance(found, Dispatcher)}
    entries = {
        name: found
        for name, found in named.items()
        if not found.targetoptions.get("no_cpython_wrapper")  # else Python cannot call it
    }
    assert {"search", "search_sets", "search_family"} <= entries.keys()
    compiling._READY.clear()
    first_use.compile_all(lambda text: None)
    assert [name for name, found in entries.items() if not found.signatures] == []


def test_a_constant_makes_no_kernel_of_its_own() -> None:
    first_use.compile_all(lambda text: None)
    for module in Path(kernels.__file__).parent.glob("*.py"):
        for name, found in vars(_module(module.stem)).items():
            if isinstance(found, Dispatcher):
                assert "Literal" not in str(found.signatures), name


USES = """
from fsm_hpc.search.near_optimal.rashomon import agreement_weights, near_optimal
from fsm_hpc.search.method import Method
from fsm_hpc.search.solvers import make_solver
from fsm_hpc.search.solvers.base import Control, Incumbent
from fsm_hpc.search.solvers.names import SolverName
from fsm_hpc.study.compose import compose
from fsm_hpc.study.fold import prepare

for method in Method:
    fold = prepare(compose(["dataset=heart_disease", f"method={method.value}", "fold=0"]))
    problem = fold.problem(fold.rows.train)
    solver = make_solver(SolverName.NATIVE, 2)
    optimum = solver.solve(problem, 3, Incumbent(), Control()).errors
    solver.solve(problem, 6, Incumbent(), Control())
    good = near_optimal(problem, 3, optimum, 1, 2, Control())
    list(good.members(good.families[0]))
    good.greatest(agreement_weights(good))
"""


@pytest.mark.slow
def test_nothing_is_compiled_after_compile(tmp_path: Path) -> None:
    """With an empty cache: a minute of compiling, then solves of every kind that add nothing."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    said = _run(environment, "-m", "fsm_hpc", "compile")
    assert said.count("compiling ") >= 2
    kept = _kept(tmp_path)
    assert kept
    _run(environment, "-c", USES)
    assert _kept(tmp_path) == kept


@pytest.mark.slow
def test_the_helper_compiles_cells_and_leaves_boxes_to_the_others(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    _run(environment, "-m", compiling.__name__)
    kernels_of = {name.split("-")[0] for name in _kept(tmp_path)}
    assert "cells.search_sets" in kernels_of
    assert "boxes.search" not in kernels_of


def _run(environment: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def _kept(folder: Path) -> dict[str, int]:
    files = (path for path in folder.rglob("*.nb*") if path.is_file())
    return {path.name: path.stat().st_mtime_ns for path in files}
