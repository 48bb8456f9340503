"""Files: where the package keeps its own, writes that lose nothing, reads that cannot hang."""

from __future__ import annotations

import errno
import json
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from fsm_hpc.errors import UserError
from fsm_hpc.system import ownership
from fsm_hpc.system.tempfiles import tempfile_for

PACKAGE = Path(__file__).parent.parent
OUTDATED = "outdated"  # in the name of a file that is of other rows or settings
WRITERS = 16  # threads that write files side by side
SOURCE = PACKAGE.parent  # the checkout, or the folder that packages are installed in


def conf_dir() -> Path:
    """The Hydra configs: inside the package in a wheel, beside it in a checkout."""
    return _travelling("conf")


def encodings_dir() -> Path:
    """The answer set programs: inside the package in a wheel, beside it in a checkout."""
    return _travelling("encodings")


def shipped_data_dir() -> Path:
    """The tables that come with the package."""
    return PACKAGE / "data" / "shipped"


def _travelling(folder: str) -> Path:
    inside = PACKAGE / folder
    return inside if inside.is_dir() else SOURCE / folder


class UnreadableError(UserError):
    """A file that is there but is not what it should be."""

    is_newer = False  # a newer version wrote it: not this one's to replace


# --------------------------------------------------------------------------------------- writing


def write_atomically(path: Path, content: str | bytes) -> None:
    """The file has the old content or the new one, whenever the process or the machine dies.

    A link in its place is replaced, never followed; so is nobody else's temporary file.
    """
    with errors_with_path(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        tempfile = tempfile_for(path)
        try:
            with os.fdopen(_create(tempfile), "wb") as stream:
                stream.write(_bytes(content))
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(tempfile, path)  # noqa: PTH105 - the word of the promise
        finally:
            tempfile.unlink(missing_ok=True)


def _bytes(content: str | bytes) -> bytes:
    """As UTF-8; bytes of a name that were no text are escaped, which JSON reads back."""
    return content if isinstance(content, bytes) else content.encode(errors="backslashreplace")


def write_json(path: Path, value: Any) -> None:
    write_atomically(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def write_each(tasks: Iterable[Callable[[], None]]) -> None:
    """Write many files side by side: each waits for the disk, and a disk takes several at once."""
    with ThreadPoolExecutor(WRITERS) as pool:
        for done in [pool.submit(task) for task in tasks]:
            done.result()


def open_to_append(path: Path) -> BinaryIO:
    """The file, to write at its end; what is there and is no file of ours is kept aside."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with errors_with_path(path):
        if path.is_symlink() or (path.exists() and not path.is_file()):
            quarantine(path)
        number = os.open(path, flags, 0o666)
        if not stat.S_ISREG(os.fstat(number).st_mode):  # exchanged since the check above
            os.close(number)
            raise OSError(errno.EINVAL, "expected a regular file")
        return os.fdopen(number, "ab")


def quarantine(path: Path) -> Path:
    """Move what is not understood out of the way; where it is now."""
    kept = path.with_name(f".damaged-{path.name}-{_stamp()}")
    with errors_with_path(path):
        os.rename(path, kept)  # noqa: PTH104 - a link itself, not what it leads to
    return kept


def rename_outdated(path: Path) -> str:
    """Rename a file that is whole but of other rows or settings, so that another can be written.

    Its new name, which no other file has; nothing where another process has moved it before.
    """
    kept = path.with_name(f"{path.stem}.{OUTDATED}-{_stamp()}{path.suffix}")
    with errors_with_path(path):
        try:
            os.rename(path, kept)  # noqa: PTH104 - a link itself, not what it leads to
        except FileNotFoundError:
            return ""
    return kept.name


def outdated_names(folder: Path) -> list[str]:
    """The names of such files in a folder."""
    try:
        return sorted(one.name for one in os.scandir(folder) if f".{OUTDATED}-" in one.name)
    except OSError:
        return []


def _stamp() -> str:
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(6)}"


def quarantine_if_invalid(path: Path, read: Callable[[Path], object]) -> str:
    """Before something is written: keep aside what `read` does not understand, and say so.

    What is unreadable because it is newer stays, as an error.
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
    """Errors of the system name this file, as a full disk does not."""
    try:
        yield
    except OSError as error:
        raise type(error)(error.errno, error.strerror or str(error), str(path)) from error


def _create(tempfile: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(tempfile, flags, 0o666)


# --------------------------------------------------------------------------------------- reading

_ODD = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def read_regular(path: Path, most_bytes: int, is_own: bool = False) -> bytes | None:
    """The content; None where there is no file. Nothing that could block or never end is read.

    `is_own`: a file that another user owns or may write is refused.
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
    """So many bytes from there on; fewer where the file ends before, none without a file."""
    with _opened(path) as number:
        return b"" if number is None else os.pread(number, count, start)


def read_end(path: Path, most_bytes: int) -> bytes:
    """The last bytes of a file; none where there is no file that can be read."""
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
            raise UnreadableError(f"{path.name} cannot be read: a link to nothing") from None
        yield None
        return
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            what = "a link to itself" if error.errno == errno.ELOOP else "a socket"
            raise UnreadableError(f"{path.name} cannot be read: it is {what}") from None
        raise
    try:
        kind = stat.S_IFMT(os.fstat(number).st_mode)
        if kind != stat.S_IFREG:
            raise UnreadableError(f"{path.name} cannot be read: it is {_ODD.get(kind, 'no file')}")
        yield number
    finally:
        os.close(number)
