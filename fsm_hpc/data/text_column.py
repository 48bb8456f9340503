"""A column of a file as text, and errors that say where in the file it goes wrong."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fsm_hpc.errors import UserError


@dataclass(frozen=True)
class TextColumn:
    """A column without its missing rows; `rows` are the row numbers in the file, from 1."""

    path: Path
    name: str
    values: Sequence[str]
    rows: Sequence[int]

    @cached_property
    def distinct(self) -> list[str]:
        return list(dict.fromkeys(self.values))

    def error(self, expected: str, todo: str) -> UserError:
        return UserError(f"{self.path}: column {self.name!r}: {expected}; {todo}")

    def setting(self, key: str) -> str:
        return setting(key, self.name)

    @property
    def more_categories(self) -> str:
        """What to do so that a column may have more of them."""
        return "raise dataset.max_categories"

    def row_of(self, value: str) -> int:
        return self.rows[list(self.values).index(value)]


def setting(key: str, *names: str) -> str:
    """What to type in a shell to put names in a list of the config."""
    if all(re.fullmatch(r"[\w.-]+", name) for name in names):
        return f"dataset.{key}=[{','.join(names)}]"
    quoted = [name.replace("\\", "\\\\").replace('"', '\\"') for name in names]
    return shlex.quote(f"dataset.{key}=[" + ",".join(f'"{name}"' for name in quoted) + "]")


def assignment(key: str, value: str) -> str:
    """What to type in a shell to set a value of the config."""
    if re.fullmatch(r"[\w.-]+", value):
        return f"dataset.{key}={value}"
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    return shlex.quote(f'dataset.{key}="{quoted}"')
