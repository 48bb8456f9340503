"""Run the notebooks of docs/examples, and compare or store their outputs.

python -m scripts.notebooks            report notebooks whose outputs differ
python -m scripts.notebooks --write    run them and store the outputs
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

nbclient: Any = import_module("nbclient")
nbformat: Any = import_module("nbformat")

FOLDER = Path(__file__).parents[1] / "docs" / "examples"
CELL_S = 600  # the first run compiles the kernels


def notebooks() -> list[Path]:
    return sorted(FOLDER.glob("*.ipynb"))


def run(path: Path) -> Any:
    """Run a notebook in its own folder; raises the error of a cell."""
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(FOLDER)}}
    client = nbclient.NotebookClient(
        notebook, timeout=CELL_S, kernel_name="python3", resources=resources
    )
    return client.execute()


def texts(notebook: Any) -> list[str]:
    """The text output of each code cell; every picture counts as equal."""
    cells = (cell for cell in notebook.cells if cell.cell_type == "code")
    return ["".join(_text(output) for output in cell.outputs) for cell in cells]


def _text(output: Any) -> str:
    if output.output_type == "stream":
        return str(output.text)
    data = output.get("data", {})
    return "a picture" if "image/png" in data else str(data.get("text/plain", ""))


def store(path: Path) -> None:
    """Run a notebook and store its outputs without times and versions."""
    notebook = run(path)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata.pop("language_info", None)
    nbformat.write(notebook, path)


def main(arguments: list[str]) -> int:
    code = 0
    for path in notebooks():
        if arguments == ["--write"]:
            store(path)
        elif texts(run(path)) != texts(nbformat.read(path, as_version=4)):
            print(f"{path.name} has another output; update it: python -m scripts.notebooks --write")
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
