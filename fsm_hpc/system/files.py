"""Files: where the package keeps its own, atomic writes, and JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent.parent
SOURCE = PACKAGE.parent  # the checkout, or the folder that packages are installed in


def conf_dir() -> Path:
    """The Hydra configs: inside the package in a wheel, beside it in a checkout."""
    return _travelling("conf")


def encodings_dir() -> Path:
    """The answer set programs: inside the package in a wheel, beside it in a checkout."""
    return _travelling("encodings")


def shipped_data_dir() -> Path:
    """The tables that come with the package."""
    return PACKAGE / "data" / "shipped"


def _travelling(folder: str) -> Path:
    inside = PACKAGE / folder
    return inside if inside.is_dir() else SOURCE / folder


def child_environment() -> dict[str, str]:
    """The environment of a Python process that finds this package whatever folder it runs in."""
    path = os.pathsep.join(filter(None, [str(SOURCE), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path}


def write_atomically(path: Path, text: str) -> None:
    """The file has the old text or the new one, whenever the process or the machine dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.uname().nodename}.{os.getpid()}")
    try:
        with draft.open("w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(draft, path)  # noqa: PTH105 - the word of the promise
    finally:
        draft.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    write_atomically(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def read_json(path: Path) -> dict[str, Any] | None:
    """The object in the file; None where there is no file or it is not whole."""
    try:
        with open(path, "rb") as stream:  # noqa: PTH123 - half the time of Path.read_text
            value = json.loads(stream.read())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return value if isinstance(value, dict) else None
