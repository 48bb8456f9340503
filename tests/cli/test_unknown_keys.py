"""Every command refuses a word that it does not know, and acts on nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from fsm_hpc.cli.main import main
from fsm_hpc.cluster import submissions
from fsm_hpc.study import variants
from fsm_hpc.study.compose import expand
from fsm_hpc.study.fold import fold_paths

SELECTING = ("status", "cancel", "collect", "logs", "report", "resume")


@pytest.fixture(autouse=True)
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four folds that this process is about to run, and the rule of one of their datasets."""
    monkeypatch.chdir(tmp_path)
    configs = expand(["dataset=bank,hepatitis", "method=pivot", "fold=0,1"])
    variants.save_defaults(configs)
    for config in configs:
        submissions.submit_here(fold_paths(config), config)


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What is said of words that are refused with exit code 2, before anything is cancelled."""
    assert main(list(words)) == 2
    told = capsys.readouterr().err
    assert told.startswith("fsm_hpc: ")
    marks = [path.read_text() for path in Path().rglob("submission.json")]
    assert len(marks) == 4
    assert all('"cancelled_at": null' in mark for mark in marks)
    return told


@pytest.mark.parametrize("command", SELECTING)
@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("datset=bank", "did you mean dataset"),
        ("scan.budgt_h=1", "did you mean scan.budget_h"),
        ("clster.cpus=1", "did you mean cluster.cpus"),
        ("patience=1", "did you mean scan.patience?"),
        ("DATASET=bank", "did you mean dataset?"),
        ("+datset=bank", "did you mean dataset"),
        ("hydra.verbose=true", "hydra.verbose is not a setting"),
        ("bank", "did you mean dataset=bank?"),
        ("~dataset", "write it without ~"),
        ("~dataset=bank", "write it without ~"),
        ("+dataset=bank", "write it without +"),
        ("--datset=bank", "--datset=bank is not an option"),
    ],
)
def test_a_command_that_selects_refuses_an_unknown_key(
    capsys: pytest.CaptureFixture[str], command: str, word: str, near: str
) -> None:
    yes = ["-y"] if command == "cancel" else []
    assert near in refusal(capsys, command, word, *yes)


@pytest.mark.parametrize(
    "words",
    [
        ("datset=bank",),
        ("dataset=bank", "method=pivot", "scan.budgt_h=1"),
        ("dataset=bank", "method=pivot", "+scan.budgt_h=1"),
        ("dataset=bank", "method=pivot", "~scan.patienc"),
        ("dataset=bank", "method=pivot", "hydra.run.dir=x"),
        ("dataset=bank", "method=pivot", "-m", "scn=1"),
        ("dataset=bank", "method=pivot", "--cfg", "job", "scn=1"),
        ("plan", "dataset=bank", "method=pivot", "scn=1"),
        ("fit", "dataset=bank", "method=pivot", "fit.fold=2"),
        ("doctor", "cluster.cpu=1"),
        ("datasets", "dataset.nam=x"),
        ("datasets", "show", "bank", "datadir=x"),
        ("predict", "model.json", "table.csv", "dataset.seperator=tab"),
        ("explain", "results/default/bank/pivot/fold-0", "dataset.pth=x"),
        ("alternatives", "results/default/bank/pivot/fold-0", "slak=1"),
    ],
)
def test_every_other_command_refuses_an_unknown_key(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert "is not a setting" in refusal(capsys, *words)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["cluster.partition=long"], "cluster.partition does not select folds"),
        (["dataset=bank", "method=pivot", "scan.budget_h=3"], "scan.budget_h does not select"),
        (["dataset=bnk"], "no folds in results/default match dataset=bnk, did you mean bank?"),
        (["dataset=bank,hepatits"], "match dataset=hepatits, did you mean hepatitis?"),
        (["method=pivto"], "did you mean pivot?"),
        (["study=defalt"], "did you mean default?"),
        (["study=other,default"], "study: expected one value"),
        (["study="], "study: expected the name of one folder"),
        (["fold=77"], "no folds in results/default match fold=77"),
        (["fold=0,77"], "no folds in results/default match fold=77"),
        (["fold=choice(0,77)"], "no folds in results/default match fold=77"),
        (["dataset=choice(bank,hepatits)"], "did you mean hepatitis?"),
        (['dataset="bnk"'], "did you mean bank?"),
        (["variant=plain,sed=3"], "no folds in results/default match variant=sed=3"),
        (["seed=42,41"], "no folds in results/default match seed=41"),
        (["seed=choice(42,41)"], "no folds in results/default match seed=41"),
        (["seed=41"], "no folds in results/default match seed=41"),
        (["method.trials=5"], "no folds in results/default match method.trials=5"),
        (["solver.encoding=fast"], "no folds in results/default match solver.encoding=fast"),
        (["dataset=bank", "dataset=hepatitis"], "dataset is given twice"),
        (["out=rule", "dataset=bank"], "out=FOLDER names one rule"),
        (["--yess"], "did you mean --yes"),
    ],
)
def test_cancel_refuses_words_that_choose_nothing(
    capsys: pytest.CaptureFixture[str], words: list[str], complaint: str
) -> None:
    assert complaint in refusal(capsys, "cancel", "-y", *words)


@pytest.mark.parametrize(
    "words",
    [
        ("status", "scan.budget_h=3"),
        ("logs", "cluster.cpus=3"),
        ("collect", "data_dir=x"),
        ("report", "final.budget_h=3"),
    ],
)
def test_a_setting_that_chooses_no_fold_is_refused(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert "does not select folds" in refusal(capsys, *words)


@pytest.mark.parametrize(
    "words",
    [
        ("predict", "model.json", "table.csv", "scan.patience=1"),
        ("explain", "results/default/bank/pivot/fold-0", "seed=1"),
        ("alternatives", "results/default/bank/pivot/fold-0", "scan.patience=1"),
        ("datasets", "seed=1"),
    ],
)
def test_a_setting_that_a_command_does_not_use_is_refused(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert "has no effect on" in refusal(capsys, *words)


def test_the_words_of_a_sweep_name_its_folds_to_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "dataset=bank", "method=pivot", "cluster.cpus=3", "fold=0"]) == 0
    assert "1 fold" in capsys.readouterr().out


def test_a_rule_is_not_cancelled_by_the_settings_of_folds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from fsm_hpc.cluster.watch.selection import select_without_changes

    Path("results/default/bank/pivot/fold-all").mkdir()
    assert "all" in [ref.id.part for ref in select_without_changes([])]
    assert "all" not in [ref.id.part for ref in select_without_changes(["seed=42"])]


def test_a_command_with_a_slip_is_named_before_its_options(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "did you mean cancel?" in refusal(capsys, "cancl", "-y")
