"""One architecture, easy to see: a module imports only modules above it."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "fsm_hpc"
ORDER = (
    *("__init__", "errors", "system", "formulas", "data", "search", "baselines", "study", "models"),
    *("cluster", "report", "cli", "__main__"),
)
MODULES = sorted(PACKAGE.rglob("*.py"))


def _room(path: Path) -> str:
    """The word of the pipeline that a file belongs to: its own name, or its folder's."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return parts[0]


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            if node.module == "fsm_hpc":
                yield from (f"fsm_hpc.{name.name}" for name in node.names)
            else:
                yield node.module


def _is_for_types_only(path: Path) -> bool:
    return path == PACKAGE / "__init__.py"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_modules_above_it(path: Path) -> None:
    if _is_for_types_only(path):
        return
    here = ORDER.index(_room(path))
    for name in _imports(path):
        parts = name.split(".")
        if (
            parts[0] == "fsm_hpc"
            and len(parts) > 1
            and parts[1] in ORDER
            and parts[1] != _room(path)
        ):
            assert ORDER.index(parts[1]) < here, f"{path.name} imports {name}, which is below it"


def test_every_module_has_a_place_in_the_order() -> None:
    assert {_room(path) for path in MODULES} == set(ORDER)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_opens_with_one_sentence(path: Path) -> None:
    opening = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    assert opening.split("\n\n")[0].endswith("."), f"{path.name} opens with {opening!r}"


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("fsm_hpc.__main__", ["numpy", "pandas", "sklearn", "numba", "clingo", "hydra", "optuna"]),
        ("fsm_hpc.cli.steer", ["pandas", "sklearn", "numba", "clingo", "hydra", "optuna"]),
        (
            "fsm_hpc.study.run",
            ["pandas", "sklearn", "numba", "clingo", "hydra", "optuna", "matplotlib"],
        ),
        ("fsm_hpc.report.collect", ["pandas", "sklearn", "numba", "clingo", "hydra", "matplotlib"]),
    ],
)
def test_heavy_packages_are_imported_only_where_they_are_used(
    module: str, heavy: list[str]
) -> None:
    code = f"import {module}, sys; print(*[n for n in {heavy!r} if n in sys.modules])"
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent
    )
    assert said.stdout.split() == []
