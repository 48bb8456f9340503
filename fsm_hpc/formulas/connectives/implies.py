"""Implication."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fsm_hpc.formulas.formula import And, Formula, Not, Or, Pair, Phrases, Writing
from fsm_hpc.formulas.grammar import nested


@dataclass(frozen=True, slots=True, repr=False)
class Implies(Pair):
    """True unless the left part holds and the right one fails."""

    name: ClassVar[str] = "implies"
    signs: ClassVar[tuple[str, str]] = (" implies ", r" \rightarrow ")

    def joined(self, truths: Sequence[Any]) -> Any:
        return truths[0] ^ True | truths[1]

    def write(self, writer: Writing, parts: Sequence[Any]) -> Any:
        return writer.implication(*parts)

    def _phrase(self, phrases: Phrases, nested: bool, is_true: bool = True) -> str:
        if is_true:
            return Or(Not(self.left), self.right)._phrase(phrases, nested)
        return And(self.left, Not(self.right))._phrase(phrases, nested)


CONNECTIVE: type[Formula] = Implies
LANGUAGES = {"implies": nested("and", "or", "implies")}
