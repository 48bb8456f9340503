"""Files: folders of the package, atomic writes, reads that cannot block."""

from __future__ import annotations

import errno
import json
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from fsm_hpc.errors import UserError
from fsm_hpc.system import ownership
from fsm_hpc.system.tempfiles import tempfile_for

PACKAGE = Path(__file__).parent.parent
OUTDATED = "outdated"  # in the name of a file that belongs to other rows or settings
SOURCE = PACKAGE.parent  # the checkout, or the folder of installed packages


def conf_dir() -> Path:
    """The Hydra configs: in the package of a wheel, next to it in a checkout."""
    return _resource_folder("conf")


def encodings_dir() -> Path:
    """The answer set programs: in the package of a wheel, next to it in a checkout."""
    return _resource_folder("encodings")


def shipped_data_dir() -> Path:
    """The datasets in the package."""
    return PACKAGE / "data" / "shipped"


def _resource_folder(folder: str) -> Path:
    inside = PACKAGE / folder
    return inside if inside.is_dir() else SOURCE / folder


class UnreadableError(UserError):
    """A file that exists but cannot be used."""

    is_newer = False  # written by a newer version, and not to be replaced


# --------------------------------------------------------------------------------------- writing


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that it has the old or the new content, even after a crash.

    Replaces a symbolic link and does not follow it.
    """
    with errors_with_path(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        tempfile = tempfile_for(path)
        try:
            with os.fdopen(_create(tempfile), "wb") as stream:
                stream.write(_bytes(content))
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(tempfile, path)  # noqa: PTH105 - atomic
        finally:
            tempfile.unlink(missing_ok=True)


def _bytes(content: str | bytes) -> bytes:
    """The content as UTF-8; bytes that are no text are escaped as in JSON."""
    return content if isinstance(content, bytes) else content.encode(errors="backslashreplace")


def write_json(path: Path, value: Any) -> None:
    write_atomically(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def open_to_append(path: Path) -> BinaryIO:
    """Open a file to append to it; quarantines anything that is not a regular file."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with errors_with_path(path):
        if path.is_symlink() or (path.exists() and not path.is_file()):
            quarantine(path)
        number = os.open(path, flags, 0o666)
        if not stat.S_ISREG(os.fstat(number).st_mode):  # replaced since the check above
            os.close(number)
            raise OSError(errno.EINVAL, "expected a regular file")
        return os.fdopen(number, "ab")


def quarantine(path: Path) -> Path:
    """Rename an invalid file; its new path."""
    kept = path.with_name(f".damaged-{path.name}-{_stamp()}")
    with errors_with_path(path):
        os.rename(path, kept)  # noqa: PTH104 - a link itself, not what it leads to
    return kept


def rename_outdated(path: Path) -> str:
    """Rename a valid file of other rows or settings; its new, unique name.

    Empty if another process has renamed it before.
    """
    kept = path.with_name(f"{path.stem}.{OUTDATED}-{_stamp()}{path.suffix}")
    with errors_with_path(path):
        try:
            os.rename(path, kept)  # noqa: PTH104 - a link itself, not what it leads to
        except FileNotFoundError:
            return ""
    return kept.name


def _stamp() -> str:
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(6)}"


def quarantine_if_invalid(path: Path, read: Callable[[Path], object]) -> str:
    """Before a file is written: quarantine one that `read` refuses; a message about it, or "".

    Raises the error for a file of a newer version.
    """
    try:
        read(path)
    except UnreadableError as error:
        if error.is_newer:
            raise
        return f"{error}; kept as {quarantine(path).name}"
    return ""


@contextmanager
def errors_with_path(path: Path) -> Iterator[None]:
    """Add this path to errors of the system, which a full disk does not name."""
    try:
        yield
    except OSError as error:
        raise type(error)(error.errno, error.strerror or str(error), str(path)) from error


def _create(tempfile: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(tempfile, flags, 0o666)


# --------------------------------------------------------------------------------------- reading

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def read_regular(path: Path, most_bytes: int, is_own: bool = False) -> bytes | None:
    """The content of a regular file; None without a file. Refuses pipes and devices.

    `is_own`: refuses a file that another user owns or may write.
    """
    with _opened(path) as number:
        if number is None:
            return None
        writers = ownership.writers(os.fstat(number)) if is_own else ""
        if writers:
            raise UnreadableError(f"{path.name} is not used: it may be written by {writers}")
        if os.fstat(number).st_size > most_bytes:
            raise UnreadableError(f"{path.name} cannot be read: larger than {most_bytes:,} bytes")
        with os.fdopen(number, "rb", closefd=False) as stream:
            return stream.read(most_bytes)


def read_part(path: Path, start: int, count: int) -> bytes:
    """`count` bytes from `start` on; fewer at the end of the file, none without a file."""
    with _opened(path) as number:
        return b"" if number is None else os.pread(number, count, start)


def read_end(path: Path, most_bytes: int) -> bytes:
    """The last bytes of a file; empty if it cannot be read."""
    try:
        with _opened(path) as number:
            if number is None:
                return b""
            with os.fdopen(number, "rb", closefd=False) as stream:
                stream.seek(max(0, os.fstat(number).st_size - most_bytes))
                return stream.read(most_bytes)
    except (OSError, UnreadableError):
        return b""


@contextmanager
def _opened(path: Path) -> Iterator[int | None]:
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            raise UnreadableError(f"{path.name} cannot be read: it is a broken link") from None
        yield None
        return
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            kind = "a link to itself" if error.errno == errno.ELOOP else "a socket"
            raise UnreadableError(f"{path.name} cannot be read: it is {kind}") from None
        raise
    try:
        mode = stat.S_IFMT(os.fstat(number).st_mode)
        if mode != stat.S_IFREG:
            raise UnreadableError(
                f"{path.name} cannot be read: it is {_KINDS.get(mode, 'no file')}"
            )
        yield number
    finally:
        os.close(number)
