"""Hydra's words become configs; what is wrong is said in one line with the near matches."""

from __future__ import annotations

from pathlib import Path

import pytest

from fsm_hpc.errors import UserError
from fsm_hpc.search.method import Method
from fsm_hpc.search.solvers.names import SolverName
from fsm_hpc.study.building import build
from fsm_hpc.study.compose import compose, expand, show
from fsm_hpc.study.config import Config
from fsm_hpc.study.config_folders import names_in

BANK = ["dataset=bank", "method=interval"]


def test_words_become_a_typed_config() -> None:
    config = compose([*BANK, "fold=3", "solver=clingo_dl", "solver.threads=4"])
    assert config.method.name is Method.INTERVAL
    assert (config.dataset.name, config.fold, config.solver.threads) == ("bank", 3, 4)
    assert (config.scan.patience, config.scan.budget_h, config.final.budget_h) == (2, 72.0, 72.0)


def test_the_defaults_of_a_cluster_job_are_the_papers() -> None:
    cluster = compose([*BANK, "cluster=slurm"]).cluster
    assert (cluster.cpus, cluster.mem_gb, cluster.timeout_h) == (8, 64.0, 72.0)


def test_a_config_survives_being_written_down() -> None:
    config = compose([*BANK, "data_dir=somewhere", "scan.max_length=5"])
    assert build(Config, config.to_dict()) == config


def test_folds_expand_by_themselves() -> None:
    assert [config.fold for config in expand(BANK)] == list(range(10))
    assert [config.fold for config in expand([*BANK, "folds=3"])] == [0, 1, 2]
    assert [config.fold for config in expand([*BANK, "fold=1,4"])] == [1, 4]
    assert [config.fold for config in expand([*BANK, "fold=2"])] == [2]
    assert [config.fold for config in expand([*BANK, "fold=range(3,6)"])] == [3, 4, 5]


def test_lists_and_globs_multiply_out() -> None:
    configs = expand(["dataset=glob(he*)", "method=pivot,median", "fold=0"])
    assert [str(config.id) for config in configs] == [
        "heart_disease/pivot/fold-0",
        "heart_disease/median/fold-0",
        "hepatitis/pivot/fold-0",
        "hepatitis/median/fold-0",
    ]


def test_the_papers_study_has_350_folds_and_its_parts_can_be_chosen() -> None:
    assert len(expand(["+experiment=paper"])) == 350
    some = expand(["+experiment=paper", "dataset=bank", "fold=0"])
    of_paper = {"median", "pivot", "interval", "random_forest", "xgboost"}
    assert {config.method.name.value for config in some} == of_paper
    assert {config.study for config in some} == {"paper"}


def test_the_papers_solver_is_one_word_away() -> None:
    configs = expand(["+experiment=paper_asp", "fold=0"])
    assert {config.solver.name for config in configs} == {SolverName.CLINGO_DL}
    assert len(configs) == 21


def test_a_site_keeps_configs_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cluster").mkdir()
    site = "defaults: [slurm]\npartition: long\n"
    (tmp_path / "cluster" / "my_site.yaml").write_text(site)
    monkeypatch.setenv("FSM_CONF_DIR", str(tmp_path))
    config = compose([*BANK, "cluster=my_site"])
    assert (config.cluster.partition, config.cluster.cpus) == ("long", 8)
    assert "my_site" in names_in("cluster")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["dataset=banc", "method=pivot"], "dataset=banc is not known, did you mean bank?"),
        (["dataset=bank", "method=pivots"], "method=pivots is not known, did you mean pivot?"),
        (["method=pivot"], "dataset is missing: expected dataset=NAME, one of: bank"),
        ([*BANK, "scan.patienc=3"], "scan.patienc is not a setting, did you mean scan.patience"),
        ([*BANK, "sover=native"], "sover is not a setting, did you mean solver"),
        ([*BANK, "scan.patience=two"], "scan.patience: expected a whole number, found 'two'"),
        ([*BANK, "scan.patience=0"], "scan.patience: expected at least 1, found 0"),
        ([*BANK, "scan.max_length=0"], "scan.max_length: expected at least 1, found 0"),
        ([*BANK, "fold=10"], "fold: expected 0 to 9, found 10"),
        ([*BANK, "fold=-1"], "fold: expected 0 to 9, found -1"),
        ([*BANK, "wait=true"], "wait is an option of the command: write --wait"),
        ([*BANK, "after=[collect]"], "after is an option of the command: write --after"),
        ([*BANK, "notify=me@x.org"], "notify is an option of the command: write --notify"),
        (
            [*BANK, "allow_changed_data=maybe"],
            "allow_changed_data: expected true or false, found 'maybe'",
        ),
        ([*BANK, "solver.threads"], "expected key=value, found 'solver.threads'"),
        ([*BANK, "+colour=red"], "colour is not a setting"),
        (
            [*BANK, "scan.budget_h=[1"],
            "cannot read scan.budget_h=[1; a value with blanks or special characters needs quotes",
        ),
        (["dataset=bank,hepatitis", "method=pivot"], "names several folds; add -m"),
        (["+experiment=papr"], "experiment=papr is not known, did you mean paper"),
        ([*BANK, "seed=-1"], "seed: expected 0 to 4294967295, found -1"),
        ([*BANK, "solver.threads=-2"], "solver.threads: expected at least 1, found -2"),
        ([*BANK, "scan.budget_h=nan"], "scan.budget_h: expected a finite number, found nan"),
        ([*BANK, "study=../x"], "study: expected the name of one folder, found '../x'"),
        ([*BANK, "dataset.name=a/b"], "dataset.name: expected the name of one folder"),
        (["dataset=bank", "method=xgboost", "method.trials=0"], "method.trials: expected at least"),
        (
            [*BANK, "solver=clingo_dl", "solver.encoding=slow"],
            "solver.encoding: expected one of fast, plain, found 'slow'",
        ),
        (
            [*BANK, "solver.name=nope"],
            "solver.name: expected one of clingo_dl, native, portfolio, found 'nope'",
        ),
        (
            [*BANK, "cluster.scheduler=a/b"],
            "cluster.scheduler: expected a name of small letters, found 'a/b'",
        ),
        (["experiment=paper"], "write +experiment=paper"),
        ([*BANK, "validation_fraction=1"], "validation_fraction: expected between 0 and 1"),
        ([*BANK, "solver=nativ"], "solver=nativ is not known, did you mean native"),
    ],
)
def test_a_mistake_is_one_line_with_the_near_matches(words: list[str], complaint: str) -> None:
    with pytest.raises(UserError) as caught:
        compose(words)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("words", [["dataset=banc,bank", "method=pivot"], [*BANK, "fold=11"]])
def test_a_mistake_in_a_sweep_is_told_too(words: list[str]) -> None:
    with pytest.raises(UserError):
        expand(words)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [(b"kind: [slurm\n", "a config file is not YAML"), (b"\xff\xfe\0", "not UTF-8: .*broken.yaml")],
)
def test_a_broken_config_of_the_users_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, complaint: str
) -> None:
    (tmp_path / "cluster").mkdir()
    (tmp_path / "cluster" / "broken.yaml").write_bytes(content)
    monkeypatch.setenv("FSM_CONF_DIR", str(tmp_path))
    with pytest.raises(UserError, match=complaint):
        compose([*BANK, "cluster=broken"])


def test_a_table_of_the_users_is_called_like_its_file() -> None:
    words = ["dataset=csv", "dataset.target=y", "method=pivot"]
    assert compose([*words, "dataset.path=some/my.csv.gz"]).dataset.name == "my"
    assert compose([*words, 'dataset.path="my data (1).csv"']).dataset.name == "my data (1)"
    assert compose([*words, "dataset.path=my.csv", "dataset.name=rents"]).dataset.name == "rents"


def test_the_composed_config_can_be_shown() -> None:
    assert "patience: 2" in show(BANK)
