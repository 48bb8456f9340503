"""Write and read JSON files of the program: limited in size, versioned, typed by msgspec."""

from __future__ import annotations

import hashlib
import json
import re
import typing
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, is_dataclass
from enum import Enum
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

import fsm_hpc
from fsm_hpc.system import files
from fsm_hpc.system.files import UnreadableError

T = TypeVar("T")
MAX_BYTES = 64 * 2**20
MAX_DEPTH = 24
FIRST_FORMAT = 1  # of files without a format
HEADER = ("format", "version")
_parsers: dict[type, Callable[[str], Any]] = {}  # of types that a file holds as text


class NewerFormatError(UnreadableError):
    """A file of a newer version."""

    is_newer = True


@dataclass(frozen=True)
class Valid:
    """Annotation of a dataclass field: a value that this function accepts, without conversion."""

    check: Callable[[Any], object]


@dataclass(frozen=True)
class OpenSchema:
    """Annotation of a dataclass field: an object with the fields of a TypedDict, and any others."""

    kind: Any

    def check(self, value: Any) -> None:
        msgspec.convert(value, self.kind, dec_hook=_decoded)


def register(kind: type, parse: Callable[[str], Any]) -> None:
    """Store values of this type as text: written with `str`, read with `parse`."""
    _parsers[kind] = parse


# --------------------------------------------------------------------------------------- writing


def write(path: Path, number: int, value: Any, **derived: Any) -> None:
    """Write a file of this format; `derived` values are for other readers, and not read back."""
    files.write_json(path, header(number) | plain(value) | derived)


def header(number: int) -> dict[str, Any]:
    """The first fields of every file. A new field increases the number, so that an older version
    does not report the file as damaged; tests/study/test_formats.py checks this."""
    return {"format": number, "version": fsm_hpc.__version__}


def plain(value: Any) -> Any:
    """Dataclasses and their values as dicts, lists, texts and numbers; Structs as lists."""
    if isinstance(value, (PathLike, *_parsers)):
        return str(value)
    if is_dataclass(value):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, msgspec.Struct):
        return [plain(getattr(value, name)) for name in value.__struct_fields__]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [plain(item) for item in value]
    return value.value if isinstance(value, Enum) else value


def checksum(content: Any) -> str:
    """A digest to store with the content, to detect changes."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


# --------------------------------------------------------------------------------------- reading


def load(kind: type[T], path: Path, number: int, derived: Collection[str] = ()) -> T | None:
    """The dataclass in a file of this or an older format; None without a file."""
    saved = read(path)
    if saved is None:
        return None
    return convert(kind, without_header(saved, path.name, number), path.name, derived)


def read(path: Path, max_bytes: int = MAX_BYTES, is_own: bool = False) -> dict[str, Any] | None:
    """The object in a file; None without a file.

    `is_own`: refuses a file that another user owns or may write.
    """
    content = files.read_regular(path, max_bytes, is_own)
    return None if content is None else parse(content, path.name)


def parse(content: bytes, name: str) -> dict[str, Any]:
    """The object in the content of a file with this name."""
    try:
        value = _parsed(content)
        _check_limits(value, MAX_DEPTH)
    except UnicodeDecodeError:
        raise UnreadableError(f"{name} cannot be read: it is not UTF-8") from None
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise UnreadableError(f"{name} cannot be read: {reason}") from None
    if type(value) is not dict:
        raise UnreadableError(f"{name} cannot be read: expected an object in it")
    return value


def read_some(kind: type[T], path: Path) -> T | None:
    """The fields of a TypedDict in a file, much faster than the whole file; None without a file."""
    content = files.read_regular(path, MAX_BYTES)
    try:
        return None if content is None else msgspec.json.decode(content, type=kind)
    except (ValueError, RecursionError):
        raise UnreadableError(f"{path.name} cannot be read") from None


def without_header(saved: dict[str, Any], name: str, known: int) -> dict[str, Any]:
    """The content without its header; refuses a newer format."""
    number = saved.get("format", FIRST_FORMAT)
    if type(number) is int and number > known:
        raise NewerFormatError(
            f"{name} was written by a newer version of fsm_hpc ({_writer(saved)}): its format is "
            f"{number}, and this version, {fsm_hpc.__version__}, reads formats up to {known}; "
            "update fsm_hpc to use it"
        )
    if type(number) is not int or number < FIRST_FORMAT:
        raise UnreadableError(f"{name} has an unknown format: {_short(number)}")
    return {key: value for key, value in saved.items() if key not in HEADER}


def convert(kind: type[T], saved: Any, name: str, derived: Collection[str] | None = ()) -> T:
    """The dataclass or TypedDict of the values in a file with this name.

    Refuses unknown fields of a dataclass, except those in `derived`, such as `seconds.total`;
    None: ignores unknown fields.
    """
    try:
        value = msgspec.convert(saved, kind, dec_hook=_decoded)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise _invalid(name, kind, saved, str(error)) from None
    for field, annotation in _annotations(typing.cast(Any, kind)):
        try:
            if (content := getattr(value, field)) is not None:
                annotation.check(content)
        except ValueError as error:
            part = getattr(annotation, "kind", None)
            raise _invalid(name, part, content, str(error), f"$.{field}") from None
    if is_dataclass(kind) and derived is not None:
        _refuse_unknown(name, saved, value, derived)
    return value


def _refuse_unknown(name: str, saved: Any, value: Any, derived: Collection[str]) -> None:
    for path in _unknown(saved, msgspec.to_builtins(value, enc_hook=float)):
        if path not in derived:
            raise UnreadableError(
                f"{name} is invalid at $.{path}: expected only fields that this version knows"
            )


def _parsed(content: bytes) -> Any:
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        # msgspec refuses halves of surrogate pairs, which encode paths that are not UTF-8
        text = content.decode()
        return json.loads(text, parse_constant=_not_finite, parse_float=_finite)


def _not_finite(text: str) -> Any:
    raise ValueError(f"{text[:20]} is not a finite number")


def _finite(text: str) -> float:
    return float(text) if abs(float(text)) < float("inf") else _not_finite(text)


def _check_limits(value: Any, depth: int) -> None:
    """Refuse deeper nesting, and whole numbers of more than 64 bits."""
    if depth == 0:
        raise RecursionError
    for item in value.values() if type(value) is dict else value if type(value) is list else ():
        if type(item) in (dict, list):
            _check_limits(item, depth - 1)
        elif type(item) is int and item.bit_length() > 64:
            raise ValueError("a number in it is too large")


def _decoded(kind: type, value: Any) -> Any:
    if type(value) is not str:
        raise ValueError("Expected `str`")
    return _parsers[kind](value)


def _writer(saved: dict[str, Any]) -> str:
    """The version that wrote a file."""
    for part in (saved, saved.get("provenance"), saved.get("code")):
        if isinstance(part, dict) and isinstance(part.get("version"), str):
            return str(part["version"])[:40]
    return "it does not state which"


@cache
def _annotations(kind: Any) -> list[tuple[str, Valid | OpenSchema]]:
    """The fields of a dataclass with a `Valid` or `OpenSchema` annotation."""
    hints = typing.get_type_hints(kind, include_extras=True) if is_dataclass(kind) else {}
    return [
        (name, annotation)
        for name, hint in hints.items()
        if typing.get_origin(hint) is Annotated
        for annotation in typing.get_args(hint)[1:]
        if isinstance(annotation, (Valid, OpenSchema))
    ]


def _unknown(saved: Any, known: Any, path: str = "") -> Iterator[str]:
    """The paths of unknown fields."""
    if saved == known:
        return  # compared in C
    if type(saved) is dict and type(known) is dict:
        for name, item in saved.items():
            if name not in known:
                yield f"{path}{name}"
            elif type(item) in (dict, list):
                yield from _unknown(item, known[name], f"{path}{name}.")
    elif type(saved) is list and type(known) in (list, tuple):
        for item, known_item in zip(saved, known, strict=False):
            if type(item) in (dict, list):
                yield from _unknown(item, known_item, path)


# ---------------------------------------------------------------------------------------- errors


def _invalid(name: str, kind: Any, saved: Any, message: str, top: str = "$") -> UnreadableError:
    """An error with the path in the file, the expected and the actual value."""
    text, _, path = message.rpartition(" - at `$")
    text, path = (text, path.rstrip("`")) if text else (message, "")
    steps = re.findall(r"\.([^.\[]+)|\[(\d+)\]", path)
    actual = _short(_item_at(saved, steps))
    if missing := re.fullmatch(r"Object missing required field `(.*)`", text):
        path, expected, actual = f"{path}.{missing[1]}", "a value", "nothing"
    elif text.startswith("Invalid enum value"):
        expected = f"one of {', '.join(_choices(kind, [step[0] for step in steps if step[0]]))}"
    elif text.startswith("Expected "):
        expected = text.removeprefix("Expected ").partition(", got ")[0].replace("`", "")
    else:
        expected = f"another value ({text})"
    return UnreadableError(f"{name} is invalid at {top}{path}: expected {expected}, found {actual}")


def _item_at(saved: Any, steps: list[tuple[str, str]]) -> Any:
    for name, number in steps:
        try:
            saved = saved[name or int(number)]
        except (LookupError, TypeError):
            break
    return saved


def _choices(kind: Any, names: list[str]) -> list[str]:
    """The values of the enumeration at these names of a dataclass or TypedDict."""
    for name in names:
        kind = _without_containers(typing.get_type_hints(_without_containers(kind))[name])
    is_choice = isinstance(kind, type) and issubclass(kind, Enum)
    return [str(member.value) for member in kind] if is_choice else ["other values"]


def _without_containers(hint: Any) -> Any:
    while options := typing.get_args(hint):
        hint = options[-1] if typing.get_origin(hint) is dict else options[0]
    return hint


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
