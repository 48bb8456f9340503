"""Proof levels: found, proved and verified, wherever an answer is shown."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fsm_hpc import checker
from fsm_hpc.cli.main import main
from fsm_hpc.models import model as model_file
from fsm_hpc.models.presenter import summarize
from fsm_hpc.search.proof import ProofLevel, Verification, bounds_in_words, level
from fsm_hpc.study import index

KEPT = Path(__file__).parents[2] / "results" / "paper" / "heart_disease" / "median"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Two folds of a kept study, with formulas of size 1; the first one is verified."""
    root = tmp_path / "results" / "some"
    for fold in ("fold-0", "fold-1"):
        target = root / "heart_disease" / "median" / fold
        shutil.copytree(KEPT / fold, target, ignore=shutil.ignore_patterns("verification.json"))
    assert main(["verify", str(root / "heart_disease" / "median" / "fold-0")]) == 0
    return root


def words(study: Path) -> list[str]:
    return [f"results_dir={study.parent}", f"study={study.name}"]


def column(study: Path, name: str) -> list[str]:
    with (study / "folds.csv").open(encoding="utf-8", newline="") as stream:
        return [line[name] for line in csv.DictReader(stream) if line["status"] == "done"]


def test_collect_counts_what_is_verified(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["collect", *words(study)]) == 0
    assert "of 2 formulas 1 verified, 1 proved" in capsys.readouterr().out
    assert column(study, "proof") == ["verified", "proved"]
    assert column(study, "checker_version") == [str(checker.VERSION), ""]
    assert (study / "tables" / "proofs.tex").exists()


def test_status_shows_the_level_of_each_fold_and_counts_them(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["status", "--json", *words(study)]) == 0
    assert [fold["proof"] for fold in json.loads(capsys.readouterr().out)] == ["verified", "proved"]
    assert main(["status", *words(study)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["dataset", "method", "found", "proved", "verified"] in lines
    assert ["heart_disease", "median", "0", "1", "1"] in lines


def test_status_notices_a_check_of_a_fold_that_it_has_in_its_index(
    study: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "FEW", 1)
    monkeypatch.setattr(index, "SETTLED_S", 0.0)
    assert main(["status", *words(study)]) == 0
    assert (study / ".index").exists()
    assert main(["verify", str(study / "heart_disease" / "median" / "fold-1")]) == 0
    capsys.readouterr()
    assert main(["status", "--json", *words(study)]) == 0
    assert {fold["proof"] for fold in json.loads(capsys.readouterr().out)} == {"verified"}


def test_a_formula_that_was_computed_again_is_not_verified(study: Path) -> None:
    result = study / "heart_disease" / "median" / "fold-0" / "result.json"
    saved = json.loads(result.read_text())
    result.write_text(json.dumps(saved | {"formula": "sex", "size": 1}))
    main(["collect", *words(study)])
    assert column(study, "proof") == ["proved", "proved"]


def test_the_same_formula_of_another_table_is_not_verified(study: Path) -> None:
    result = study / "heart_disease" / "median" / "fold-0" / "result.json"
    saved = json.loads(result.read_text())
    result.write_text(json.dumps(saved | {"fingerprint": "0" * len(saved["fingerprint"])}))
    main(["collect", *words(study)])
    assert column(study, "proof") == ["proved", "proved"]


def test_a_study_without_checks_has_no_table_of_proofs(study: Path) -> None:
    (study / "heart_disease" / "median" / "fold-0" / "verification.json").unlink()
    main(["collect", *words(study)])
    assert not (study / "tables" / "proofs.tex").exists()


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rule for two classes, and one for three, with their claims."""
    root = tmp_path_factory.mktemp("fitted")
    for classes in ("ab", "abc"):
        table = root / f"{classes}.csv"
        lines = [f"{n},{n % 7},{classes[n * len(classes) // 36]}" for n in range(36)]
        table.write_text("\n".join(["x,z,y", *lines]) + "\n")
        settings = ["dataset=csv", f"dataset.path={table}", "dataset.target=y", "method=pivot"]
        more = ["fit.folds=0", "fit.claim=true", "solver=native", f"out={root / classes}"]
        assert main(["fit", *settings, *more]) == 0
    return root


def checked(claim: Path) -> int:
    """The exit code of the checker, run as a program of its own."""
    return subprocess.run(
        [sys.executable, "-I", checker.__file__, str(claim)], check=False
    ).returncode


def test_fit_writes_a_claim_on_request(fitted: Path) -> None:
    assert checked(fitted / "ab" / "claim.json.gz") == 0


def test_a_fold_writes_a_claim_on_request(tmp_path: Path) -> None:
    settings = ["dataset=hepatitis", "method=median", "solver=native", "scan.max_length=3"]
    where = [f"results_dir={tmp_path}", "study=s", "fold=0", "scan.claim=true"]
    assert main([*settings, *where]) == 0
    claim = tmp_path / "s" / "hepatitis" / "median" / "fold-0" / "claim.json.gz"
    assert checked(claim) == 0


@pytest.mark.parametrize(("name", "count"), [("ab", 1), ("abc", 3)])
def test_every_rule_of_a_verified_model_states_it(fitted: Path, name: str, count: int) -> None:
    path = fitted / name / "model.json"
    assert main(["verify", str(path)]) == 0
    saved = json.loads(path.read_text())
    assert [rule["proof"] for rule in saved["rules"]] == ["verified"] * count
    page = (fitted / name / "model.html").read_text(encoding="utf-8")
    assert f"verified by the independent checker, version {checker.VERSION}" in page


def test_an_unproved_rule_states_what_is_known(fitted: Path) -> None:
    model = model_file.load(fitted / "ab" / "model.json")
    rule = replace(model.rule, proved=False, errors=398, length=8)
    rule = replace(rule, lower_bound=371, proved_length=7)
    text = "\n".join(summarize(replace(model, rules=(rule,))).lines())
    assert "398 errors found; proved up to size 7; for size 8 at least 371" in text


def test_nothing_is_stated_of_bounds_that_nobody_computed() -> None:
    assert bounds_in_words(errors=3, bound=4, lower_bound=0, proved_length=0) == ""


@pytest.mark.parametrize(
    ("proved", "outcome", "expected"),
    [
        (False, "verified", ProofLevel.FOUND),
        (True, "verified", ProofLevel.VERIFIED),
        (True, "not finished", ProofLevel.PROVED),
        (True, None, ProofLevel.PROVED),
    ],
)
def test_the_level_follows_from_proof_and_check(
    proved: bool, outcome: str | None, expected: ProofLevel
) -> None:
    checked = None if outcome is None else Verification("", outcome, "", 1, 0.0)
    assert level(proved, checked) is expected
