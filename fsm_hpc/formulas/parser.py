"""Read a formula back from its own text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from fsm_hpc.formulas.formula import And, Atom, Formula, Not, Or, Proposition
from fsm_hpc.formulas.text import KEYWORDS

_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>`(?:[^`]|``)+`)"
    r"|(?P<number>[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?)"
    r"|(?P<name>[^\W\d][\w./+-]*)"
    r"|(?P<sign><=|>=|>|\(|\)))"
)


def parse(text: str) -> Formula:
    """The formula that prints as `text`."""
    return _Parser(text).formula()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._tokenise())
        self._at = 0

    def formula(self) -> Formula:
        formula = self._disjunction()
        if self._at < len(self._tokens):
            raise self._error("the end")
        return formula

    def _tokenise(self) -> Iterator[tuple[str, str]]:
        at = 0
        end = len(self._text.rstrip())
        while at < end:
            match = _TOKEN.match(self._text, at)
            if match is None:
                raise ValueError(f"cannot read formula {self._text!r} from character {at + 1}")
            kind = str(match.lastgroup)
            word = match[kind]
            if kind == "name" and word in KEYWORDS:
                kind = "sign"
            yield kind, word
            at = match.end()

    def _disjunction(self) -> Formula:
        return self._chain(Or, "or", lambda: self._chain(And, "and", self._unary))

    def _chain(
        self, kind: type[And] | type[Or], word: str, operand: Callable[[], Formula]
    ) -> Formula:
        parts = [operand()]
        while self._accept(word):
            parts.append(operand())
        return parts[0] if len(parts) == 1 else kind(*parts)

    def _unary(self) -> Formula:
        if self._accept("not"):
            return Not(self._unary())
        if self._accept("("):
            inner = self._disjunction()
            self._expect(")")
            return inner
        return Atom(self._proposition())

    def _proposition(self) -> Proposition:
        if self._kind() == "number":
            low = float(self._next())
            self._expect("<=")
            column = self._column()
            self._expect("<=")
            return Proposition.within(column, low, self._number())
        column = self._column()
        if self._accept(">="):
            return Proposition.at_least(column, self._number())
        if self._accept(">"):
            return Proposition.above(column, self._number())
        return Proposition(column)

    def _column(self) -> str:
        kind = self._kind()
        if kind not in ("name", "quoted"):
            raise self._error("a column name")
        word = self._next()
        return word[1:-1].replace("``", "`") if kind == "quoted" else word

    def _number(self) -> float:
        if self._kind() != "number":
            raise self._error("a number")
        return float(self._next())

    def _kind(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else "end"

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1][1]

    def _accept(self, sign: str) -> bool:
        if self._at < len(self._tokens) and self._tokens[self._at] == ("sign", sign):
            self._at += 1
            return True
        return False

    def _expect(self, sign: str) -> None:
        if not self._accept(sign):
            raise self._error(f"'{sign}'")

    def _error(self, expected: str) -> ValueError:
        found = f"'{self._tokens[self._at][1]}'" if self._at < len(self._tokens) else "the end"
        return ValueError(f"expected {expected} in formula {self._text!r}, found {found}")
