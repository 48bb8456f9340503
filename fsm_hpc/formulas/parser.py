"""Parse a formula."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator

from fsm_hpc.errors import shortened
from fsm_hpc.formulas.connectives import INFIX, AtLeast
from fsm_hpc.formulas.formula import And, Atom, Chain, Formula, Not, Or, Proposition
from fsm_hpc.formulas.text import KEYWORDS, LITERALS, threshold
from fsm_hpc.system import serialization

_NUMBERS = "|".join([*LITERALS, r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?"])
_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>`(?:[^`]|``)+`)"
    rf"|(?P<number>{_NUMBERS})"
    r"|(?P<name>[^\W\d][\w./+-]*)"
    r"|(?P<sign><=|>=|>|\(|\)|,))"
)
_MOST_DEPTH = 100  # of brackets and `not`s inside each other


def parse(text: str) -> Formula:
    """The formula that prints as `text`.

    Parameters
    ----------
    text : str
        Propositions joined with `not`, `and`, `or` and brackets.

    Returns
    -------
    Formula

    Examples
    --------
    >>> formula = parse("age >= 47 and not (member or colour_red)")
    >>> formula.size
    6
    >>> parse(str(formula)) == formula
    True
    """
    return _Parser(text).formula()


serialization.register(Formula, parse)


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._tokenise())
        self._at = 0
        self._depth = 0

    def formula(self) -> Formula:
        formula = self._whole()
        if self._at < len(self._tokens):
            raise self._error("the end")
        return formula

    def _tokenise(self) -> Iterator[tuple[str, str]]:
        at = 0
        end = len(self._text.rstrip())
        while at < end:
            match = _TOKEN.match(self._text, at)
            if match is None:
                text = f"cannot read formula {self._text!r} from character {at + 1}"
                raise ValueError(shortened(text))
            kind = str(match.lastgroup)
            word = match[kind]
            if kind == "name" and word in KEYWORDS:
                kind = "sign"
            yield kind, word
            at = match.end()

    def _whole(self) -> Formula:
        """A chain of `xor`, or one `iff`, `implies` and so on; mixing them needs brackets."""
        first = self._disjunction()
        word = next((name for name in INFIX if self._says(name)), None)
        if word is None:
            return first
        parts = [first]
        while self._says(word) and (len(parts) < 2 or issubclass(INFIX[word], Chain)):
            self._at += 1
            parts.append(self._disjunction())
        return INFIX[word](*parts)

    def _threshold(self) -> Formula:
        """`at least 2 of (a, b, not c)`."""
        self._at += 2
        count = self._number()
        if not self._says("of"):
            raise self._error("'of'")
        self._at += 1
        self._expect("(")
        parts = [self._whole()]
        while self._accept(","):
            parts.append(self._whole())
        self._expect(")")
        if count not in range(1, len(parts) + 1) or len(parts) < 2:
            found = f"{count:g} of {len(parts)}"
            raise ValueError(f"formula {self._text[:60]!r} asks for at least {found}")
        return AtLeast(int(count), *parts)

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
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise ValueError(f"formula {self._text[:60]!r} is nested too deeply")
        made = self._operand()
        self._depth -= 1
        return made

    def _operand(self) -> Formula:
        if self._accept("not"):
            return Not(self._unary())
        if self._accept("("):
            inner = self._whole()
            self._expect(")")
            return inner
        if self._says("at", "least"):
            return self._threshold()
        return Atom(self._proposition())

    def _proposition(self) -> Proposition:
        if self._kind() == "number":
            low = self._number()
            self._expect("<=")
            column = self._column()
            self._expect("<=")
            return Proposition.within(column, low, self._number())
        column = self._column()
        if self._accept(">="):
            return Proposition.at_least(column, self._number())
        if self._accept(">"):
            return Proposition.above(column, self._number())
        if self._is_missing_indicator():
            return Proposition.missing(column)
        return Proposition(column)

    def _is_missing_indicator(self) -> bool:
        """Two words that cannot follow a column, so that columns may have these names."""
        is_missing = self._tokens[self._at : self._at + 2] == [("name", "is"), ("name", "missing")]
        self._at += 2 * is_missing
        return is_missing

    def _column(self) -> str:
        kind = self._kind()
        if kind not in ("name", "quoted"):
            raise self._error("a column name")
        word = self._next()
        return word[1:-1].replace("``", "`") if kind == "quoted" else word

    def _number(self) -> float:
        if self._kind() != "number":
            raise self._error("a number")
        word = self._next()
        if not math.isfinite(value := threshold(word)):
            raise ValueError(f"formula {self._text[:60]!r} has too large a number: {word[:20]}")
        return value

    def _kind(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else "end"

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1][1]

    def _says(self, *words: str) -> bool:
        """Whether these words come next; where a column is expected, they may be its name."""
        return self._tokens[self._at : self._at + len(words)] == [("name", w) for w in words]

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
        text = f"expected {expected} in formula {self._text!r}, found {found}"
        return ValueError(shortened(text))
