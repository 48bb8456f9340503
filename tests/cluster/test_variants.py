"""Variants from the command line: swept, seen, chosen, gone on with, compared."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.cli.main import main
from fsm_hpc.cluster import submissions
from fsm_hpc.cluster.node import supervise
from fsm_hpc.errors import UserError
from fsm_hpc.study.compose import compose
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold import fold_paths, load_dataset

TABLE = "a,b,label\n" + "1,2,yes\n3,4,no\n5,1,yes\n2,2,no\n" * 10


TABLE_WORDS = ["dataset=csv", "dataset.path=own.csv", "dataset.target=label", "method=median"]
WORDS = [*TABLE_WORDS, "cluster=local", "solver=clingo_dl", "scan.max_length=1", "folds=2"]


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A sweep of a small table in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.csv").write_text(TABLE)
    return WORDS


def folders(tmp_path: Path) -> list[str]:
    root = tmp_path / "results" / "default"
    return sorted(str(p.parent.relative_to(root)) for p in root.rglob("result.json"))


def states(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["status", "--json", *words]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def test_two_seeds_of_a_sweep_are_computed_once_each_and_both_are_kept(
    tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "seed=1,2", "-m"]) == 0
    expected = [f"own/median/{v}fold-{k}" for v in ("seed=1/", "seed=2/") for k in (0, 1)]
    assert folders(tmp_path) == sorted(expected)
    found = [path.read_bytes() for path in (tmp_path / "results").rglob("result.json")]
    for again in ("seed=1,2", "seed=2", "seed=1"):
        capsys.readouterr()
        assert main([*words, again, "-m"]) == 0
        assert "at a time" not in capsys.readouterr().out
    assert [p.read_bytes() for p in (tmp_path / "results").rglob("result.json")] == found


@pytest.fixture
def begun(tmp_path: Path, words: list[str]) -> list[str]:
    """Fold 0 with two seeds and with another patience, in commands of their own."""
    begin_variants()
    return words


def begin_variants() -> None:
    for other in (["seed=1"], ["seed=2"], ["seed=1", "scan.patience=3"]):
        assert main([*WORDS, "fold=0", *other]) == 0


@pytest.fixture(scope="module")
def study_with_variants(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a study with variants, computed once for tests that only read it."""
    folder = tmp_path_factory.mktemp("variants")
    (folder / "own.csv").write_text(TABLE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        begin_variants()
    return folder


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ([], ["", "scan.patience=3", "seed=2"]),
        (["seed=2"], ["seed=2"]),
        (["seed=1"], ["", "scan.patience=3"]),
        (["seed=range(1,2)", "scan.patience=3"], ["scan.patience=3"]),
        (["variant=plain"], [""]),
        (["variant=seed=2,plain"], ["", "seed=2"]),
        (["method=median", "fold=0"], ["", "scan.patience=3", "seed=2"]),
    ],
)
def test_words_choose_variants(
    study_with_variants: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    chosen: list[str],
    expected: list[str],
) -> None:
    monkeypatch.chdir(study_with_variants)
    assert [one["variant"] for one in states(capsys, *chosen)] == expected
    sweep = [*WORDS, "fold=0", *chosen] if not any("variant=" in w for w in chosen) else chosen
    sweep = list({word.partition("=")[0]: word for word in sweep}.values())
    assert sorted(one["variant"] for one in states(capsys, *sweep)) == expected


def test_a_variant_that_is_not_there_is_a_mistake(
    begun: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert begun
    assert main(["status", "seed=9"]) == 2
    assert "no folds in results/default match seed=9" in capsys.readouterr().err
    assert main(["variant=seed=9", *begun, "-m"]) == 2
    assert "give the setting that differs" in capsys.readouterr().err


def test_collect_and_report_have_a_column_of_variants(
    tmp_path: Path, begun: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert begun
    study = StudyPaths(tmp_path / "results" / "default")
    capsys.readouterr()
    assert main(["collect", "--plots"]) == 0
    said = capsys.readouterr().out
    assert "plain: scan.patience=2, seed=1" in said
    with study.folds_csv.open(encoding="utf-8", newline="") as stream:
        lines = [(line["fold"], line["variant"]) for line in csv.DictReader(stream)]
    assert ("0", "plain") in lines
    assert ("0", "seed=2") in lines
    compared = (study.tables / "variants.csv").read_text(encoding="utf-8")
    assert all(name in compared for name in ("plain", "seed=2", "scan.patience=3"))
    assert (study.plots / "lengths" / "own-median-seed=2.svg").exists()
    assert main(["report", "seed=2"]) == 0
    page = study.report.read_text(encoding="utf-8")
    assert "seed=2" in page
    assert "scan.patience=3" not in page


def test_a_study_without_variants_has_no_column_for_them(
    tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "fold=0"]) == 0
    for command in ("status", "collect"):
        capsys.readouterr()
        assert main([command]) == 0
        assert "variant" not in capsys.readouterr().out
    tables = StudyPaths(tmp_path / "results" / "default").tables
    assert not (tables / "variants.csv").exists()


def test_a_sweep_of_what_makes_no_variant_is_refused_before_anything_begins(
    tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["-m"], ["plan"]):
        assert main([*command, *words, "scan.budget_h=1,2"]) == 2
        assert "differ only in scan.budget_h (1.0 and 2.0)" in capsys.readouterr().err
    assert not (tmp_path / "results").exists()


def test_resume_takes_a_word_that_tells_variants_apart_as_a_choice(
    begun: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert begun
    assert main(["resume", "seed=2"]) == 0
    said = capsys.readouterr().out
    assert "seed=2" in said
    assert "1 fold: 1 done" in said


def test_resume_of_a_finished_fold_with_other_settings_begins_a_variant(
    tmp_path: Path, words: list[str]
) -> None:
    assert main([*words, "fold=0"]) == 0
    assert main(["resume", "scan.max_length=2", "cluster=local"]) == 0
    assert folders(tmp_path) == ["own/median/fold-0", "own/median/scan.max_length=2/fold-0"]


def test_a_table_that_changed_after_it_was_submitted_is_refused_with_both_digests(
    tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    config = compose(words)
    digest = load_dataset(config.dataset, None, False).digest
    paths = fold_paths(config)
    made = replace(submissions.submit_here(paths, config), table=digest)
    (tmp_path / "own.csv").write_text(TABLE + "9,9,no\n")
    load_dataset.cache_clear()  # the job is another process
    with pytest.raises(UserError, match=f"its digest was {digest} and is [0-9a-f]+ now"):
        supervise.work(paths, made)
    (state,) = states(capsys, "dataset=own")
    assert state["state"] == "failed"
    assert digest in state["reason"]
    assert not paths.result.exists()
