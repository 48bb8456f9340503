"""conf/ alone states defaults, and what is stated twice agrees."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

import pytest
import yaml

from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.study.config import (
    ClusterSettings,
    Config,
    FinalSettings,
    ScanSettings,
    stated_default,
)
from fsm_hpc.system.files import conf_dir

# of a table that somebody brings along something else is known than of one with a config
OF_OWN_TABLES = {"name", "target", "infer", "missing_values", "source", "usual_missing_values"}


def defaults(kind: type[Any]) -> dict[str, Any]:
    """What a dataclass says of the fields that one need not give."""
    made = {f.name: f.default_factory() for f in fields(kind) if f.default_factory is not MISSING}
    return {f.name: f.default for f in fields(kind) if f.default is not MISSING} | made


def stated(path: str) -> dict[str, Any]:
    values: dict[str, Any] = yaml.safe_load((conf_dir() / path).read_text(encoding="utf-8"))
    return values


@pytest.mark.parametrize("kind", [Config, ScanSettings, FinalSettings, ClusterSettings])
def test_a_setting_has_no_default_besides_that_of_conf(kind: type[Any]) -> None:
    assert defaults(kind) == {}


def test_conf_states_a_value_for_every_setting() -> None:
    values = stated("config.yaml")
    groups = {"dataset", "method", "language", "objective", "solver", "cuts", "cluster"}
    assert {f.name for f in fields(Config)} == (values.keys() - {"defaults", "hydra"}) | groups
    assert {f.name for f in fields(ScanSettings)} == values["scan"].keys()
    assert {f.name for f in fields(FinalSettings)} == values["final"].keys()
    assert {f.name for f in fields(ClusterSettings)} == stated("cluster/slurm.yaml").keys()


@pytest.mark.parametrize("key", ["study", "results_dir"])
def test_the_quick_look_at_conf_sees_what_hydra_composes(key: str) -> None:
    from fsm_hpc.study.compose import compose_any

    assert stated_default(key) == str(getattr(compose_any([]), key))


def test_a_table_of_ones_own_has_the_defaults_of_every_table() -> None:
    own, common = stated("dataset/csv.yaml"), defaults(DatasetSpec)
    both = (own.keys() & common.keys()) - OF_OWN_TABLES
    assert len(both) > 10
    alike = {key: tuple(v) if isinstance(v := own[key], list) else v for key in both}
    assert alike == {key: common[key] for key in both}
