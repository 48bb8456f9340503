"""Configs that were written to a file, also by an older version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from fsm_hpc.study.building import build
from fsm_hpc.study.checks import OPTIONS
from fsm_hpc.study.config import Config
from fsm_hpc.study.fingerprint import result_settings
from fsm_hpc.study.hashable_mapping import HashableMapping

GONE = ("guess",)
RENAMED = {"kind": "scheduler", "sbatch": "options"}  # settings of the cluster in version 0.2


def of_any_version(saved: Mapping[str, Any]) -> Config:
    """The config that this version or an older one wrote down."""
    fold = saved.get("fold")
    if type(fold) is not int:
        return _read_once(HashableMapping(saved))
    # the thousands of folds of a study differ in little else
    return replace(_read_once(HashableMapping({**saved, "fold": 0})), fold=fold)


@lru_cache(maxsize=4096)
def _read_once(written: HashableMapping) -> Config:
    values = {key: value for key, value in written.of.items() if key not in OPTIONS}
    for one in result_settings():
        if one.has_other_legacy:
            *section, name = one.path
            holder = values
            if section:
                holder = values[section[0]] = dict(values.get(section[0]) or {})
            holder.setdefault(name, one.info.legacy)
    cluster = values.get("cluster")
    if isinstance(cluster, Mapping):
        kept = {name: value for name, value in cluster.items() if name not in GONE}
        values["cluster"] = {RENAMED.get(name, name): value for name, value in kept.items()}
    return build(Config, values)
