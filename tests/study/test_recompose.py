"""`resume` composes a fold anew from the overrides that it was begun with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fsm_hpc.errors import UserError
from fsm_hpc.study import config_folders
from fsm_hpc.study.compose import compose, expand
from fsm_hpc.study.config import Config
from fsm_hpc.study.recompose import Recomposer
from fsm_hpc.study.saved_config import of_any_version

FOLD = ["dataset=hepatitis", "method=pivot", "fold=3", "cluster=slurm"]
MORE = [
    ["seed=7", "scan.max_length=null"],
    ["solver=clingo_dl", "solver.encoding=plain", "solver.threads=3"],
    ["cuts=given", "cuts.given.age=[30,40]", "rule.require=[age]", "rule.max_columns=2"],
    ["objective=costs", "objective.false_positive=2", "objective.false_negative=1"],
    ["cluster.mem_gb=128", "cluster.partition=a,b", "cluster.by.hepatitis.cpus=3"],
    ["language=xor", "dataset.drop=[sgot]", "dataset.missing=keep", "fold_kind=stratified"],
    ["+experiment=paper", "scan.budget_h=1", "data_dir=somewhere"],
    ["study=${dataset.name}", "seed=${folds}"],
]


def saved(config: Config) -> Config:
    """The config as it is read back from submission.json."""
    return of_any_version(config.to_dict())


@pytest.mark.parametrize("more", MORE, ids=" ".join)
def test_a_fold_has_the_settings_that_it_was_begun_with(more: list[str]) -> None:
    config = compose([*FOLD, *more])
    assert Recomposer([]).config(saved(config)) == config


@pytest.mark.parametrize("more", MORE[:6], ids=" ".join)
def test_a_fold_of_version_0_2_has_no_overrides_and_keeps_its_settings(more: list[str]) -> None:
    config = compose([*FOLD, *more])
    assert Recomposer([]).config(replace(saved(config), overrides=())) == config


def test_every_fold_of_a_sweep_has_overrides_of_its_own() -> None:
    found = expand(["dataset=hepatitis", "method=pivot,median", "seed=1,2", "fold=0,1"])
    assert [Recomposer([]).config(saved(one)) for one in found] == found
    assert {one for config in found for one in config.overrides if "seed" in one} == {
        "seed=1",
        "seed=2",
    }


def test_changes_replace_values_and_whole_groups() -> None:
    config = compose([*FOLD, "solver=clingo_dl", "solver.encoding=plain", "scan.budget_h=1"])
    found = Recomposer(["solver=native", "scan.budget_h=9"]).config(saved(config))
    assert found == compose([*FOLD, "solver=native", "scan.budget_h=9"])
    again = Recomposer([]).config(saved(found))
    assert again == found


def test_settings_that_the_configuration_gives_otherwise_now_are_named_and_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "experiment").mkdir()
    own = tmp_path / "experiment" / "mine.yaml"
    own.write_text("# @package _global_\nseed: 5\nscan: {max_length: 7}\n")
    monkeypatch.setenv("FSM_CONF_DIR", str(tmp_path))
    config = saved(compose([*FOLD, "+experiment=mine"]))
    own.write_text("# @package _global_\nseed: 6\nscan: {max_length: 8}\n")
    with pytest.raises(UserError, match=r"seed: 5 -> 6.*scan.max_length: 7 -> 8|scan.max_length"):
        Recomposer([]).config(config)
    found = Recomposer(["seed=5", "scan.max_length=7"]).config(config)
    assert (found.seed, found.scan.max_length) == (5, 7)


def test_a_config_that_is_gone_is_named() -> None:
    config = replace(compose(FOLD), overrides=("dataset=hepatitis", "method=pivot", "solver=mine"))
    with pytest.raises(UserError, match="solver=mine is not known"):
        Recomposer([]).config(config)


def test_options_of_the_scheduler_are_given_again_as_a_whole_or_one_by_one() -> None:
    begun = saved(compose([*FOLD, "cluster.options={mem: 120M, qos: long}"]))
    found = Recomposer(["cluster.options.mem=2G", "cluster.options.qos=long"]).config(begun)
    assert found.cluster.options == {"mem": "2G", "qos": "long"}
    with pytest.raises(UserError, match="a file does not decide what runs"):
        Recomposer(["cluster.options.mem=2G"]).config(begun)


def test_a_fold_of_other_configs_is_composed_with_them_or_not_at_all(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(lambda: config_folders.use(None, None))
    mine = "defaults:\n  - config\n  - override dataset: hepatitis\n  - _self_\nseed: 5\n"
    (tmp_path / "night.yaml").write_text(mine)
    config_folders.use("night", str(tmp_path))
    config = compose(["method=median"])
    assert Recomposer([]).config(saved(config)) == config
    config_folders.use(None, None)
    with pytest.raises(UserError, match=f"submitted with --config-dir={tmp_path}: give that"):
        Recomposer([]).config(saved(config))
    config_folders.use(None, str(tmp_path))
    with pytest.raises(UserError, match="submitted with --config-name=night: give that option"):
        Recomposer([]).config(saved(config))
