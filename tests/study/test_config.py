"""A setting is one field: its default, help and range are there, and nowhere else."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError
from fsm_hpc.study import fingerprint, keys
from fsm_hpc.study.compose import compose, show
from fsm_hpc.study.config import Config
from fsm_hpc.study.saved_config import of_any_version
from fsm_hpc.system.files import conf_dir
from fsm_hpc.system.settings import Setting, settings_of

FOLD = ["dataset=bank", "method=pivot"]
# of a table that somebody brings along something else is known than of one with a config
OF_OWN_TABLES = {"name", "target", "infer", "missing_values", "source", "usual_missing_values"}


def settings() -> dict[str, Setting]:
    """All settings but those of tables, by key."""
    found = {one.key: one for one in settings_of(Config) if not one.is_section}
    return {key: one for key, one in found.items() if not key.startswith("dataset.")}


def stated(path: str) -> dict[str, Any]:
    values: dict[str, Any] = yaml.safe_load((conf_dir() / path).read_text(encoding="utf-8"))
    return values


@pytest.mark.parametrize("key", settings())
def test_a_setting_says_what_it_means(key: str) -> None:
    assert settings()[key].info.help


def test_the_primary_config_states_no_default_of_its_own() -> None:
    assert stated("config.yaml").keys() == {"defaults", "hydra"}
    assert stated("cluster/slurm.yaml").keys() == {"scheduler"}


def test_every_setting_has_a_value_in_a_composed_config() -> None:
    shown = yaml.safe_load(show(FOLD))
    for key in settings():
        section, _, name = key.rpartition(".")
        assert name in (shown[section] if section else shown)
    assert all(map(keys.is_known, settings()))


@pytest.mark.parametrize("key", ["study", "results_dir"])
def test_the_quick_look_at_a_default_sees_what_hydra_composes(key: str) -> None:
    assert keys.SETTINGS[key].default == getattr(compose(FOLD), key)


def test_a_table_of_ones_own_has_the_defaults_of_every_table() -> None:
    own = stated("dataset/csv.yaml")
    common = {f.name: f.default for f in fields(DatasetSpec) if f.default is not MISSING}
    both = (own.keys() & common.keys()) - OF_OWN_TABLES
    assert len(both) > 10
    alike = {key: tuple(v) if isinstance(v := own[key], list) else v for key in both}
    assert alike == {key: common[key] for key in both}


# ---------------------------------------------------------------------------------------- own files


@pytest.mark.parametrize(
    ("path", "text", "override", "complaint"),
    [
        (
            "cluster/bad.yaml",
            "defaults: [slurm]\npartitoin: x\n",
            "cluster=bad",
            "cluster/bad.yaml: cluster.partitoin is not a setting, did you mean cluster.partition",
        ),
        (
            "experiment/bad.yaml",
            "# @package _global_\nscan: {patienc: 3}\n",
            "+experiment=bad",
            "scan.patienc is not a setting, did you mean scan.patience",
        ),
        ("experiment/bad.yaml", "# @package _global_\nwait: true\n", "+experiment=bad", "--wait"),
        ("dataset/bad.yaml", "name: x\npath: y.csv\n", "dataset=bad", "dataset.target is missing"),
    ],
)
def test_a_mistake_in_a_config_file_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    text: str,
    override: str,
    complaint: str,
) -> None:
    (tmp_path / path).parent.mkdir()
    (tmp_path / path).write_text(text)
    monkeypatch.setenv("FSM_CONF_DIR", str(tmp_path))
    with pytest.raises(UserError, match=complaint.replace("(", r"\(")):
        show([*FOLD, override])


# ---------------------------------------------------------------------------------- older versions


def test_a_setting_that_an_older_version_did_not_have_has_its_legacy_value() -> None:
    saved = compose([*FOLD, "scan.max_length=3"]).to_dict()
    for key in ("cuts", "language", "objective", "rule", "fold_kind", "fit", "out", "variant"):
        del saved[key]
    del saved["scan"]["plateau"]
    read = of_any_version(saved)
    assert (read.scan.plateau, read.scan.max_length, read.fold_kind.value) == (None, 3, "kfold")
    matters = fingerprint.settings_that_matter(read, "")
    assert not set(matters) & {"plateau", "cuts", "language", "objective", "require", "fold_kind"}


def test_settings_are_read_without_hydra_or_numpy() -> None:
    code = "import sys, fsm_hpc.study.fingerprint; print({'hydra', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "set()\n"
