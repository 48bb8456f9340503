"""Settings from plain values and back, each value checked for its type."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeVar

from fsm_hpc.errors import UserError
from fsm_hpc.study import option_lists
from fsm_hpc.study.checks import finite, refuse_option
from fsm_hpc.study.hashable_mapping import HashableMapping

T = TypeVar("T")
MANDATORY = "???"  # what Hydra calls a value that has to be given

_hints: Callable[[Any], dict[str, Any]] = cache(typing.get_type_hints)


@lru_cache(maxsize=256)  # folds of a sweep share their sections, and there may be thousands
def _built_once(kind: typing.Hashable, values: HashableMapping, where: str) -> Any:
    return build(typing.cast(type[Any], kind), values.of, where)


def build(kind: type[T], values: Mapping[str, Any], where: str = "") -> T:
    """A dataclass from plain values; wrong names and types are the user's to mend."""
    hints = _hints(kind)
    unknown = sorted(set(values) - set(hints))
    if unknown:
        refuse_option(where + unknown[0])
        known = ", ".join(hints)
        raise UserError(f"{where}{unknown[0]} is not a setting; expected one of: {known}")
    for expected in fields(kind):  # type: ignore[arg-type]
        required = expected.default is MISSING and expected.default_factory is MISSING
        if required and expected.name not in values:
            raise UserError(f"{where}{expected.name} is missing")
    return kind(**{name: _typed(hints[name], v, where + name) for name, v in values.items()})


def _typed(hint: Any, value: Any, where: str) -> Any:
    if value == MANDATORY and isinstance(value, str):
        raise UserError(f"{where} is missing")
    if hint is Any:
        return value
    options = typing.get_args(hint)
    origin = typing.get_origin(hint)
    if origin in (types.UnionType, typing.Union):
        inner = next(option for option in options if option is not type(None))
        return None if value is None else _typed(inner, value, where)
    if origin is tuple and isinstance(value, (list, tuple, str, int, float)):
        items = value if isinstance(value, (list, tuple)) else [value]  # `dataset.drop=id`: of one
        return tuple(_typed(options[0], item, where) for item in items)
    if hint is str and isinstance(value, (list, tuple)) and option_lists.is_list(where):
        return ",".join(map(str, value)) or None
    if origin is dict and isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(hint) and isinstance(value, Mapping):
        return _built_once(typing.cast(typing.Hashable, hint), HashableMapping(value), where + ".")
    return _scalar(hint, value, where)


def _scalar(hint: Any, value: Any, where: str) -> Any:
    if isinstance(hint, type) and issubclass(hint, Enum):
        names = [member.value for member in hint]
        if value in names:
            return hint(value)
        raise UserError(f"{where}: expected one of {', '.join(names)}, found {value!r}")
    if isinstance(value, str) and "\0" in value:
        raise UserError(f"{where}: expected text without NUL, found {value!r}")
    if hint is Path and isinstance(value, (str, Path)):
        return Path(value).expanduser()
    finite(where, value)
    if hint is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if hint is str and isinstance(value, (int, float)):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(hint, type) and type(value) is hint:
        return value
    words = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
    raise UserError(f"{where}: expected {words.get(hint, 'a list or a group')}, found {value!r}")


def plain_values(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: plain_values(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain_values(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_values(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    return str(value) if isinstance(value, Path) else value
