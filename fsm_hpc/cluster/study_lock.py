"""A lock for a study: one command at a time submits, resumes or cancels, on all machines."""

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

BEAT_S = 5.0  # interval of the heartbeat of the owner
SILENT_S = 60.0  # without a heartbeat from another PID namespace: the owner is dead
CONFIRM_S = 15.0  # how long an old heartbeat is watched before it counts as the last
TELL_S = 2.0  # of waiting, before a message explains it
GIVE_UP_S = 900.0
LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that holds the lock of a study."""

    host: str
    pid: ProcessId
    since: Moment
    token: str
    process: Identity = ""


class LostLockError(UserError):
    """Another command has taken over the lock, because this one had no heartbeat."""


_mine: dict[Path, Owner] = {}  # the locks that this process holds


@contextmanager
def held(studies: Iterable[Path], give_up_s: float = GIVE_UP_S) -> Iterator[None]:
    """Hold the locks of these studies while the block runs; waits for other owners."""
    with ExitStack() as locks:
        for path in sorted(
            {_lock_of(study) for study in studies}
        ):  # a fixed order prevents deadlocks
            locks.enter_context(_held(path, give_up_s))
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
                if owner_of(path) == me:  # else it would renew the lock of the next owner
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
    """Raise an error if another command has taken over the lock."""
    path = _lock_of(study.root)
    owner = owner_of(path)
    if owner is None or owner != _mine.get(path):
        raise LostLockError(
            f"{_named(owner)} has taken over {path}, because this command had no heartbeat for "
            f"{SILENT_S:.0f} s; it submits nothing more; run the same command again to continue"
        )
    heartbeat.touch(path)


def _lock_of(study: Path) -> Path:
    return StudyPaths(
        Path(os.path.realpath(study))
    ).lock  # without links, so that each study has one lock


def owner_of(path: Path) -> Owner | None:
    """The owner of a lock; None if it is free or its file cannot be read."""
    try:
        saved = serialization.read(path)
        return None if saved is None else serialization.convert(Owner, saved, path.name)
    except UnreadableError:
        return None


def _take(path: Path, me: Owner) -> bool:
    """Create the lock file; False if it exists. Only one of several commands succeeds."""
    try:
        number = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW)
    except FileExistsError:
        return False
    with os.fdopen(number, "w", encoding="utf-8") as stream:
        json.dump(asdict(me), stream)
    return True


class _Wait:
    """Waits for a lock, and watches the heartbeat of its owner."""

    def __init__(self, path: Path, give_up_s: float) -> None:
        self._path, self._began = path, time.monotonic()
        self._give_up_s = give_up_s
        self._heartbeat = heartbeat.Watched(path)
        self._has_printed = False

    def until_taken(self, me: Owner) -> None:
        while not _take(self._path, me):
            owner = owner_of(self._path)
            if self._is_dead(owner) and self._break(owner):
                continue
            waited_s = time.monotonic() - self._began
            if waited_s > self._give_up_s:
                raise UserError(
                    f"{_named(owner)} has held {self._path} for {waited_s:.0f} s; if that process "
                    "has ended, remove the file"
                )
            if waited_s > TELL_S and not self._has_printed:
                self._has_printed = True
                text = f"waiting for {_named(owner)}, which holds {self._path}"
                terminal.console().print(text, soft_wrap=True)
            time.sleep(LOOK_S)

    def _is_dead(self, owner: Owner | None) -> bool:
        """Whether its process has ended or, if that is not visible, its heartbeat."""
        running = None if owner is None else process_identity.is_running(owner.process)
        if running is not None:
            return not running
        return self._heartbeat.is_silent(SILENT_S, CONFIRM_S)

    def _break(self, owner: Owner | None) -> bool:
        """Remove the lock of a dead owner; a second lock file ensures that only one process does.

        False while another process holds that file.
        """
        with files.open_to_append(self._path.with_name(f"{self._path.name}.breaking")) as stream:
            try:
                fcntl.lockf(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError):
                return False
            except OSError:  # without file locks, the comparison below is the only protection
                pass
            if owner_of(self._path) == owner:
                self._path.unlink(missing_ok=True)
        return True


def _named(owner: Owner | None) -> str:
    return "an unknown process" if owner is None else f"process {owner.pid} on {owner.host}"
