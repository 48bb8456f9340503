"""Which settings change results, by what name a result states them, and their fingerprint."""

from __future__ import annotations

import hashlib
import json
import typing
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache, reduce
from typing import Any

from fsm_hpc.study.config import Config
from fsm_hpc.system.settings import ALWAYS_STATED, SettingInfo, info_of

OF_FOLD = ("data", "fold", "method")  # which fold it is


@dataclass(frozen=True, slots=True)
class ResultSetting:
    """A setting that changes results."""

    key: str  # what sets it: scan.patience, language
    path: tuple[str, ...]  # scan, patience
    name: str  # what a result calls it: patience
    default: Any
    info: SettingInfo

    def of(self, config: Config) -> Any:
        return _stated(reduce(getattr, self.path, config))

    @property
    def has_other_legacy(self) -> bool:
        """Whether files that do not state it mean another value than the default."""
        return self.info.legacy is not ALWAYS_STATED and _stated(self.default) != self.info.legacy


def _stated(value: Any) -> Any:
    """A value as a result states it; the order of names in a list says nothing."""
    if isinstance(value, tuple):
        return sorted(value) or None
    return value.value if isinstance(value, Enum) else value


@cache
def result_settings() -> tuple[ResultSetting, ...]:
    return tuple(_walk(Config, ()))


def _walk(kind: Any, path: tuple[str, ...]) -> Iterator[ResultSetting]:
    hints = typing.get_type_hints(kind)
    for one in fields(kind):
        place, info = (*path, one.name), info_of(one)
        if is_dataclass(hints[one.name]):
            yield from _walk(hints[one.name], place)
        elif info.changes.value != "none":
            # a group is chosen by its name: `language=xor` sets language.name
            key = ".".join(path if one.name == "name" else place)
            name = info.result_name or key.rpartition(".")[2]
            yield ResultSetting(key, place, name, one.default, info)


# By key, what was done before there was a setting: results that do not state it have that value.
LEGACY_DEFAULTS: dict[str, Any] = {
    one.key: one.info.legacy for one in result_settings() if one.info.legacy is not ALWAYS_STATED
}
KEYS = {one.name: one.key for one in result_settings()}
DEFAULTS = {one.key: _stated(one.default) for one in result_settings()} | {
    one.key: one.info.legacy for one in result_settings() if one.default is MISSING
}


def settings_that_matter(config: Config, data_digest: str) -> dict[str, Any]:
    """All that changes the answer, and nothing else: no threads, memory, partition or paths."""
    settings: dict[str, Any] = {"data": data_digest, "fold": config.fold}
    cuts = config.cuts.that_matter(config.method.name)
    for one in result_settings():
        if one.info.concerns(config.method.name.finds_formula):
            value = cuts[one.name] if one.name in cuts else one.of(config)
            if value != LEGACY_DEFAULTS.get(one.key, ALWAYS_STATED):
                settings[one.name] = value
    return settings


def by_key(settings: dict[str, Any], finds_formula: bool) -> dict[str, Any]:
    """Settings of a result by key, those that it does not state filled up; not which fold it is."""
    concerned = [one for one in result_settings() if one.info.concerns(finds_formula)]
    legacy = {o.name: LEGACY_DEFAULTS[o.key] for o in concerned if o.key in LEGACY_DEFAULTS}
    filled = {**legacy, **settings}
    return {KEYS.get(name, name): v for name, v in filled.items() if name not in OF_FOLD}


def fingerprint(settings: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """The settings that differ, said as `seed: 42 -> 43`."""
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return [f"{name}: {_short(old.get(name))} -> {_short(new.get(name))}" for name in names]


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 12 else text[:8]
