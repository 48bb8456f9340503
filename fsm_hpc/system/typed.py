"""Make typed values of plain ones, checking every type and range that a dataclass states."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Annotated, Any, TypeVar

from fsm_hpc.errors import UserError

T = TypeVar("T")
Check = Callable[[Any], Any]


class MismatchError(ValueError):
    """What was expected at a place in a file, and what is there."""

    def __init__(self, expected: str, found: Any) -> None:
        super().__init__(expected)
        self.expected, self.found = expected, found
        self.place: list[str] = []

    def __str__(self) -> str:
        found = "nothing" if self.found is MISSING else short(self.found)
        return f"{'.'.join(self.place) or 'in all'}: expected {self.expected}, found {found}"


def typed(kind: type[T], plain: Any) -> T:
    """The dataclass whose hints these plain values fit; `Annotated` hints add ranges."""
    check: Any = _check_of
    return typing.cast(T, check(kind)(plain))


def short(value: Any) -> str:
    """The beginning of what a value looks like."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# ------------------------------------------------------------------------------- what hints add


@dataclass(frozen=True)
class Between:
    """A number from `low` to `high`."""

    low: float
    high: float

    def __call__(self, value: Any) -> Any:
        if value is not None and not self.low <= value <= self.high:
            raise MismatchError(f"{self.low:g} to {self.high:g}", value)
        return value


@dataclass(frozen=True)
class Matches:
    """A text of this form."""

    pattern: str
    said: str

    def __call__(self, value: Any) -> Any:
        if value is not None and re.fullmatch(self.pattern, value) is None:
            raise MismatchError(self.said, value)
        return value


@dataclass(frozen=True)
class Like:
    """An object with the fields of a TypedDict, and maybe others, taken as it is."""

    kind: Any

    def __call__(self, value: Any) -> Any:
        if value is not None:
            _checked_fields(self.kind, value)
        return value


@dataclass(frozen=True)
class Readable:
    """A text, or a mapping, that some reader understands; it is kept as it is."""

    reader: Callable[[Any], object]

    def __call__(self, value: Any) -> Any:
        if value is not None:
            self.reader(value)
        return value


@dataclass(frozen=True)
class Parsed:
    """Something that a reader makes of a text."""

    reader: Callable[[str], object]

    def __call__(self, value: Any) -> Any:
        return self.reader(value)


Share = Annotated[float, Between(0, 1)]
Count = Annotated[int, Between(0, 10**15)]
Positive = Annotated[int, Between(1, 10**15)]
SpentSeconds = Annotated[float, Between(0, 1e12)]
Moment = Annotated[float, Between(0, 1e12)]  # of time.time()
Length = Annotated[int, Between(1, 10_000)]  # bound of a search, size of a formula


# ------------------------------------------------------------------------- what a hint asks for


@cache
def _check_of(hint: Any) -> Check:
    """What turns a plain value into one of this type, or says that it is none."""
    if hint is Any:
        return lambda value: value
    origin, options = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        plain = str if isinstance(options[1], Parsed) else options[0]
        return _annotated(_check_of(plain), options[1:])
    if origin in (types.UnionType, typing.Union):
        return _optional([_check_of(one) for one in options if one is not type(None)])
    if origin is tuple:
        return _tuple(options)
    if origin is list:
        return _list(_check_of(options[0]), list)
    if origin is dict:
        return _mapping(_check_of(options[1]))
    if is_dataclass(hint):
        return _dataclass(typing.cast(type, hint))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _enum(hint)
    return _scalar(hint)


def _annotated(check: Check, more: tuple[Any, ...]) -> Check:
    def checked(value: Any) -> Any:
        value = check(value)
        for one in more:
            try:
                value = one(value)
            except MismatchError:
                raise
            except ValueError as error:
                raise MismatchError(f"something else ({error})", value) from None
        return value

    return checked


def _optional(checks: list[Check]) -> Check:
    def checked(value: Any) -> Any:
        if value is None:
            return None
        for check in checks[:-1]:
            try:
                return check(value)
            except MismatchError:
                continue
        return checks[-1](value)

    return checked


def _tuple(options: tuple[Any, ...]) -> Check:
    if options[-1] is Ellipsis:
        return _list(_check_of(options[0]), tuple)
    checks = [_check_of(option) for option in options]

    def checked(value: Any) -> Any:
        if type(value) is not list or len(value) != len(checks):
            raise MismatchError(f"a list of {len(checks)}", value)
        return tuple(_at(str(n), check, value[n]) for n, check in enumerate(checks))

    return checked


def _list(check: Check, made: Callable[[list[Any]], Any]) -> Check:
    def checked(value: Any) -> Any:
        if type(value) is not list:
            raise MismatchError("a list", value)
        return made([_at(str(number), check, item) for number, item in enumerate(value)])

    return checked


def _mapping(check: Check) -> Check:
    def checked(value: Any) -> Any:
        if type(value) is not dict:
            raise MismatchError("an object", value)
        return {name: _at(name, check, item) for name, item in value.items()}

    return checked


def _dataclass(kind: type) -> Check:
    needed = {f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING}

    def checked(value: Any) -> Any:
        made = _checked_fields(kind, value, needed, is_closed=True)
        try:
            return kind(**made)
        except UserError as error:
            raise MismatchError(f"something else ({error})", "this") from None

    return checked


def _checked_fields(
    kind: Any, value: Any, needed: set[str] | None = None, is_closed: bool = False
) -> dict[str, Any]:
    if type(value) is not dict:
        raise MismatchError("an object", value)
    checks = _field_checks(kind)
    absent = (kind.__required_keys__ if needed is None else needed) - value.keys()
    if absent:
        wrong = MismatchError("a value", MISSING)
        wrong.place.append(min(absent))
        raise wrong
    made = {}
    for name, item in value.items():
        check = checks.get(name)
        if check is not None:
            made[name] = _at(name, check, item)
        elif is_closed:
            raise MismatchError("only fields that this version knows", name)
    return made


@cache
def _field_checks(kind: Any) -> dict[str, Check]:
    hints = typing.get_type_hints(kind, include_extras=True)
    return {name: _check_of(hint) for name, hint in hints.items()}


def _at(name: str, check: Check, value: Any) -> Any:
    try:
        return check(value)
    except MismatchError as error:
        error.place.insert(0, name[:40])
        raise


def _enum(kind: type[Enum]) -> Check:
    known = {member.value: member for member in kind}

    def checked(value: Any) -> Any:
        if type(value) is not str or value not in known:
            raise MismatchError(f"one of {', '.join(known)}", value)
        return known[value]

    return checked


_WORDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


def _scalar(kind: Any) -> Check:
    def checked(value: Any) -> Any:
        if type(value) is kind:
            return value
        if kind is float and type(value) is int:
            return float(value)
        raise MismatchError(_WORDS[kind], value)

    if kind not in _WORDS:
        raise TypeError(f"no file can hold a {kind}")
    return checked
