"""The values of one override of a command, `key=value`, parsed as Hydra parses them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fsm_hpc.errors import UserError
from fsm_hpc.study import hydra
from fsm_hpc.study.override_syntax import has_interpolation, key_of, quoted, unescaped

# Names, paths and counts are parsed here, as Hydra is slow to import; not truth values and other
# numbers.
_ITEM = r"(?!(?i:true|false|null|inf|nan)(?:,|$))(?:(?:\.{0,2}/|[A-Za-z_])[\w./+-]*|0|[1-9]\d*)"
_PLAIN = re.compile(f"{_ITEM}(?:,{_ITEM})*")
_VARIANTS = re.compile(r"[\w./+=~%,-]+")


@dataclass(frozen=True)
class Override:
    """An override such as `fold=range(0,5)`, `'study="my study"'` or `dataset=glob(h*)`."""

    text: str

    @property
    def key(self) -> str:
        return key_of(self.text)

    @property
    def value(self) -> str:
        """Its single value, without quotes."""
        return self.listed[0] if self._is_plain else self._text_of(self._parsed.value())

    @property
    def only_value(self) -> str:
        """Its value; refuse several."""
        several = len(self.listed) > 1 if self._is_plain else self._parsed.is_sweep_override()
        if several:
            raise UserError(f"{self.key}: expected one value, found {self._right}")
        return self.value

    @property
    def listed(self) -> list[str]:
        """Its values if they are listed; empty for a range or a pattern."""
        if self._is_plain:
            return self._right.split(",")
        if self._parsed.is_choice_sweep():
            return [self._text_of(value) for value in self._parsed.sweep_iterator()]
        return [] if self._parsed.is_sweep_override() else [self.value]

    def names(self, value: str) -> bool:
        """Whether the value is one of the values of the override."""
        if self._is_plain or not self._parsed.is_sweep_override():
            return value in self.listed
        if hasattr(self._parsed.value(), "filter"):  # glob(...)
            return bool(self._parsed.value().filter([value]))
        return value in map(self._text_of, self._parsed.sweep_iterator())

    @cached_property
    def _is_plain(self) -> bool:
        plain = _VARIANTS if self.key == "variant" else _PLAIN  # which is no setting of Hydra
        return plain.fullmatch(self._right) is not None

    @property
    def _right(self) -> str:
        return self.text.partition("=")[2]

    @cached_property
    def _parsed(self) -> Any:
        if has_interpolation(self.text):
            text = quoted(self._right.strip("\"'"))
            raise UserError(
                f"{self.text}: this command does not resolve interpolations; write plain text as "
                f"{self.key}={text}"
            )
        return hydra.parse([self.text])[0]

    @staticmethod
    def _text_of(value: Any) -> str:
        text = str(getattr(value, "text", value))  # of a quoted string
        return text.lower() if isinstance(value, bool) else unescaped(text)
