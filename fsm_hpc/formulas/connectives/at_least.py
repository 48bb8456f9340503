"""At least k of n."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fsm_hpc.formulas.formula import Atom, Formula, Phrases, Style, Writing, in_list, in_order
from fsm_hpc.formulas.grammar import listing


@dataclass(frozen=True, slots=True, repr=False, init=False)
class AtLeast(Formula):
    """True where so many of its parts are; a part that is listed twice counts twice."""

    count: int
    parts: tuple[Formula, ...]
    binding: ClassVar[int] = Atom.binding
    name: ClassVar[str] = "at_least"
    signs: ClassVar[tuple[str, str]] = ("at least {} of ", r"{{\geq}}{} \textrm{{ of }} ")

    def __init__(self, count: int, *parts: Formula) -> None:
        if len(parts) < 2 or not 1 <= count <= len(parts):
            found = f"{count} of {len(parts)}"
            raise ValueError(f"at least k of n: expected two parts or more and k to n, not {found}")
        object.__setattr__(self, "count", count)
        object.__setattr__(self, "parts", parts)

    @property
    def size(self) -> int:
        return 1 + sum(part.size for part in self.parts)

    @property
    def label(self) -> str:
        return f"{self.name} {self.count}"

    def joined(self, truths: Sequence[Any]) -> Any:
        return sum(truths) >= self.count

    def over(self, parts: Sequence[Formula]) -> Formula:
        return AtLeast(self.count, *parts)

    def canonical(self) -> Formula:
        return AtLeast(self.count, *in_order(part.canonical() for part in self.parts))

    def write(self, writer: Writing, parts: Sequence[Any]) -> Any:
        return writer.threshold(self.count, parts)

    def _render(self, style: Style) -> str:
        listed = ", ".join(part._render(style) for part in self.parts)
        return f"{style.sign(self).format(self.count)}({listed})"

    def _phrase(self, phrases: Phrases, nested: bool, is_true: bool = True) -> str:
        quantifier = "at least" if is_true else "fewer than"
        return f"{quantifier} {self.count} of {in_list(self.parts, phrases)}"


CONNECTIVE: type[Formula] = AtLeast
LANGUAGES = {"at_least": listing("at_least")}
