"""Convert plain values to settings, and check the type and range of each."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, field, is_dataclass, make_dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from fsm_hpc.errors import UserError
from fsm_hpc.system import serialization
from fsm_hpc.system.settings import Setting, fields_of

T = TypeVar("T")
MANDATORY = "???"  # a missing value of Hydra
MOST = 2**63  # files of the program hold smaller numbers only
# former settings, and the options that replace them
OPTIONS = {"wait": "--wait", "after": "--after collect,report", "notify": "--notify NAME@HOST"}
# options of schedulers with lists as values, in which commas are no sweep
LISTS = frozenset(
    [
        *("partition", "mail-type", "exclude", "nodelist", "clusters", "reservation"),
        *("gres", "licenses", "dependency", "export", "tres-per-task"),
    ]
)
_sections: dict[tuple[Any, str, str], Any] = {}  # cache: folds of a sweep share sections


def refuse_option(key: str) -> None:
    """Refuse a former setting, and name the option that replaces it."""
    if key in OPTIONS:
        raise UserError(f"{key} is an option of the command: write {OPTIONS[key]}, not {key}=...")


def is_list(key: str) -> bool:
    """Whether a scheduler takes a list for it: `cluster.by.bank.options.exclude`."""
    section, _, name = key.rpartition(".")
    return section.partition(".")[0] == "cluster" and name.replace("_", "-") in LISTS


def joined_list(key: str, value: str) -> str | None:
    """The text of a list of the scheduler, such as `a,b` or `n[1,3-5]`; None for other keys, and
    for `[a,b]` or `choice(a,b)`, which Hydra parses."""
    is_read_by_hydra = re.match(r"\s*(\[|\{|\w+\()", value)
    if not is_list(key) or is_read_by_hydra or not re.search(r"[,\[]", value):
        return None
    names = re.sub(r"[\"']|\s*(,)\s*", r"\1", value).strip()
    if not all(names.split(",")):
        raise UserError(f"{key}: expected names between commas, found {value!r}")
    return names


# ------------------------------------------------------------------------------ to typed values


def build(kind: type[T], values: Mapping[str, Any], where: str = "") -> T:
    """A dataclass of plain values; refuses unknown names and wrong types."""
    known = {setting.key: setting for setting in fields_of(kind)}  # type: ignore[arg-type]
    for name in sorted(set(values) - set(known)):
        refuse_option(where + name)
        raise UserError(f"{where}{name} is not a setting; expected one of: {', '.join(known)}")
    for name, setting in known.items():
        if setting.default is MISSING and name not in values:
            raise UserError(f"{where}{name} is missing")
    return kind(**{name: _checked(known[name], v, where + name) for name, v in values.items()})


def _checked(setting: Setting, value: Any, where: str) -> Any:
    typed = _typed(setting.hint, value, where)
    setting.info.check(where, typed)
    return typed


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
        items = value if isinstance(value, (list, tuple)) else [value]  # `dataset.drop=id`
        return tuple(_typed(options[0], item, where) for item in items)
    if hint is str and isinstance(value, (list, tuple)) and is_list(where):
        return ",".join(map(str, value)) or None
    if origin is dict and isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(hint) and isinstance(value, Mapping):
        return _section(hint, value, where + ".")
    return _scalar(hint, value, where)


def _section(kind: Any, values: Mapping[str, Any], where: str) -> Any:
    key = (kind, repr(values), where)
    if key not in _sections:
        _sections[key] = build(kind, values, where)
    return _sections[key]


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
    if type(value) in (int, float) and not abs(value) < MOST:
        raise UserError(f"{where}: expected a finite number, found {value!r}")
    if hint is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if hint is str and isinstance(value, (int, float)):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(hint, type) and type(value) is hint:
        return value
    expected = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
    raise UserError(f"{where}: expected {expected.get(hint, 'a list or a group')}, found {value!r}")


def schema(kind: Any) -> type[Any]:
    """A structured config for Hydra with the same keys and defaults. `build` checks the types, as
    OmegaConf converts 1.5 to the integer 1 and has other names for enumerations."""
    fields: list[tuple[str, Any, Any]] = []
    for setting in fields_of(kind):
        if setting.is_section:
            section = schema(setting.hint)
            fields.append((setting.key, section, field(default_factory=section)))
        elif setting.is_setting:
            fields.append((setting.key, Any, field(default_factory=partial(_default, setting))))
    return make_dataclass(kind.__name__, fields)


def _default(setting: Setting) -> Any:
    return MANDATORY if setting.default is MISSING else serialization.plain(setting.default)


def differing(
    first: Mapping[str, Any], other: Mapping[str, Any], prefix: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    """The keys in which plain values differ, each with both values."""
    for name in {**first, **other}:
        value, other_value = first.get(name), other.get(name)
        if isinstance(value, Mapping) and isinstance(other_value, Mapping):
            yield from differing(value, other_value, f"{prefix}{name}.")
        elif value != other_value:
            yield f"{prefix}{name}", value, other_value
