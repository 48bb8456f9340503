"""The settings that change results, their names in a result, and their fingerprint."""

from __future__ import annotations

import hashlib
import json
from dataclasses import MISSING
from enum import Enum
from functools import reduce
from typing import Any

from fsm_hpc.study.config import Config
from fsm_hpc.system.settings import ALWAYS_STATED, Scope, Setting, settings_of

OF_FOLD = ("data", "fold", "method")  # identify the fold

RESULT_SETTINGS = [s for s in settings_of(Config) if s.info.changes is not Scope.NONE]
# By key, the values of results that do not state a setting, which was introduced later.
LEGACY_DEFAULTS: dict[str, Any] = {
    s.short_key: s.info.legacy for s in RESULT_SETTINGS if s.info.legacy is not ALWAYS_STATED
}


def name_in_result(setting: Setting) -> str:
    return setting.info.result_name or setting.short_key.rpartition(".")[2]


KEYS = {name_in_result(setting): setting.short_key for setting in RESULT_SETTINGS}


def stated(value: Any) -> Any:
    """A value as a result states it; lists are sorted."""
    if isinstance(value, tuple):
        return sorted(value) or None
    return value.value if isinstance(value, Enum) else value


DEFAULTS = {
    s.short_key: s.info.legacy if s.default is MISSING else stated(s.default)
    for s in RESULT_SETTINGS
}


def settings_that_matter(config: Config, data_digest: str) -> dict[str, Any]:
    """The settings that change results: no threads, memory, partition or paths."""
    settings: dict[str, Any] = {"data": data_digest, "fold": config.fold}
    cuts = config.cuts.that_matter(config.method.name)
    for setting in RESULT_SETTINGS:
        if setting.info.concerns(config.method.name.finds_formula):
            name = name_in_result(setting)
            value = cuts[name] if name in cuts else stated(reduce(getattr, setting.path, config))
            if value != LEGACY_DEFAULTS.get(setting.short_key, ALWAYS_STATED):
                settings[name] = value
    return settings


def by_key(settings: dict[str, Any], finds_formula: bool) -> dict[str, Any]:
    """The settings of a result by key, with legacy defaults; without those of `OF_FOLD`."""
    given = {KEYS.get(name, name): v for name, v in settings.items() if name not in OF_FOLD}
    return {**legacy_of(finds_formula), **given}


def legacy_of(finds_formula: bool) -> dict[str, Any]:
    """The legacy defaults of formula methods or of baselines, by key."""
    concerned = {s.short_key for s in RESULT_SETTINGS if s.info.concerns(finds_formula)}
    return {key: value for key, value in LEGACY_DEFAULTS.items() if key in concerned}


def fingerprint(settings: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """The settings that differ, as `seed: 42 -> 43`."""
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return [f"{name}: {_short(old.get(name))} -> {_short(new.get(name))}" for name in names]


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 12 else text[:8]
