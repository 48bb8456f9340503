"""Read configs from files of this and of older versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fsm_hpc.study.building import OPTIONS, build
from fsm_hpc.study.config import Config
from fsm_hpc.study.fingerprint import RESULT_SETTINGS, stated
from fsm_hpc.system.settings import ALWAYS_STATED

GONE = ("guess",)
RENAMED = {"kind": "scheduler", "sbatch": "options"}  # settings of the cluster in version 0.2
_cache: dict[str, Config] = {}  # most folds of a study differ in their number only


def of_any_version(saved: Mapping[str, Any]) -> Config:
    """The config in a file of this or of an older version."""
    fold = saved.get("fold")
    if type(fold) is not int:
        return _of_values(saved)
    text = repr({**saved, "fold": 0})
    if text not in _cache:
        _cache[text] = _of_values({**saved, "fold": 0})
    return replace(_cache[text], fold=fold)


def _of_values(saved: Mapping[str, Any]) -> Config:
    values = {key: value for key, value in saved.items() if key not in OPTIONS}
    for setting in RESULT_SETTINGS:
        legacy = setting.info.legacy
        if legacy is not ALWAYS_STATED and legacy != stated(setting.default):
            *section, name = setting.path
            holder = values
            if section:
                holder = values[section[0]] = dict(values.get(section[0]) or {})
            holder.setdefault(name, legacy)
    cluster = values.get("cluster")
    if isinstance(cluster, Mapping):
        kept = {name: value for name, value in cluster.items() if name not in GONE}
        values["cluster"] = {RENAMED.get(name, name): value for name, value in kept.items()}
    return build(Config, values)
