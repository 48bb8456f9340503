"""One architecture, easy to see: the rooms of the map, and imports that point one way."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from statistics import median

import pytest

from fsm_hpc.study import provenance

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "fsm_hpc"
MODULES = sorted(PACKAGE.rglob("*.py"))
OUTSIDE = ("__init__", "__main__")  # the public names, and the way in: they may import all


def _rooms() -> list[str]:
    """The top-level names of the map, in the order in which they may import."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    block = re.search(r"^```\n(fsm_hpc/\n.*?)^```", page, re.M | re.S)
    assert block is not None, "docs/architecture.md opens with the tree of fsm_hpc/"
    return re.findall(r"^  (\w[\w.]*)/?\s", block[1], re.M)


ROOMS = _rooms()
ORDER = [name.removesuffix(".py") for name in ROOMS]


def _name(path: Path) -> str:
    """The module's name without the package's."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


NAMES = {_name(path): path for path in MODULES}


def _imports(path: Path) -> Iterator[str]:
    """The modules of the package that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        found = []
        if isinstance(node, ast.Import):
            found = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found = [f"{node.module}.{name.name}" for name in node.names]
        for name in found:
            inner = name.removeprefix("fsm_hpc.")
            if inner != name:
                yield inner if inner in NAMES else inner.rpartition(".")[0]


def _only_for_types(path: Path) -> set[str]:
    """Imports under `if TYPE_CHECKING`, which do not happen."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    blocks = [n for n in ast.walk(tree) if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n)]
    return {
        f"{node.module}.{name.name}".removeprefix("fsm_hpc.")
        for block in blocks
        for node in ast.walk(block)
        if isinstance(node, ast.ImportFrom) and node.module
        for name in node.names
    }


def test_the_map_names_every_room_and_no_other() -> None:
    there = {path.name for path in PACKAGE.iterdir() if path.name != "__pycache__"}
    assert set(ROOMS) == there - {"conf", "encodings"}
    assert len(ROOMS) == len(set(ROOMS)) <= 15


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_a_module_imports_only_rooms_above_its_own(path: Path) -> None:
    room = _name(path).partition(".")[0]
    if room in OUTSIDE:
        return
    for name in _imports(path):
        other = name.partition(".")[0]
        if other in OUTSIDE or other == "":
            continue
        assert ORDER.index(other) <= ORDER.index(room), f"{_name(path)} imports {name}"


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph: dict[str, set[str]] = {}
    for name, path in NAMES.items():
        types = {t if t in NAMES else t.rpartition(".")[0] for t in _only_for_types(path)}
        graph[name] = {other for other in _imports(path) if other in NAMES} - types - {name}
        graph[name] -= {"__init__"}
    graph.pop("__init__")
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_a_module_opens_with_one_sentence(path: Path) -> None:
    opening = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    assert opening.split("\n\n")[0].endswith("."), f"{path.name} opens with {opening!r}"


def test_a_class_name_means_one_thing() -> None:
    homes = defaultdict(list)
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(_name(path))
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def test_files_are_short() -> None:
    lengths = {path: path.read_text(encoding="utf-8").count("\n") for path in MODULES}
    del lengths[PACKAGE / "checker.py"]  # one file by design, with a limit of its own
    assert median(lengths.values()) <= 150
    # a kernel inlines what it calls, so that a module of kernels is one stage of the search
    limits = {path: 650 if "kernels" in path.parts else 350 for path in lengths}
    assert {path.name: lines for path, lines in lengths.items() if lines > limits[path]} == {}


def test_functions_of_kernels_are_short() -> None:
    kernels = [path for path in MODULES if "kernels" in path.parts]
    assert kernels
    for path in kernels:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                lines = (node.end_lineno or 0) - node.lineno + 1
                assert lines <= 100, f"{path.name} {node.name}"


def test_the_rooms_whose_code_makes_results_are_those_up_to_the_study() -> None:
    above = ORDER[ORDER.index("formulas") : ORDER.index("study") + 1]
    assert list(provenance.DECIDING) == above


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("fsm_hpc.cli.main", ["numpy", "pandas", "sklearn", "numba", "clingo", "hydra", "optuna"]),
        ("fsm_hpc.cli.commands.status", ["numpy", "pandas", "sklearn", "numba", "clingo", "hydra"]),
        ("fsm_hpc.study.run", ["pandas", "sklearn", "numba", "clingo", "hydra", "optuna"]),
        ("fsm_hpc.report.collect", ["pandas", "sklearn", "numba", "clingo", "hydra"]),
    ],
)
def test_heavy_packages_are_imported_only_where_they_are_used(
    module: str, heavy: list[str]
) -> None:
    code = f"import {module}, sys; print(*[n for n in {heavy!r} if n in sys.modules])"
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert said.stdout.split() == []
