"""What is wrong with a table, as data that each front end words in its own terms."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fsm_hpc.errors import UserError

MOST_LISTED = 20  # nobody corrects more at a time


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


Wording = Mapping[str, Callable[[str], str]]  # remedy -> how a front end words it for a column
COMMAND_LINE: Wording = {
    "drop": lambda name: f"leave it out with {setting('drop', name)}",
    "categorical": lambda name: f"use {setting('categorical', name)}",
    "numeric": lambda name: f"use {setting('numeric', name)}",
    "boolean": lambda name: f"use {setting('boolean', name)}",
    "fewer": lambda name: "raise dataset.max_categories",
    "missing": lambda name: "add it to dataset.missing_values",
    "true": lambda name: "say which one is true with dataset.true_values=[...]",
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
    "dates": lambda name: "make dates of it, as with pandas.to_datetime",
}


class ColumnError(UserError):
    """A column that cannot be used: what was expected, what was found, and what to do.

    `remedy` is a sentence with the names of remedies in braces, which each front end words.
    """

    def __init__(self, place: Path | None, column: str, finding: str, remedy: str) -> None:
        self.place, self.column, self.finding, self.remedy = place, column, finding, remedy
        where = f"{place}: " if place is not None else ""
        super().__init__(where + self.worded(COMMAND_LINE))

    def worded(self, wording: Wording) -> str:
        """The message as a front end says it, without the place of the table."""
        known = {key: word(self.column) for key, word in wording.items()}
        remedy = re.sub(r"\{(\w+)\}", lambda found: known[found[1]], self.remedy)
        return f"column {self.column!r}: {self.finding}; {remedy}"

    def __reduce__(self) -> Any:
        return type(self), (self.place, self.column, self.finding, self.remedy)


@contextmanager
def worded_for_python() -> Iterator[None]:
    """Errors about columns as a user of the estimator can act on them."""
    try:
        yield
    except ColumnError as error:
        raise ValueError(error.worded(PYTHON)) from None


class ErrorCollector:
    """All that is wrong with one file: a single error is one line, several are a list."""

    def __init__(self, path: Path, before: Iterable[str] = ()) -> None:
        self._path = path
        self._messages = dict.fromkeys(before)

    def add(self, problem: str | UserError) -> None:
        self._messages[" ".join(str(problem).splitlines())] = None

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Note the error that is raised inside, and continue after it."""
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
        """All of them as one; each names the file but for those in a list, which has it on top."""
        if len(self.all) == 1:
            return UserError(self.all[0])
        lines = [f"{self._path}: {len(self.all)} problems"]
        shown = self.all[:MOST_LISTED]
        lines += [f"  {message.removeprefix(f'{self._path}: ')}" for message in shown]
        left = len(self.all) - MOST_LISTED
        return UserError("\n".join([*lines, *([f"  and {left} more"] if left > 0 else [])]))
