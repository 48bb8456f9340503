"""The notebooks of docs/examples run from top to bottom and print what is stored in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fsm_hpc import parse
from fsm_hpc.study import first_use

nbformat: Any = pytest.importorskip("nbformat", reason="the extra `examples` is not installed")
pytest.importorskip("nbclient", reason="the extra `examples` is not installed")
pytest.importorskip("ipykernel", reason="the extra `examples` is not installed")
notebooks: Any = pytest.importorskip("scripts.notebooks")

NAMES = ["analysing_a_study.ipynb", "choosing_rules.ipynb", "own_table.ipynb"]
each = pytest.mark.parametrize("path", notebooks.notebooks(), ids=lambda path: path.name)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Any]:
    """Every notebook after it has run; an error in a cell is raised."""
    folder = tmp_path_factory.mktemp("notebooks")
    first_use.compile_all()  # else a notebook also prints that it compiles
    with pytest.MonkeyPatch.context() as patch:
        for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR"):
            patch.setenv(name, str(folder / name))
        patch.delenv("MPLBACKEND", raising=False)  # the notebook draws into itself
        return {path: notebooks.run(path) for path in notebooks.notebooks()}


def _code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_there_are_three_examples() -> None:
    assert [path.name for path in notebooks.notebooks()] == NAMES


@each
def test_every_cell_of_a_notebook_runs_and_says_nothing_to_stderr(
    path: Path, run: dict[Path, Any]
) -> None:
    outputs = [out for cell in _code(run[path]) for out in cell.outputs]
    assert outputs
    assert not [out for out in outputs if out.output_type == "error" or out.get("name") == "stderr"]


@each
def test_a_notebook_prints_what_is_stored_in_it(path: Path, run: dict[Path, Any]) -> None:
    stored = nbformat.read(path, as_version=4)
    assert notebooks.texts(run[path]) == notebooks.texts(stored), "python -m scripts.notebooks"


def test_the_notebook_prints_a_formula_of_the_length_that_it_asks_for(
    run: dict[Path, Any],
) -> None:
    cells = _code(run[notebooks.FOLDER / "own_table.ipynb"])
    (shown,) = [cell for cell in cells if cell.source.endswith("print(model.formula_)")]
    printed = "".join(out.text for out in shown.outputs)
    formula = parse(printed.strip())
    assert 1 < formula.size <= 5
    assert any(formula.words() in "".join(map(str, cell.outputs)) for cell in cells)


def test_the_notebook_draws_the_path_of_lengths(run: dict[Path, Any]) -> None:
    cells = _code(run[notebooks.FOLDER / "own_table.ipynb"])
    (drawn,) = [cell for cell in cells if "plt.show()" in cell.source]
    assert any("image/png" in out.get("data", {}) for out in drawn.outputs)
