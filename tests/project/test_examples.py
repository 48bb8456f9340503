"""The notebooks of examples/ run from top to bottom, and are kept without what they print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fsm_hpc import parse

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
CELL_S = 300  # a first run compiles the kernels

nbformat: Any = pytest.importorskip("nbformat", reason="the extra `examples` is not installed")
nbclient: Any = pytest.importorskip("nbclient", reason="the extra `examples` is not installed")
pytest.importorskip("ipykernel", reason="the extra `examples` is not installed")

each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)


def _code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _printed(cell: Any) -> str:
    return "".join(out.text for out in cell.outputs if out.output_type == "stream")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Any]:
    """Every notebook after it has run in an empty folder; an error in a cell is raised."""
    folder = tmp_path_factory.mktemp("notebooks")
    done: dict[Path, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR"):
            patch.setenv(name, str(folder / name))
        patch.delenv("MPLBACKEND", raising=False)  # the notebook draws into itself
        for path in NOTEBOOKS:
            notebook = nbformat.read(path, as_version=4)
            resources = {"metadata": {"path": str(folder)}}
            client = nbclient.NotebookClient(
                notebook, timeout=CELL_S, kernel_name="python3", resources=resources
            )
            done[path] = client.execute()
    return done


def test_there_are_examples() -> None:
    assert [path.name for path in NOTEBOOKS] == ["own_table.ipynb"]


@each
def test_every_cell_of_a_notebook_runs_and_says_nothing_to_stderr(
    path: Path, run: dict[Path, Any]
) -> None:
    outputs = [out for cell in _code(run[path]) for out in cell.outputs]
    assert outputs
    assert not [out for out in outputs if out.output_type == "error" or out.get("name") == "stderr"]


def test_the_notebook_prints_a_formula_of_the_length_that_it_asks_for(
    run: dict[Path, Any],
) -> None:
    cells = _code(run[EXAMPLES / "own_table.ipynb"])
    (shown,) = [cell for cell in cells if cell.source.endswith("print(model.formula_)")]
    formula = parse(_printed(shown).strip())
    assert 1 < formula.size <= 5
    assert any(formula.words() in _printed(cell) for cell in cells)


def test_the_notebook_draws_the_path_of_lengths(run: dict[Path, Any]) -> None:
    cells = _code(run[EXAMPLES / "own_table.ipynb"])
    (drawn,) = [cell for cell in cells if "plt.show()" in cell.source]
    assert any("image/png" in out.get("data", {}) for out in drawn.outputs)


@each
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    cells = _code(nbformat.read(path, as_version=4))
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)
