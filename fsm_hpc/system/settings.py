"""Settings as typed fields: default, help, range, and whether they change results."""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from enum import Enum
from functools import cache, partial
from typing import Any

from fsm_hpc.errors import UserError

_INFO = "setting"
ALWAYS_STATED = object()  # the legacy value of settings that every result states


class Scope(Enum):
    """The methods whose results a setting changes."""

    NONE = "none"
    ALL = "all"
    FORMULAS = "formulas"
    BASELINES = "baselines"


@dataclass(frozen=True, slots=True)
class TextFormat:
    """A pattern of a text, and its name in messages."""

    pattern: str
    expected: str

    def check(self, key: str, text: str) -> None:
        if re.fullmatch(self.pattern, text) is None:
            raise UserError(f"{key}: expected {self.expected}, found {text!r}")


# Values in job scripts, which must not add lines.
ONE_WORD = TextFormat(r"[^\s\x00-\x1f\x7f]*", "one word")
ONE_LINE = TextFormat(r"[^\x00-\x1f\x7f]*", "one line")
FOLDER = TextFormat(r"[^./][^/]*", "the name of one folder")
MODULE = TextFormat(r"[a-z][a-z0-9_]*", "a name of small letters")
NUMBER_OR_AUTO = TextFormat(r"auto|[1-9][0-9]{0,5}", "a whole number from 1 on, or auto")


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """Properties of a setting besides its name, type and default."""

    help: str = ""
    least: float | None = None
    text: TextFormat | None = None
    changes: Scope = Scope.NONE
    result_name: str = ""  # its name in a result, if that is not its key
    legacy: Any = ALWAYS_STATED  # the value of results that do not state it
    runs_code: bool = False  # never read from a results folder

    def concerns(self, finds_formula: bool) -> bool:
        """Whether it changes results of formula methods, or of baselines."""
        return self.changes in (Scope.ALL, Scope.FORMULAS if finds_formula else Scope.BASELINES)

    def check(self, key: str, value: Any) -> None:
        """Refuse a value out of range."""
        if value is not None and self.least is not None and not value >= self.least:
            raise UserError(f"{key}: expected at least {self.least}, found {value}")
        if value is not None and self.text is not None:
            self.text.check(key, value)


def setting(default: Any = MISSING, help: str = "", **info: Any) -> Any:
    """A field of a settings class; `default`: a value or a factory; `info`: SettingInfo."""
    metadata = {_INFO: SettingInfo(help, **info)}
    if isinstance(default, Callable):  # type: ignore[arg-type]
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


result_setting = partial(setting, changes=Scope.ALL)
formula_setting = partial(setting, changes=Scope.FORMULAS)
baseline_setting = partial(setting, changes=Scope.BASELINES)


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of a config, or a section of settings."""

    path: tuple[str, ...]  # scan, patience
    hint: Any
    field: Field[Any]

    @property
    def info(self) -> SettingInfo:
        info: SettingInfo = self.field.metadata.get(_INFO, SettingInfo())
        return info

    @property
    def key(self) -> str:
        return ".".join(self.path)

    @property
    def short_key(self) -> str:
        """The key in overrides: `language` for language.name, as in `language=xor`."""
        return self.key.removesuffix(".name")

    @property
    def default(self) -> Any:
        """MISSING if a config file must state the value."""
        factory = self.field.default_factory
        return self.field.default if factory is MISSING else factory()

    @property
    def is_setting(self) -> bool:
        """Whether it is a setting; other fields are not compared."""
        return self.field.compare

    @property
    def is_section(self) -> bool:
        return is_dataclass(self.hint)

    @property
    def kinds(self) -> tuple[Any, ...]:
        """Its type and the parts of its type, as in int | None."""
        return (self.hint, *typing.get_args(self.hint))

    @property
    def is_open(self) -> bool:
        """Whether it is a mapping with any names: `cluster.options`."""
        return any(typing.get_origin(kind) is dict for kind in self.kinds)


@cache
def fields_of(kind: Any) -> tuple[Setting, ...]:
    """The fields of a settings class."""
    hints = typing.get_type_hints(kind)
    return tuple(Setting((f.name,), hints[f.name], f) for f in fields(kind))


@cache
def settings_of(kind: Any) -> tuple[Setting, ...]:
    """All settings and sections of a settings class, each section before its settings."""
    return tuple(_walk(kind, ()))


def _walk(kind: Any, path: tuple[str, ...]) -> Iterator[Setting]:
    for setting in (setting for setting in fields_of(kind) if setting.is_setting):
        full_path = (*path, *setting.path)
        yield Setting(full_path, setting.hint, setting.field)
        if setting.is_section:
            yield from _walk(setting.hint, full_path)
