"""Which settings change results, by what name a result states them, and their fingerprint."""

from __future__ import annotations

import hashlib
import json
from dataclasses import MISSING
from enum import Enum
from functools import reduce
from typing import Any

from fsm_hpc.study.config import Config
from fsm_hpc.system.settings import ALWAYS_STATED, Scope, Setting, settings_of

OF_FOLD = ("data", "fold", "method")  # which fold it is

RESULT_SETTINGS = [one for one in settings_of(Config) if one.info.changes is not Scope.NONE]
# By key, what was done before there was a setting: results that do not state it have that value.
LEGACY_DEFAULTS: dict[str, Any] = {
    one.short_key: one.info.legacy
    for one in RESULT_SETTINGS
    if one.info.legacy is not ALWAYS_STATED
}


def name_in_result(one: Setting) -> str:
    return one.info.result_name or one.short_key.rpartition(".")[2]


KEYS = {name_in_result(one): one.short_key for one in RESULT_SETTINGS}


def stated(value: Any) -> Any:
    """A value as a result states it; the order of names in a list says nothing."""
    if isinstance(value, tuple):
        return sorted(value) or None
    return value.value if isinstance(value, Enum) else value


DEFAULTS = {
    one.short_key: one.info.legacy if one.default is MISSING else stated(one.default)
    for one in RESULT_SETTINGS
}


def settings_that_matter(config: Config, data_digest: str) -> dict[str, Any]:
    """All that changes the answer, and nothing else: no threads, memory, partition or paths."""
    settings: dict[str, Any] = {"data": data_digest, "fold": config.fold}
    cuts = config.cuts.that_matter(config.method.name)
    for one in RESULT_SETTINGS:
        if one.info.concerns(config.method.name.finds_formula):
            name = name_in_result(one)
            value = cuts[name] if name in cuts else stated(reduce(getattr, one.path, config))
            if value != LEGACY_DEFAULTS.get(one.short_key, ALWAYS_STATED):
                settings[name] = value
    return settings


def by_key(settings: dict[str, Any], finds_formula: bool) -> dict[str, Any]:
    """Settings of a result by key, those that it does not state filled up; not which fold it is."""
    given = {KEYS.get(name, name): v for name, v in settings.items() if name not in OF_FOLD}
    return {**legacy_of(finds_formula), **given}


def legacy_of(finds_formula: bool) -> dict[str, Any]:
    """By key, the values of results of such a method that do not state them."""
    concerned = {one.short_key for one in RESULT_SETTINGS if one.info.concerns(finds_formula)}
    return {key: value for key, value in LEGACY_DEFAULTS.items() if key in concerned}


def fingerprint(settings: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """The settings that differ, said as `seed: 42 -> 43`."""
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return [f"{name}: {_short(old.get(name))} -> {_short(new.get(name))}" for name in names]


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 12 else text[:8]
