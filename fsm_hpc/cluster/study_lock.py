"""One command at a time submits, resumes or cancels in a study, over all machines that share it."""

from __future__ import annotations

import fcntl
import json
import os
import platform
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event

from fsm_hpc.errors import UserError
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.system import files, heartbeat, process_identity, serialization, tempfiles, terminal
from fsm_hpc.system.background import run_in_background
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.process_identity import Identity
from fsm_hpc.system.value_types import Moment, ProcessId

BEAT_S = 5.0  # how often the owner shows that it lives
SILENT_S = 60.0  # without a beat from another PID namespace: that owner is dead
CONFIRM_S = 15.0  # of watching, before a beat that is that old is believed to be the last
TELL_S = 2.0  # of waiting, before a person is told why
GIVE_UP_S = 900.0
LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that holds a study."""

    host: str
    pid: ProcessId
    since: Moment
    token: str
    process: Identity = ""


class LostLockError(UserError):
    """Another command has taken the study over, because this one showed no sign of life."""


_mine: dict[Path, Owner] = {}  # the locks that this process holds


@contextmanager
def held(studies: Iterable[Path], give_up_s: float = GIVE_UP_S) -> Iterator[None]:
    """Hold these studies for as long as the block runs; waits for whoever has one of them."""
    with ExitStack() as all_:
        for path in sorted({_lock_of(study) for study in studies}):  # one order: nobody deadlocks
            all_.enter_context(_held(path, give_up_s))
        yield


@contextmanager
def _held(path: Path, give_up_s: float) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    process = process_identity.of()
    me = Owner(platform.node(), os.getpid(), time.time(), secrets.token_hex(8), process)
    _Wait(path, give_up_s).until_taken(me)
    _mine[path] = me

    def beat(over: Event) -> None:
        while not over.wait(BEAT_S):
            with suppress(OSError):
                if owner_of(path) == me:  # else it would keep the next owner's lock alive
                    heartbeat.touch(path)

    try:
        tempfiles.clear(path.parent)
        with run_in_background(beat):
            yield
    finally:
        if _mine.get(path) == me:
            del _mine[path]
        if owner_of(path) == me:
            path.unlink(missing_ok=True)


def ensure_held(study: StudyPaths) -> None:
    """Refuse to go on where another command has taken the study over since it was held."""
    path = _lock_of(study.root)
    owner = owner_of(path)
    if owner is None or owner != _mine.get(path):
        raise LostLockError(
            f"expected to hold {path}, but {_named(owner)} holds it now: this command was taken "
            "for dead after it had shown no sign of life; nothing more was submitted, and the "
            "same command goes on from there"
        )
    heartbeat.touch(path)


def _lock_of(study: Path) -> Path:
    return StudyPaths(Path(os.path.realpath(study))).lock  # one name, however it is reached


def owner_of(path: Path) -> Owner | None:
    """Who holds a study; None where nobody does, or the file does not say."""
    try:
        saved = serialization.read(path)
        return None if saved is None else serialization.convert(Owner, saved, path.name)
    except UnreadableError:
        return None


def _take(path: Path, me: Owner) -> bool:
    """Create the lock, unless there is one: of several commands, on any machine, one does."""
    try:
        number = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW)
    except FileExistsError:
        return False
    with os.fdopen(number, "w", encoding="utf-8") as stream:
        json.dump(asdict(me), stream)
    return True


class _Wait:
    """Waiting for a lock, and for its owner's signs of life."""

    def __init__(self, path: Path, give_up_s: float) -> None:
        self._path, self._began = path, time.monotonic()
        self._give_up_s = give_up_s
        self._heartbeat = heartbeat.Watched(path)
        self._is_told = False

    def until_taken(self, me: Owner) -> None:
        while not _take(self._path, me):
            owner = owner_of(self._path)
            if self._is_dead(owner) and self._break(owner):
                continue
            waited_s = time.monotonic() - self._began
            if waited_s > self._give_up_s:
                raise UserError(
                    f"{_named(owner)} has held {self._path} for {waited_s:.0f} s; when nothing "
                    "of it runs any more, remove that file"
                )
            if waited_s > TELL_S and not self._is_told:
                self._is_told = True
                told = f"waits for {_named(owner)}, which works in {self._path.parent}"
                terminal.console().print(told, soft_wrap=True)
            time.sleep(LOOK_S)

    def _is_dead(self, owner: Owner | None) -> bool:
        """Its process is gone or, where that cannot be seen, so are its beats."""
        running = None if owner is None else process_identity.is_running(owner.process)
        if running is not None:
            return not running
        return self._heartbeat.is_silent(SILENT_S, CONFIRM_S)

    def _break(self, owner: Owner | None) -> bool:
        """Remove a dead owner's lock; of several that find it dead, one does.

        False while another process holds the file that decides which one.
        """
        with files.open_to_append(self._path.with_name(f"{self._path.name}.breaking")) as stream:
            try:
                fcntl.lockf(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError):
                return False
            except OSError:  # where files cannot be locked, the look again has to do
                pass
            if owner_of(self._path) == owner:
                self._path.unlink(missing_ok=True)
        return True


def _named(owner: Owner | None) -> str:
    return "somebody" if owner is None else f"process {owner.pid} on {owner.host}"
