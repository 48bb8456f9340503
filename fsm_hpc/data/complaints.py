"""Collect what is wrong with a table, so that one message tells all of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fsm_hpc.errors import UserError

MOST_TOLD = 20  # nobody mends more at a time


class Complaints:
    """What is wrong with one file: a single complaint is one line, several are a list."""

    def __init__(self, path: Path, before: Iterable[str] = ()) -> None:
        self._path = path
        self._told = dict.fromkeys(before)

    def add(self, problem: str | UserError) -> None:
        self._told[" ".join(str(problem).splitlines())] = None

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Note the mistake that shows inside, and go on after it."""
        try:
            yield
        except UserError as error:
            self.add(error)

    @property
    def all(self) -> tuple[str, ...]:
        return tuple(self._told)

    def settle(self) -> None:
        """Go on only where nothing is wrong."""
        if self._told:
            raise self.error()

    def error(self) -> UserError:
        """All of them as one; each names the file but for those in a list, which has it on top."""
        if len(self.all) == 1:
            return UserError(self.all[0])
        lines = [f"{self._path}: {len(self.all)} problems"]
        lines += [f"  {told.removeprefix(f'{self._path}: ')}" for told in self.all[:MOST_TOLD]]
        left = len(self.all) - MOST_TOLD
        return UserError("\n".join([*lines, *([f"  and {left} more"] if left > 0 else [])]))
