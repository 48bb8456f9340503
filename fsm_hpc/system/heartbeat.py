"""Heartbeats: files that a running process touches, measured by the clock of the file system."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def touch(path: Path) -> None:
    """Touch a file, with the time of the file server."""
    with suppress(OSError):
        os.utime(path, follow_symlinks=False)


def written_at(path: Path) -> int | None:
    """When the file was touched, in ns of its file system; None without a file.

    Opens the file first: NFS answers `stat` from a cache and asks the server only on open.
    """
    with suppress(OSError):  # a link, a pipe, another user's file
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC))
    try:
        return path.lstat().st_mtime_ns
    except OSError:
        return None


def now_at(folder: Path) -> int | None:
    """The current time of the file system of a folder, in ns."""
    try:
        with tempfile.TemporaryFile(dir=folder) as stream:
            stream.write(b"\0")
            stream.flush()
            os.fsync(stream.fileno())
            return os.fstat(stream.fileno()).st_mtime_ns
    except OSError:
        return None


def age_s(path: Path) -> float | None:
    """Seconds since the file was touched; None if unknown."""
    written, now = written_at(path), now_at(path.parent)
    return None if written is None or now is None else (now - written) / 1e9


class Watched:
    """A heartbeat to watch; it is silent after `silent_s` seconds without a beat.

    The age of the file is not enough, as the clock of the file server may have been set: an old
    beat, or one in the future, counts only after `confirm_s` seconds without another one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, float, float] | None = None  # beat, seen at, age at that time

    def is_silent(self, silent_s: float, confirm_s: float) -> bool:
        beat = written_at(self._path)
        if beat is None:
            return False
        if self._seen is None or self._seen[0] != beat:
            self._seen = beat, time.monotonic(), abs(age_s(self._path) or 0.0)
        watched_s = time.monotonic() - self._seen[1]
        return watched_s > silent_s or (watched_s > confirm_s and self._seen[2] > silent_s)


_confirmed: dict[Path, int] = {}  # last beats, without another while this process watched


def silent(paths: Iterable[Path], silent_s: float, confirm_s: float) -> dict[Path, bool | None]:
    """Whether each heartbeat has stopped; None: unknown. Watches all suspects together."""
    beats = {path: written_at(path) for path in paths}
    old = {path: _is_old(path, beat, silent_s) for path, beat in beats.items()}
    suspects = [path for path, is_old in old.items() if is_old]
    if any(_confirmed.get(path) != beats[path] for path in suspects):
        time.sleep(confirm_s)
    for path in suspects:
        beat = written_at(path)
        old[path] = beat == beats[path]
        if beat is not None and old[path]:
            _confirmed[path] = beat
    return old


def _is_old(path: Path, beat: int | None, silent_s: float) -> bool | None:
    if beat is None:  # removed by a process that ended
        return None if os.path.exists(path) else True  # noqa: PTH110 - False for impossible names
    now = now_at(path.parent)
    return None if now is None else abs(now - beat) > silent_s * 1e9
