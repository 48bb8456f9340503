"""Errors in a table as data, which each front end words in its own terms."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fsm_hpc.errors import UserError

MOST_LISTED = 20  # of the problems of a file


def setting(key: str, *names: str) -> str:
    """The shell argument that sets a list of names in the config."""
    return _argument(key, names, "[{}]")


def assignment(key: str, value: str) -> str:
    """The shell argument that sets a value of the config."""
    return _argument(key, (value,), "{}")


def _argument(key: str, values: Sequence[str], form: str) -> str:
    if all(re.fullmatch(r"[\w.-]+", value) for value in values):
        return f"dataset.{key}={form.format(','.join(values))}"
    escaped = [value.replace("\\", "\\\\").replace('"', '\\"') for value in values]
    quoted = ",".join(f'"{value}"' for value in escaped)
    return shlex.quote(f"dataset.{key}={form.format(quoted)}")


Wording = Mapping[str, Callable[[str], str]]  # remedy -> how a front end words it for a column
COMMAND_LINE: Wording = {
    "drop": lambda name: f"leave it out with {setting('drop', name)}",
    "categorical": lambda name: f"use {setting('categorical', name)}",
    "numeric": lambda name: f"use {setting('numeric', name)}",
    "boolean": lambda name: f"use {setting('boolean', name)}",
    "fewer": lambda name: "raise dataset.max_categories",
    "missing": lambda name: "add it to dataset.missing_values",
    "true": lambda name: "name the one that is true with dataset.true_values=[...]",
    "dates": lambda name: "write dates as 2021-03-04",
}
PYTHON: Wording = {
    "drop": lambda name: f"leave it out with X.drop(columns=[{name!r}])",
    "categorical": lambda name: f"use X.astype({{{name!r}: 'category'}})",
    "numeric": lambda name: f"use feature_types={{{name!r}: 'numeric'}}",
    "boolean": lambda name: f"use feature_types={{{name!r}: 'boolean'}}",
    "fewer": lambda name: "put its values into fewer groups",
    "missing": lambda name: "make it None",
    "true": lambda name: "make it a column of True and False",
    "dates": lambda name: "convert it to dates, for example with pandas.to_datetime",
}


class ColumnError(UserError):
    """A column that cannot be used, with the finding and the remedy.

    `remedy` is a sentence with names of remedies in braces, which each front end words.
    """

    def __init__(self, path: Path | None, column: str, finding: str, remedy: str) -> None:
        self.path, self.column, self.finding, self.remedy = path, column, finding, remedy
        where = f"{path}: " if path is not None else ""
        super().__init__(where + self.worded(COMMAND_LINE))

    def worded(self, wording: Wording) -> str:
        """The message of a front end, without the path of the table."""
        remedy = re.sub(r"\{(\w+)\}", lambda key: wording[key[1]](self.column), self.remedy)
        return f"column {self.column!r}: {self.finding}; {remedy}"

    def __reduce__(self) -> Any:
        return type(self), (self.path, self.column, self.finding, self.remedy)


@contextmanager
def worded_for_python() -> Iterator[None]:
    """Raise errors about columns as ValueError, with remedies in Python."""
    try:
        yield
    except ColumnError as error:
        raise ValueError(error.worded(PYTHON)) from None


class ErrorCollector:
    """The problems of one file: a single one is one line, several are a list."""

    def __init__(self, path: Path, before: Iterable[str] = ()) -> None:
        self._path = path
        self._messages = dict.fromkeys(before)

    def add(self, problem: str | UserError) -> None:
        self._messages[" ".join(str(problem).splitlines())] = None

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Collect an error that is raised inside, and continue after the block."""
        try:
            yield
        except UserError as error:
            self.add(error)

    @property
    def all(self) -> tuple[str, ...]:
        return tuple(self._messages)

    def raise_if_any(self) -> None:
        if self._messages:
            raise self.error()

    def error(self) -> UserError:
        """All problems as one error; a list names the file once, at its top."""
        if len(self.all) == 1:
            return UserError(self.all[0])
        lines = [f"{self._path}: {len(self.all)} problems"]
        shown = self.all[:MOST_LISTED]
        lines += [f"  {message.removeprefix(f'{self._path}: ')}" for message in shown]
        left = len(self.all) - MOST_LISTED
        return UserError("\n".join([*lines, *([f"  and {left} more"] if left > 0 else [])]))
