"""Measurements by name, kept on disk as they are made, so that the same command goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fsm_hpc.system.files import write_json

Results = dict[str, Any]


class ResultCache:
    """Measurements by name, on disk after each."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.results: Results = json.loads(path.read_text()) if path.exists() else {}

    def once(self, name: str, measure: Callable[[], Results]) -> Results:
        if name not in self.results:
            self.keep(name, measure())
        kept: Results = self.results[name]
        return kept

    def keep(self, name: str, measured: Results) -> None:
        self.results[name] = measured
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_json(self._path, self.results)
