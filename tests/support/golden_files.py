"""Compare text with a file under tests/golden; UPDATE_GOLDEN=1 writes what is found instead."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "golden"


def check(name: str, found: str) -> None:
    """Fail where the text is not what the file holds."""
    path = FOLDER / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(found, encoding="utf-8")
    assert path.exists(), f"there is no {path.name} in tests/golden; UPDATE_GOLDEN=1 writes it"
    assert found == path.read_text(encoding="utf-8"), f"{name} changed; UPDATE_GOLDEN=1 accepts it"
