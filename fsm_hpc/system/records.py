"""Read the program's own JSON files: whole, unchanged, of a format that is known, and typed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import fsm_hpc
from fsm_hpc.system import files
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.typed import Like, MismatchError, short, typed

T = TypeVar("T")
MOST_BYTES = 64 * 2**20
MOST_DEPTH = 24
FIRST_FORMAT = 1  # of files that state none
MOST_DIGITS = 20  # of a whole number: what 64 bits hold


class NewerFormatError(UnreadableError):
    """A file that a newer version wrote."""

    is_newer = True


def read(path: Path, most_bytes: int = MOST_BYTES, is_own: bool = False) -> dict[str, Any] | None:
    """The object in the file; None where there is none. What is no whole object is unreadable.

    `is_own`: so is a file that another user owns or may write.
    """
    content = files.read_regular(path, most_bytes, is_own)
    if content is None:
        return None
    try:
        value = json.loads(
            content.decode(), parse_constant=_no_number, parse_float=_float, parse_int=_int
        )
        _limit_depth(value, MOST_DEPTH)
    except UnicodeDecodeError:
        raise UnreadableError(f"{path.name} cannot be read: it is not UTF-8") from None
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise UnreadableError(f"{path.name} cannot be read: {why}") from None
    if type(value) is not dict:
        raise UnreadableError(f"{path.name} cannot be read: expected an object in it")
    return value


def write(path: Path, number: int, content: Mapping[str, Any]) -> None:
    """Write a file of that format, with the version that writes it."""
    files.write_json(path, head(number) | dict(content))


def head(number: int) -> dict[str, Any]:
    """What every file begins with. The number increases when a field is added, so that an older
    version does not take the file for damaged; tests/study/test_formats.py watches over it."""
    return {"format": number, "version": fsm_hpc.__version__}


def of_format(saved: dict[str, Any], name: str, known: int) -> dict[str, Any]:
    """The content without its head; the format is one that this version knows, or an older one."""
    found = saved.get("format", FIRST_FORMAT)
    if type(found) is int and found > known:
        raise NewerFormatError(
            f"{name} was written by a newer version of fsm_hpc ({_writer(saved)}): its format is "
            f"{found}, and this version, {fsm_hpc.__version__}, reads formats up to {known}; "
            "update fsm_hpc to use it"
        )
    if type(found) is not int or found < FIRST_FORMAT:
        raise UnreadableError(f"{name} is of another format: {short(found)}")
    return {key: value for key, value in saved.items() if key not in ("format", "version")}


def decode(kind: type[T], saved: Any, name: str) -> T:
    """The dataclass of the values in a file called `name`."""
    try:
        return typed(kind, saved)
    except MismatchError as error:
        raise UnreadableError(f"{name} is not understood: {error}") from None


def like(kind: Any, saved: dict[str, Any], name: str) -> dict[str, Any]:
    """The values of a file called `name` as they are, each of the type that a TypedDict states."""
    try:
        Like(kind)(saved)
    except MismatchError as error:
        raise UnreadableError(f"{name} is not understood: {error}") from None
    return saved


def seal(content: Mapping[str, Any]) -> str:
    """A digest to be written beside the content: what was changed on disk does not have it."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def _writer(saved: Mapping[str, Any]) -> str:
    """The version that wrote a file, wherever its kind of file says so."""
    for part in (saved, saved.get("provenance"), saved.get("code")):
        if isinstance(part, dict) and isinstance(part.get("version"), str):
            return str(part["version"])[:40]
    return "it does not state which"


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is not a number")


def _float(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{text[:20]} is too large a number")
    return value


def _int(text: str) -> int:
    if len(text) > MOST_DIGITS + 1:
        raise ValueError(f"{text[:20]}... is too large a number")
    return int(text)


def _limit_depth(value: Any, left: int) -> None:
    if type(value) in (dict, list):
        if left == 0:
            raise RecursionError
        for item in value.values() if type(value) is dict else value:
            _limit_depth(item, left - 1)
