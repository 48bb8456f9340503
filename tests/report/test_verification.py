"""The verb verify: outcomes of a study are kept, and what is done is not done again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from fsm_hpc.cli.main import main
from fsm_hpc.report import verification
from fsm_hpc.study.verification import read as read_outcomes

KEPT = Path(__file__).parents[2] / "results" / "paper" / "heart_disease" / "median"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Two folds of a kept study, with formulas of size 1."""
    for fold in ("fold-0", "fold-1"):
        target = tmp_path / "results" / "some" / "heart_disease" / "median" / fold
        shutil.copytree(KEPT / fold, target)
    return tmp_path / "results" / "some"


def words(study: Path) -> list[str]:
    return [f"results_dir={study.parent}", f"study={study.name}"]


def test_a_study_is_verified_and_its_outcomes_are_kept(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", *words(study)]) == 0
    assert capsys.readouterr().out == "2 verified\n"
    kept = read_outcomes(study)
    assert {name: outcome.outcome for name, outcome in kept.items()} == {
        "heart_disease/median/fold-0": "verified",
        "heart_disease/median/fold-1": "verified",
    }


def test_what_is_verified_is_not_checked_again(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["verify", *words(study)])
    monkeypatch.setattr(verification, "verify", None)  # calling it would fail
    assert main(["verify", *words(study)]) == 0


def test_a_false_claim_in_a_result_is_refuted_with_a_better_formula(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = study / "heart_disease" / "median" / "fold-0" / "result.json"
    saved = json.loads(result.read_text())
    result.write_text(json.dumps(saved | {"formula": "sex", "size": 1}))
    assert main(["verify", *words(study)]) == 1
    assert "1 refuted, 1 verified" in capsys.readouterr().out
    refuted = read_outcomes(study)["heart_disease/median/fold-0"]
    assert "errors with size 1" in refuted.reason


def test_a_spent_budget_leaves_the_rest_to_the_next_call(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", *words(study), "--budget", "0s"]) == 3
    assert "resumes" in capsys.readouterr().err
    assert main(["verify", *words(study)]) == 0


def test_one_fold_is_verified_by_its_folder(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(study / "heart_disease" / "median" / "fold-0")]) == 0
    assert capsys.readouterr().out.startswith("verified in")


def test_a_claim_can_be_written_to_be_checked_elsewhere(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claim = tmp_path / "claim.json.gz"
    fold = str(study / "heart_disease" / "median" / "fold-0")
    assert main(["verify", fold, "--claim", str(claim)]) == 0
    assert "contains the table" in capsys.readouterr().out
    assert claim.exists()


@pytest.mark.parametrize("duration", ["4", "h", "4 days", "-"])
def test_a_duration_that_cannot_be_read_is_named(
    study: Path, duration: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["verify", *words(study), f"--budget={duration}"])
    assert "such as 90s, 10m or 4h" in capsys.readouterr().err


def test_a_setting_that_chooses_no_fold_is_refused(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", *words(study), "scan.budget_h=3"]) == 2
    assert "scan.budget_h" in capsys.readouterr().err
