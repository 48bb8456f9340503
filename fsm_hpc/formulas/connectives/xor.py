"""Exclusive or."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

from fsm_hpc.formulas.formula import Chain, Formula, Phrases, Writing, in_list
from fsm_hpc.formulas.grammar import nested


@dataclass(frozen=True, slots=True, repr=False, init=False)
class Xor(Chain):
    """True where an odd number of its parts is: of two, exactly one."""

    name: ClassVar[str] = "xor"
    signs: ClassVar[tuple[str, str]] = (" xor ", r" \oplus ")

    def joined(self, truths: Sequence[Any]) -> Any:
        return reduce(operator.xor, truths)

    def write(self, writer: Writing, parts: Sequence[Any]) -> Any:
        return reduce(writer.exclusion, parts)

    def _phrase(self, phrases: Phrases, nested: bool, is_true: bool = True) -> str:
        if len(self.parts) == 2:
            quantifier = "exactly one of" if is_true else "both or neither of"
        else:
            quantifier = f"an {'odd' if is_true else 'even'} number of"
        return f"{quantifier} {in_list(self.parts, phrases)}"


CONNECTIVE: type[Formula] = Xor
LANGUAGES = {"xor": nested("and", "or", "xor", "iff")}
