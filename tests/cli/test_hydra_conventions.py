"""What a user of Hydra tries works as in Hydra, or is refused with what to write instead."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from fsm_hpc.cli import usage
from fsm_hpc.cli.completion import completions
from fsm_hpc.cli.main import main
from fsm_hpc.errors import UserError
from fsm_hpc.study import config_folders, keys
from fsm_hpc.study.compose import compose, expand
from fsm_hpc.system.files import conf_dir

BANK = ["dataset=bank", "method=pivot"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    config_folders.use(None, None)
    return tmp_path


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*words: str) -> str:
        capsys.readouterr()
        assert main(list(words)) == 0
        return capsys.readouterr().out

    return run


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*words: str) -> str:
        capsys.readouterr()
        assert main(list(words)) == 2
        return capsys.readouterr().err

    return run


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


# ----------------------------------------------------------------------------- 1 to 6: show configs


def test_cfg_job_shows_the_settings_of_the_job(printed: Any) -> None:
    shown = yaml.safe_load(printed(*BANK, "seed=7", "--cfg", "job"))
    assert (shown["seed"], shown["dataset"]["name"], "hydra" in shown) == (7, "bank", False)


@pytest.mark.parametrize(
    "wrong",
    [
        *("seed=-1", "scan.patience=two", "fold=10", "solver.name=grid", "cluster.by.bnk.cpus=1"),
        *("rule.max_columns=0", "cluster.nodes=0", "variant=x", "study=a/b", "cuts=given"),
    ],
)
def test_cfg_job_refuses_what_a_run_would_refuse(refused: Any, wrong: str) -> None:
    with pytest.raises(UserError) as of_run:
        compose([*BANK, wrong])
    assert str(of_run.value) in refused(*BANK, wrong, "--cfg", "job")


def test_cfg_hydra_and_all_show_hydras_own_settings(printed: Any) -> None:
    of_hydra = yaml.safe_load(printed(*BANK, "--cfg", "hydra"))
    assert list(of_hydra) == ["hydra"]
    assert of_hydra["hydra"]["runtime"]["choices"]["dataset"] == "bank"
    assert {"hydra", "seed"} <= yaml.safe_load(printed(*BANK, "--cfg", "all")).keys()


def test_resolve_replaces_interpolations(printed: Any) -> None:
    words = [*BANK, "study=of_${dataset.name}", "--cfg", "job"]
    assert yaml.safe_load(printed(*words))["study"] == "of_${dataset.name}"
    assert yaml.safe_load(printed(*words, "--resolve"))["study"] == "of_bank"


def test_package_shows_one_part(printed: Any, refused: Any) -> None:
    shown = printed(*BANK, "--cfg", "job", "--package", "scan")
    assert shown.startswith("# @package scan\n")
    assert yaml.safe_load(shown)["patience"] == 2
    assert printed(*BANK, "-c", "job", "-p", "seed") == "42\n"
    assert "--package: scn is not in the config" in refused(*BANK, "--cfg", "job", "-p", "scn")
    assert "need --cfg" in refused(*BANK, "--resolve")


@pytest.mark.parametrize(
    ("about", "told"),
    [
        ("defaults", "Defaults List"),
        ("defaults-tree", "Defaults Tree"),
        ("searchpath", str(conf_dir())),
        ("plugins", "BasicSweeper"),
        ("config", "dataset:"),
    ],
)
def test_info_tells_how_a_config_is_composed(printed: Any, about: str, told: str) -> None:
    assert told in printed(*BANK, "--info", about)


# ------------------------------------------------------------------------ 7 to 9: configs of a user


def test_config_dir_adds_a_folder(printed: Any, refused: Any, folder: Path) -> None:
    written(folder / "mine/cluster/site.yaml", "defaults: [slurm, _self_]\npartition: long\n")
    words = [*BANK, "cluster=site", "--config-dir", "mine", "--cfg", "job"]
    assert yaml.safe_load(printed(*words))["cluster"]["partition"] == "long"
    assert "cluster=site is not known" in refused(*BANK, "cluster=site", "--cfg", "job")
    assert "--config-dir: expected a folder" in refused(*BANK, "-cd", "nowhere", "--cfg", "job")


def test_config_name_takes_another_primary_config(printed: Any, refused: Any, folder: Path) -> None:
    mine = "defaults:\n  - config\n  - override dataset: hepatitis\n  - _self_\nseed: 5\n"
    written(folder / "mine/night.yaml", mine)
    words = ["method=median", "--config-dir=mine", "--config-name=night", "--cfg", "job"]
    shown = yaml.safe_load(printed(*words))
    assert (shown["dataset"]["name"], shown["seed"]) == ("hepatitis", 5)
    assert "--config-name: nigt.yaml is in none of" in refused(*BANK, "-cd", "mine", "-cn", "nigt")


def test_searchpath_adds_folders(printed: Any, folder: Path) -> None:
    written(folder / "more/solver/quick.yaml", "defaults: [native, _self_]\nthreads: 3\n")
    words = [*BANK, f"hydra.searchpath=[file://{folder / 'more'}]", "+solver=quick"]
    words[-1] = "solver=quick"
    assert yaml.safe_load(printed(*words, "--cfg", "job"))["solver"]["threads"] == 3


# ------------------------------------------------------------------------------ 10 to 12: overrides


def test_interpolation_refers_to_other_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHERE", "somewhere")
    config = compose([*BANK, "study=${dataset.name}_${method.name}", "data_dir=${oc.env:WHERE}"])
    assert (config.study, str(config.data_dir)) == ("bank_pivot", "somewhere")
    assert compose([*BANK, "study=${hydra:runtime.choices.solver}"]).study == "portfolio"
    assert compose([*BANK, r'study="\${dataset.name}"']).study == "${dataset.name}"
    with pytest.raises(UserError, match=r"study: Interpolation key 'nope' not found"):
        compose([*BANK, "study=${nope}"])


def test_interpolation_is_resolved_for_each_value_of_a_sweep(folder: Path) -> None:
    words = ["dataset=bank,hepatitis", "method=pivot", "seed=1,2", "fold=0"]
    found = [config.study for config in expand([*words, "study=${dataset.name}-${seed}"])]
    assert found == ["bank-1", "bank-2", "hepatitis-1", "hepatitis-2"]
    written(folder / "home/.config/fsm_hpc/experiment/e.yaml", "# @package _global_\nseed: ${fold}")
    seeds = [config.seed for config in expand([*BANK, "+experiment=e", "fold=3,4"])]
    assert seeds == [3, 4]


def test_values_are_added_forced_and_removed_as_in_hydra(refused: Any) -> None:
    added = compose([*BANK, "+cluster.options.nice=5", "++cluster.options.reservation=r"])
    assert added.cluster.options == {"nice": 5, "reservation": "r"}
    assert compose([*BANK, "++seed=3"]).seed == 3
    assert "write seed=3" in refused(*BANK, "+seed=3")
    assert refused(*BANK, "~seed")


# --------------------------------------------------------------------------------- 13 to 15: sweeps


def test_a_sweep_takes_lists_ranges_choices_and_globs() -> None:
    words = ["dataset=glob(he*)", "method=choice(pivot,median)", "seed=range(1,3)", "fold=0"]
    assert len(expand(words)) == 2 * 2 * 2


def test_a_sweep_in_a_config_file_is_the_default_of_its_keys(folder: Path) -> None:
    text = "# @package _global_\nhydra:\n  sweeper:\n    params:\n      seed: 1,2\n"
    written(folder / "home/.config/fsm_hpc/experiment/two.yaml", text)
    words = [*BANK, "+experiment=two", "fold=0"]
    assert [config.seed for config in expand(words)] == [1, 2]
    assert [config.seed for config in expand([*words, "seed=9"])] == [9]
    found = expand([*BANK, "+hydra.sweeper.params.seed='3,4'", "fold=0"])
    assert [config.seed for config in found] == [3, 4]


def test_hydra_mode_multirun_submits_a_sweep_as_m_does(refused: Any, folder: Path) -> None:
    words = ["dataset=hepatitis", "method=median", "scan.max_length=1", "cluster=local", "fold=0,1"]
    assert main([*words, "solver=clingo_dl", "hydra.mode=MULTIRUN"]) == 0
    assert len(list(folder.rglob("result.json"))) == 2
    assert "hydra.mode: expected RUN or MULTIRUN" in refused(*words, "hydra.mode=FLY")
    assert "add -m" in refused(*words, "hydra.mode=RUN")


# ------------------------------------------------------- 16 to 18: Hydra's settings, never ignored


@pytest.mark.parametrize(
    ("override", "instead"),
    [
        ("hydra.sweep.dir=out", "results_dir=FOLDER study=NAME"),
        ("hydra.sweep.subdir=x", "results_dir=FOLDER study=NAME"),
        ("hydra.run.dir=out", "results_dir=FOLDER study=NAME"),
        ("hydra.output_subdir=x", "results_dir=FOLDER study=NAME"),
        ("hydra.job.chdir=true", "results_dir=FOLDER"),
        ("hydra.job.name=mine", "study=NAME"),
        ("+hydra.job.env_set.A=1", "cluster.setup"),
        ("hydra.job.num=3", "cluster.*"),
        ("hydra/launcher=submitit_slurm", "cluster=slurm"),
        ("hydra/launcher=basic", "cluster=local"),
        ("hydra.launcher.timeout_min=60", "cluster.timeout_h=VALUE"),
        ("hydra.launcher.cpus_per_task=2", "cluster.cpus=VALUE"),
        ("hydra.launcher.nothing=2", "cluster.*"),
        ("hydra/sweeper=optuna", "seed=1,2"),
        ("hydra.sweeper.max_batch_size=3", "cluster.max_parallel=NUMBER"),
        ("hydra.verbose=true", "status -w"),
        ("hydra/job_logging=disabled", "logs"),
        ("hydra.callbacks.x=1", "--after"),
        ("hydra.nonsense=1", "--cfg job"),
        ("hydra=1", "--cfg job"),
    ],
)
def test_a_setting_of_hydra_without_effect_is_refused_with_an_alternative(
    refused: Any, folder: Path, override: str, instead: str
) -> None:
    told = refused(*BANK, override, "-m")
    assert "is not a setting of this program" in told
    assert instead in told
    assert refused(*BANK, override, "--cfg", "job") == refused(*BANK, override) == told
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("section", "instead"),
    [
        ("sweep: {dir: elsewhere}", "results_dir=FOLDER"),
        ("job: {chdir: true}", "results_dir=FOLDER"),
        ("launcher: {_target_: my.Launcher}", "cluster.*"),
        ("verbose: true", "status -w"),
    ],
)
def test_a_setting_of_hydra_in_a_config_file_is_refused_too(
    refused: Any, folder: Path, section: str, instead: str
) -> None:
    path = folder / "home/.config/fsm_hpc/experiment/mine.yaml"
    written(path, f"# @package _global_\nhydra:\n  {section}\n")
    told = refused(*BANK, "+experiment=mine", "-m")
    assert "a config file sets hydra." in told
    assert instead in told


@pytest.mark.parametrize("same", ["hydra/sweeper=basic", "hydra.job.chdir=false"])
def test_a_setting_of_hydra_that_says_what_is_done_anyway_is_taken(same: str) -> None:
    assert compose([*BANK, same]) == compose(BANK)


# ------------------------------------------------------------------- 19: options that Hydra has


@pytest.mark.parametrize(
    ("option", "instead"),
    [
        (["--config-path", "x"], "--config-dir FOLDER"),
        (["-cp", "x"], "--config-dir FOLDER"),
        (["--hydra-help"], "--help"),
        (["--experimental-rerun", "x.pickle"], "`resume`"),
    ],
)
def test_an_option_that_only_hydra_has_is_refused_with_an_alternative(
    refused: Any, option: list[str], instead: str
) -> None:
    assert instead in refused(*BANK, *option)


def test_the_value_of_an_option_is_not_taken_for_a_command(refused: Any) -> None:
    told = refused(*BANK, "fold=0", "--after", "collect")
    assert "--after needs a sweep: add -m" in told


# ----------------------------------------------------------------------- 20: completion in a shell


@pytest.mark.parametrize(
    ("line", "among"),
    [
        ("fsm-hpc sta", {"status"}),
        ("fsm-hpc ", {"fit", "resume", "dataset=", "scan."}),
        ("fsm-hpc status --w", {"--watch"}),
        ("fsm-hpc --c", {"--cfg", "--config-dir", "--config-name"}),
        ("fsm-hpc data", {"dataset=", "dataset.", "data_dir="}),
        ("fsm-hpc scan.p", {"scan.patience=", "scan.plateau="}),
        ("fsm-hpc dataset=he", {"heart_disease", "hepatitis"}),
        ("fsm-hpc dataset=bank,he", {"bank,hepatitis"}),
        ("fsm-hpc +experiment=pa", {"paper", "paper_asp"}),
        ("fsm-hpc fold_kind=", {"kfold", "stratified", "grouped"}),
        ("fsm-hpc allow_changed_data=", {"true", "false"}),
        ("fsm-hpc fit dataset=csv dataset.path=my", {"my.csv"}),
    ],
)
def test_completion_knows_commands_options_settings_and_values(
    folder: Path, line: str, among: set[str]
) -> None:
    written(folder / "my.csv", "a,b\n")
    found = completions(line)
    assert among <= set(found)


def test_a_command_is_completed_once(folder: Path) -> None:
    assert "status" not in completions("fsm-hpc status ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_what_a_shell_evaluates(printed: Any, refused: Any, shell: str) -> None:
    assert "fsm-hpc" in printed("-sc", f"install={shell}")
    assert "fsm-hpc" in printed("-sc", f"uninstall={shell}")
    assert "expected install=SHELL" in refused("-sc", "install=tcsh")


def test_bash_completes_a_line(folder: Path) -> None:
    program = written(folder / "fsm-hpc", f'#!/bin/sh\nexec {sys.executable} -m fsm_hpc "$@"\n')
    program.chmod(0o755)
    script = (
        f'eval "$({program} -sc install=bash)"\nCOMP_LINE="fsm-hpc dataset=hep" COMP_POINT=19\n'
        f'_fsm_hpc {program}\necho "${{COMPREPLY[@]}}"\n'
    )
    done = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(usage.__file__).parents[2])},
    )
    assert done.stdout == "hepatitis\n"


# ---------------------------------------------------------------------------------- what is listed


def test_the_groups_are_the_folders_of_conf() -> None:
    assert set(config_folders.groups()) == {p.name for p in conf_dir().iterdir() if p.is_dir()}
    assert set(config_folders.groups()) <= set(keys.known())
