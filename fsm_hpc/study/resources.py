"""The resources of each job, and whether its time limit is long enough."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from typing import Any

from fsm_hpc.errors import UserError, did_you_mean
from fsm_hpc.search.method import Method
from fsm_hpc.study.building import build
from fsm_hpc.study.config import ClusterSettings, Config
from fsm_hpc.study.config_folders import names_in

START_S = 30  # from the start of a job to the start of its search
METHODS = tuple(method.value for method in Method)
KEYS = tuple(f.name for f in fields(ClusterSettings) if f.name not in ("by", "scheduler", "detect"))


def by_dataset_and_method(config: Config) -> Config:
    """The config with the values of `cluster.by` for its method, its dataset, and both."""
    by = config.cluster.by
    if not by:
        return config
    dataset, method = config.dataset.name, config.method.name.value
    own = _mapping(by, dataset)
    parts = (_mapping(by, method), own, _mapping(own, method, f"{dataset}."))
    values = {
        name: {**(config.cluster.options or {}), **value} if isinstance(value, Mapping) else value
        for part in parts
        for name, value in part.items()
        if name == "options" or not isinstance(value, Mapping)
    }
    for name in values:
        if name not in KEYS:
            near = did_you_mean(name, KEYS)
            known = ", ".join(KEYS)
            raise UserError(f"cluster.by: {name} is not a setting{near}; expected one of: {known}")
    _refuse_slip(by, dataset)
    plain = config.to_dict()["cluster"] | {"by": {}} | values
    return replace(config, cluster=build(ClusterSettings, plain, "cluster."))


def _mapping(by: Mapping[str, Any], name: str, prefix: str = "") -> Mapping[str, Any]:
    values = by.get(name) or {}
    if not isinstance(values, Mapping):
        raise UserError(f"cluster.by.{prefix}{name}: expected settings, found {values!r}")
    return values


def _refuse_slip(by: Mapping[str, Any], dataset: str) -> None:
    """Refuse a misspelt name of the dataset or of a method."""
    known = (dataset, *METHODS)
    for name in by:
        near = [] if name in known else get_close_matches(name, known, n=1, cutoff=0.85)
        if near and name not in names_in("dataset"):
            raise UserError(f"cluster.by.{name}: no dataset or method, did you mean {near[0]}?")


def time_limit_error(cluster: ClusterSettings) -> str:
    """Why the time limit is too short for any progress; empty if it is not."""
    limit_s = math.ceil(cluster.timeout_h * 60) * 60  # schedulers count minutes
    if limit_s > cluster.signal_delay_s + START_S:
        return ""
    return (
        f"a time limit of {limit_s} s (cluster.timeout_h={cluster.timeout_h:g}) leaves no time to "
        f"work: the job saves {cluster.signal_delay_s} s before it (cluster.signal_delay_s) and "
        f"needs about {START_S} s to start; increase cluster.timeout_h or decrease "
        "cluster.signal_delay_s"
    )
