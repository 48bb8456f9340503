"""How far a good set has come, on disk, to go on from: for the same code and problem only."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fsm_hpc.search.near_optimal.enumeration import Progress
from fsm_hpc.search.near_optimal.families import RawFamily, Stretch
from fsm_hpc.search.near_optimal.good_set import GoodSet, near_optimal
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control
from fsm_hpc.search.solvers.native.parts import Helpers
from fsm_hpc.search.solvers.native.work import numbering
from fsm_hpc.system import files, records
from fsm_hpc.system.files import UnreadableError

FORMAT = 2
MOST_BYTES = 2**30  # of a file that is read: some millions of families


def question(problem: Problem, bound: int, errors: int) -> str:
    """The digest of what was asked, and of the code that numbers its units."""
    return hashlib.sha256(f"{numbering(problem)} {bound} {errors}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Means:
    """What a search may use: threads, the time that its control gives it, and other nodes."""

    threads: int
    control: Control = field(default_factory=Control)
    helpers: Helpers | None = None


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A file that a search goes on from, and is kept in.

    `say` hears of a file that was not understood, and where it is kept. `is_vital`: whether it is
    an error that nothing can be kept; a folder may be somebody else's.
    """

    path: Path
    may_write: Callable[[], bool] = lambda: True
    say: Callable[[str], None] = lambda text: None
    is_vital: bool = True

    def load(self, asked: str) -> Progress | None:
        """What was kept of this very question; None where there is nothing of it."""
        with self._excused():
            try:
                return _read(self.path, asked)
            except UnreadableError as error:
                if error.is_newer:
                    raise
                kept = files.keep_aside(self.path).name
                self.say(f"{error}; begins anew, and what was there is kept as {kept}")
        return None

    def make_room(self) -> None:
        """Keep what is there of another question, before this one is saved."""
        with self._excused():
            if self.may_write() and self.path.exists() and (kept := files.quarantine(self.path)):
                self.say(f"{self.path.name} is of another search; kept as {kept}")

    def save(self, asked: str, progress: Progress) -> None:
        if not self.may_write():
            return
        content: dict[str, Any] = {
            "asked": asked,
            "left": [[s.plan, s.start, s.end, s.x, s.y] for s in progress.left],
            "votes": progress.votes.tolist(),
            "families": [
                [f.plan, f.columns, f.count, f.score, f.ranges, f.cuts] for f in progress.families
            ],
        }
        sealed = {**records.head(FORMAT), "seal": records.seal(content), "content": content}
        text = json.dumps(sealed, separators=(",", ":"))
        with self._excused():
            files.write_atomically(self.path, text + "\n")

    def remove(self, good: GoodSet) -> None:
        """That set is told, and needs no place any more; where another is kept, that stays."""
        with suppress(OSError, UnreadableError):
            if good.is_complete and _read(self.path, _asked_of(good)) is not None:
                self.path.unlink()

    @contextmanager
    def _excused(self) -> Iterator[None]:
        try:
            yield
        except OSError:
            if self.is_vital:
                raise


def go_on(
    mark: Bookmark,
    problem: Problem,
    bound: int,
    optimum: int,
    slack: int,
    means: Means,
    most: int | None = None,
) -> GoodSet:
    """The set of `near_optimal`, from where the mark says it was left, and kept there as it goes.

    It stays there until it is removed, so that nothing is lost before somebody has told the set.
    """
    asked = question(problem, bound, optimum + slack)
    begun = mark.load(asked)
    is_other = begun is None  # whatever the file has is of another question

    def save(progress: Progress) -> None:
        nonlocal is_other
        if is_other:
            mark.make_room()
        is_other = False
        mark.save(asked, progress)

    good = near_optimal(
        problem,
        bound,
        optimum,
        slack,
        means.threads,
        means.control,
        begun,
        most,
        save,
        means.helpers,
    )
    if not good.is_complete:
        save(good.progress)
    return good


def _asked_of(good: GoodSet) -> str:
    return question(good.problem, good.bound, good.optimum + good.slack)


def _read(path: Path, asked: str) -> Progress | None:
    saved = records.read(path, MOST_BYTES)
    if saved is None:
        return None
    saved = records.of_format(saved, path.name, FORMAT)
    try:
        content = saved["content"]
        if saved["seal"] != records.seal(content):  # would be a false count
            raise ValueError
        if content["asked"] != asked:
            return None
        return Progress(
            tuple(_family(one) for one in content["families"]),
            np.array(content["votes"], np.int64),
            tuple(Stretch(*one) for one in content["left"]),
        )
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise UnreadableError(f"{path.name} was changed since it was written") from None


def _family(saved: list[Any]) -> RawFamily:
    plan, columns, count, score, ranges, cuts = saved
    return RawFamily(
        plan, tuple(columns), count, score, tuple(map(tuple, ranges)), tuple(map(tuple, cuts))
    )
