"""A mapping that can be the key of a cache."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class HashableMapping:
    """A mapping that is found again by what it says."""

    def __init__(self, of: Mapping[str, Any]) -> None:
        self.of, self._text = of, repr(of)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HashableMapping) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)
