"""Equivalence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fsm_hpc.formulas.connectives.xor import Xor
from fsm_hpc.formulas.formula import Formula, Pair, Phrases, Writing
from fsm_hpc.formulas.grammar import Grammar


@dataclass(frozen=True, slots=True, repr=False)
class Iff(Pair):
    """True where its two parts agree; it has no chains, which would be misread."""

    name: ClassVar[str] = "iff"
    signs: ClassVar[tuple[str, str]] = (" iff ", r" \leftrightarrow ")
    commutes: ClassVar[bool] = True

    def joined(self, truths: Sequence[Any]) -> Any:
        return truths[0] ^ truths[1] ^ True

    def write(self, writer: Writing, parts: Sequence[Any]) -> Any:
        return writer.equivalence(*parts)

    def _phrase(self, phrases: Phrases, nested: bool, is_true: bool = True) -> str:
        return Xor(self.left, self.right)._phrase(phrases, nested, not is_true)


CONNECTIVE: type[Formula] = Iff
LANGUAGES: dict[str, Grammar] = {}  # it is one of the language `xor`
