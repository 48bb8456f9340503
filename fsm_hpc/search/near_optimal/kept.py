"""How far a good set has come, on disk, to go on from: for the same code and problem only."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from fsm_hpc.search.frontier import UnitRange
from fsm_hpc.search.near_optimal.enumeration import NOTHING_YET, Progress
from fsm_hpc.search.near_optimal.good_set import GoodSet, near_optimal
from fsm_hpc.search.near_optimal.sink import RawFamily
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control
from fsm_hpc.search.solvers.native.parts import Helpers
from fsm_hpc.search.solvers.native.work import numbering
from fsm_hpc.system import files, serialization
from fsm_hpc.system.files import UnreadableError

FORMAT = 3
MAX_BYTES = 2**30  # of a file that is read: some millions of families


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
class Checkpoint:
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
                kept = files.quarantine(self.path).name
                self.say(f"{error}; begins anew, and what was there is kept as {kept}")
        return None

    def rename_other(self) -> None:
        """Keep what is there of another query, before this one is saved."""
        with self._excused():
            if (
                self.may_write()
                and self.path.exists()
                and (kept := files.rename_outdated(self.path))
            ):
                self.say(f"{self.path.name} is of another search; kept as {kept}")

    def save(self, asked: str, progress: Progress) -> None:
        if not self.may_write():
            return
        content = serialization.plain(_Content(asked, progress.left, progress.families))
        checksum = {"seal": serialization.checksum(content), "content": content}
        text = json.dumps(serialization.header(FORMAT) | checksum, separators=(",", ":"))
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


def resume(
    mark: Checkpoint,
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
            mark.rename_other()
        is_other = False
        mark.save(asked, progress)

    good = near_optimal(
        problem,
        bound,
        optimum,
        slack,
        means.threads,
        means.control,
        begun or NOTHING_YET,
        most,
        save,
        means.helpers,
    )
    if not good.is_complete:
        save(good.progress)
    return good


@dataclass(frozen=True, slots=True)
class _Content:
    """What the file holds, beside its checksum."""

    asked: str
    left: tuple[UnitRange, ...]
    families: tuple[RawFamily, ...]


def _asked_of(good: GoodSet) -> str:
    return question(good.problem, good.bound, good.optimum + good.slack)


def _read(path: Path, asked: str) -> Progress | None:
    saved = serialization.read(path, MAX_BYTES)
    if saved is None:
        return None
    saved = serialization.without_header(saved, path.name, FORMAT)
    if saved.get("seal") != serialization.checksum(saved.get("content")):  # would be a false count
        raise UnreadableError(f"{path.name} was changed since it was written")
    if saved["content"].get("asked") != asked:
        return None
    content = serialization.convert(_Content, saved["content"], path.name, None)
    return Progress(content.families, content.left)
