"""The progress of a Rashomon-set search on disk, valid for the same code and problem only."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from fsm_hpc.search.frontier import UnitRange
from fsm_hpc.search.near_optimal.enumeration import NOTHING_YET, Progress
from fsm_hpc.search.near_optimal.rashomon import RashomonSet, ResourceLimits, near_optimal
from fsm_hpc.search.near_optimal.sink import RawFamily
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.native.work import numbering
from fsm_hpc.system import files, serialization
from fsm_hpc.system.files import UnreadableError

FORMAT = 3
MAX_BYTES = 2**30  # of a file that is read: some millions of families


def query_digest(problem: Problem, bound: int, errors: int) -> str:
    """The digest of a query and of the code that numbers its units."""
    return hashlib.sha256(f"{numbering(problem)} {bound} {errors}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The file from which a search resumes and to which it saves its progress.

    `say` receives messages about unreadable files and their new names. `is_vital`: whether a
    failed write is an error; the folder may belong to another user.
    """

    path: Path
    may_write: Callable[[], bool] = lambda: True
    say: Callable[[str], None] = lambda text: None
    is_vital: bool = True

    def load(self, query: str) -> Progress | None:
        """The saved progress of this query; None without any."""
        with self._excused():
            try:
                return _read(self.path, query)
            except UnreadableError as error:
                if error.is_newer:
                    raise
                kept = files.quarantine(self.path).name
                self.say(f"{error}; starts again; the file was renamed to {kept}")
        return None

    def rename_other(self) -> None:
        """Rename the file of another query before this one is saved."""
        with self._excused():
            if (
                self.may_write()
                and self.path.exists()
                and (kept := files.rename_outdated(self.path))
            ):
                self.say(f"{self.path.name} belongs to another search; it was renamed to {kept}")

    def save(self, query: str, progress: Progress) -> None:
        if not self.may_write():
            return
        content = serialization.plain(_Content(query, progress.left, progress.families))
        checksum = {"seal": serialization.checksum(content), "content": content}
        text = json.dumps(serialization.header(FORMAT) | checksum, separators=(",", ":"))
        with self._excused():
            files.write_atomically(self.path, text + "\n")

    def remove(self, rashomon: RashomonSet) -> None:
        """Delete the file of a complete set; the file of another query stays."""
        with suppress(OSError, UnreadableError):
            if rashomon.is_complete and _read(self.path, _query_of(rashomon)) is not None:
                self.path.unlink()

    @contextmanager
    def _excused(self) -> Iterator[None]:
        try:
            yield
        except OSError:
            if self.is_vital:
                raise


def resume(
    checkpoint: Checkpoint,
    problem: Problem,
    bound: int,
    optimum: int,
    slack: int,
    limits: ResourceLimits,
    most: int | None = None,
    on_progress: Callable[[RashomonSet], None] = lambda rashomon: None,
) -> RashomonSet:
    """The set of `near_optimal`, resumed from the checkpoint and saved to it while it runs.

    The file stays until `remove`, so that no result is lost before it is printed.
    """
    query = query_digest(problem, bound, optimum + slack)
    begun = checkpoint.load(query)
    is_other = begun is None  # the file, if any, belongs to another query

    def save(rashomon: RashomonSet) -> None:
        nonlocal is_other
        if is_other:
            checkpoint.rename_other()
        is_other = False
        checkpoint.save(query, rashomon.progress)

    def report(rashomon: RashomonSet) -> None:
        save(rashomon)
        on_progress(rashomon)

    rashomon = near_optimal(
        problem,
        bound,
        optimum,
        slack,
        limits.threads,
        limits.control,
        begun or NOTHING_YET,
        most,
        report,
        limits.helpers,
    )
    if not rashomon.is_complete:
        save(rashomon)
    return rashomon


@dataclass(frozen=True, slots=True)
class _Content:
    """The content of the file, without its checksum."""

    asked: str  # the digest of the query
    left: tuple[UnitRange, ...]
    families: tuple[RawFamily, ...]


def _query_of(rashomon: RashomonSet) -> str:
    return query_digest(rashomon.problem, rashomon.bound, rashomon.optimum + rashomon.slack)


def _read(path: Path, query: str) -> Progress | None:
    saved = serialization.read(path, MAX_BYTES)
    if saved is None:
        return None
    saved = serialization.without_header(saved, path.name, FORMAT)
    if saved.get("seal") != serialization.checksum(saved.get("content")):  # would be a false count
        raise UnreadableError(f"{path.name} was changed since it was written")
    if saved["content"].get("asked") != query:
        return None
    content = serialization.convert(_Content, saved["content"], path.name, None)
    return Progress(content.families, content.left)
