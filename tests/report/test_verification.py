"""The command verify: outcomes of a study are kept, and what is done is not done again."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.cli.main import main
from fsm_hpc.cluster import study_lock
from fsm_hpc.report import verification

KEPT = Path(__file__).parents[2] / "results" / "paper" / "heart_disease" / "median"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Two folds of a kept study, with formulas of size 1."""
    for fold in ("fold-0", "fold-1"):
        target = tmp_path / "results" / "some" / "heart_disease" / "median" / fold
        shutil.copytree(KEPT / fold, target, ignore=shutil.ignore_patterns("verification.json"))
    return tmp_path / "results" / "some"


def outcome(study: Path, fold: int) -> dict[str, Any]:
    """What is kept about a fold of the study."""
    path = study / "heart_disease" / "median" / f"fold-{fold}" / "verification.json"
    saved: dict[str, Any] = json.loads(path.read_text())
    return saved


def words(study: Path) -> list[str]:
    return [f"results_dir={study.parent}", f"study={study.name}"]


def test_a_study_is_verified_and_its_outcomes_are_kept(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", *words(study)]) == 0
    assert capsys.readouterr().out == "2 verified\n"
    assert [outcome(study, fold)["outcome"] for fold in (0, 1)] == ["verified", "verified"]


def test_what_is_verified_is_not_checked_again(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["verify", *words(study)])
    monkeypatch.setattr(verification, "verify_one", None)  # calling it would fail
    assert main(["verify", *words(study)]) == 0


def test_a_false_claim_in_a_result_is_refuted_with_a_better_formula(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = study / "heart_disease" / "median" / "fold-0" / "result.json"
    saved = json.loads(result.read_text())
    result.write_text(json.dumps(saved | {"formula": "sex", "size": 1}))
    assert main(["verify", *words(study)]) == 1
    assert "1 refuted, 1 verified" in capsys.readouterr().out
    assert "errors with size 1" in outcome(study, 0)["reason"]


def test_a_spent_budget_leaves_the_rest_to_the_next_call(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", *words(study), "--budget", "0s"]) == 3
    assert "resumes" in capsys.readouterr().err
    assert main(["verify", *words(study)]) == 0


def test_a_claim_that_took_too_long_is_tried_again_with_more_time_only(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["verify", *words(study), "--each", "0s"]) == 3
    assert outcome(study, 0)["outcome"] == "not finished"
    assert main(["verify", *words(study), "--each", "1m"]) == 0
    path = study / "heart_disease" / "median" / "fold-0" / "verification.json"
    path.write_text(json.dumps(outcome(study, 0) | {"outcome": "not finished", "processor_s": 61}))
    monkeypatch.setattr(verification, "verify_one", None)  # calling it would fail
    assert main(["verify", *words(study), "--each", "1m"]) == 3


def test_a_claim_that_another_process_checks_is_left_to_it(
    study: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verification, "PATIENCE_S", 0.0)
    with study_lock.held([study / "heart_disease" / "median" / "fold-0"]):
        assert main(["verify", *words(study)]) == 3
    assert "1 not checked, 1 verified" in capsys.readouterr().out


def test_a_claim_whose_process_was_killed_is_checked_again(study: Path) -> None:
    fold = study / "heart_disease" / "median" / "fold-0"
    holding = f"""
import os, signal
from pathlib import Path
from fsm_hpc.cluster import study_lock
with study_lock.held([Path({str(fold)!r})]):
    os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", holding], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (fold / ".lock").exists()
    assert main(["verify", *words(study)]) == 0


def test_a_damaged_outcome_is_kept_aside_and_the_claim_checked_again(study: Path) -> None:
    folder = study / "heart_disease" / "median" / "fold-0"
    (folder / "verification.json").write_text("{")
    assert main(["verify", *words(study)]) == 0
    assert outcome(study, 0)["outcome"] == "verified"
    assert list(folder.glob(".damaged-*"))


def test_jobs_on_this_machine_share_the_claims_of_a_study(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = ["cluster=local", "cluster.max_parallel=2", "-m"]
    assert main(["verify", *words(study), *jobs]) == 0
    told = capsys.readouterr().out
    assert "2 verified\n" in told
    logs = [path.read_text() for path in study.glob("submissions/*/*_log.out")]
    for fold in (0, 1):
        assert "".join(logs).count(f"fold-{fold}: verified") == 1, logs
    assert main(["verify", *words(study), *jobs]) == 0
    assert "job" not in capsys.readouterr().out  # nothing is left to submit


def test_one_formula_is_not_verified_as_jobs(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(study / "heart_disease" / "median" / "fold-0"), "-m"]) == 2
    assert "-m verifies a study in jobs" in capsys.readouterr().err


def test_one_fold_is_verified_by_its_folder(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(study / "heart_disease" / "median" / "fold-0")]) == 0
    assert capsys.readouterr().out.startswith("verified in")


def test_verify_says_what_to_do_with_a_fold_of_other_settings(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = study / "heart_disease" / "median" / "fold-0" / "result.json"
    saved = json.loads(result.read_text())
    saved["settings"]["objective"] = "balanced"
    result.write_text(json.dumps(saved))
    assert main(["verify", str(result)]) == 2
    told = capsys.readouterr().err
    assert "objective=balanced; verify supports the settings of the paper only" in told
    assert "scan.claim=true" in told


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
