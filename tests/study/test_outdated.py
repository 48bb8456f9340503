"""What was proved for other rows or settings is kept and named before something new is written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.cli.main import main
from fsm_hpc.study.compose import compose
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.study.fold import fold_paths, load_dataset
from fsm_hpc.study.run import run_fold
from tests.support.fakes import LadderSolver

FOLD = ["dataset=csv", "dataset.path=t.csv", "dataset.target=y", "scan.max_length=2", "fold=0"]
FILES = ("scan.json", "result.json")


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "t.csv"
    rows = [f"{k},{k * 7 % 11},{int(k % 5 > 1)}" for k in range(40)]
    path.write_text("\n".join(["a,b,y", *rows]) + "\n")
    load_dataset.cache_clear()
    return path


def add_row(path: Path, row: str = "99,3,1") -> None:
    """As a person does between two commands, each of which reads the table."""
    with path.open("a") as stream:
        stream.write(f"{row}\n")
    load_dataset.cache_clear()


def a_config(*words: str) -> Config:
    return compose([*FOLD, "method=pivot", *words])


def run(config: Config, **options: Any) -> list[str]:
    """What a run says."""
    told: list[str] = []
    solver_of: Callable[..., Any] = lambda *_: LadderSolver()  # noqa: E731
    options = {"solver_of": solver_of} | options
    run_fold(config, say=told.append, **options)
    return told


def contents(paths: FoldPaths) -> dict[str, str]:
    return {name: (paths.folder / name).read_text() for name in FILES}


def kept(paths: FoldPaths, name: str) -> list[Path]:
    return sorted(paths.folder.glob(f"{name.removesuffix('.json')}.outdated-*.json"))


def test_what_a_row_more_makes_outdated_is_kept_and_named(table: Path) -> None:
    config = a_config()
    paths = fold_paths(config)
    run(config)
    before = contents(paths)
    add_row(table)
    told = " ".join(run(config))
    for name in FILES:
        (one,) = kept(paths, name)
        assert one.read_text() == before[name]
        assert one.name in told
    assert contents(paths).keys() == before.keys()
    assert "data: " in told


def test_the_next_change_keeps_them_as_well(table: Path) -> None:
    config = a_config()
    paths = fold_paths(config)
    versions = []
    for _ in range(3):
        run(config)
        versions.append(contents(paths))
        add_row(table)
    for name in FILES:
        found = {one.read_text() for one in kept(paths, name)}
        assert found == {version[name] for version in versions[:2]}


def test_a_setting_that_changed_on_disk_keeps_the_result() -> None:
    config = a_config()
    paths = fold_paths(config)
    run(config)
    before = contents(paths)
    told = run(replace(config, seed=7))
    assert kept(paths, "result.json")[0].read_text() == before["result.json"]
    assert "seed: 42 -> 7" in " ".join(told)


def test_a_larger_budget_goes_on_and_keeps_nothing() -> None:
    config = a_config()
    run(config)
    path = fold_paths(config).result
    path.write_text(path.read_text().replace('"proved": true', '"proved": false'))
    assert run(config) == []
    assert kept(fold_paths(config), "result.json") == []


def test_a_kill_after_it_was_kept_loses_nothing(table: Path) -> None:
    config = a_config()
    paths = fold_paths(config)
    run(config)
    before = contents(paths)
    add_row(table)

    def killed(*_: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(config, solver_of=killed)
    run(config)
    for name in FILES:
        assert [one.read_text() for one in kept(paths, name)] == [before[name]]
    assert paths.result.exists()


def test_an_attempt_that_has_lost_its_fold_moves_nothing(table: Path) -> None:
    config = a_config()
    run(config)
    before = contents(fold_paths(config))
    add_row(table)
    assert run(config, may_write=lambda: False) == []
    assert contents(fold_paths(config)) == before


def test_a_folder_that_cannot_be_changed_keeps_what_it_has(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = a_config()
    run(config)
    before = contents(fold_paths(config))
    add_row(table)

    def refuse(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(PermissionError, match=r"result\.json"):
        run(config)
    assert contents(fold_paths(config)) == before


def test_two_processes_that_keep_the_same_file_do_not_fail(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fsm_hpc.system import files

    config = a_config()
    paths = fold_paths(config)
    run(config)
    before = contents(paths)
    assert files.rename_outdated(paths.result).startswith("result.outdated-")
    assert files.rename_outdated(paths.result) == ""
    assert kept(paths, "result.json")[0].read_text() == before["result.json"]


def test_trials_of_another_table_are_kept_under_another_name(table: Path) -> None:
    config = compose([*FOLD, "method=random_forest", "method.trials=1"])
    paths = fold_paths(config)
    run_fold(config)
    before, trials = paths.result.read_text(), paths.trials.read_text()
    add_row(table)
    run_fold(config)
    assert kept(paths, "result.json")[0].read_text() == before
    assert kept(paths, "trials.json")[0].read_text() == trials


def test_terminal_log_status_and_collect_tell_of_it(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*FOLD, "method=pivot"]
    assert main(words) == 0
    add_row(table)
    capsys.readouterr()
    assert main(words) == 0
    (result,), (scan,) = (
        kept(fold_paths(a_config()), name) for name in ("result.json", "scan.json")
    )
    shown = capsys.readouterr().out
    log = fold_paths(a_config()).log.read_text()
    main(["status", "--json"])
    (state,) = json.loads(capsys.readouterr().out)
    for name in (result.name, scan.name):
        assert all(name in text for text in (shown, log, " ".join(state["warnings"])))
    main(["collect"])
    assert "2 files of other rows or settings renamed to *.outdated-*" in capsys.readouterr().out
    main(["report"])
    assert "*.outdated-*" in Path("results/default/report.html").read_text()


def test_a_local_sweep_keeps_and_tells(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [*FOLD, "method=pivot", "cluster=local", "-m"]
    assert main(words) == 0
    before = fold_paths(a_config()).result.read_text()
    add_row(table)
    capsys.readouterr()
    assert main(words) == 0
    assert "kept as result.outdated-*" in capsys.readouterr().out.replace("\n", " ")
    (one,) = kept(fold_paths(a_config()), "result.json")
    assert one.read_text() == before


def test_a_rule_that_is_fitted_again_keeps_the_former_one(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["fit", *FOLD, "method=median", "fit.folds=2", "scan.splits=1", "out=rule"]
    words.remove("fold=0")
    assert main(words) == 0
    work = "folds/t/median/fold-all"
    found = ("model.json", f"{work}/scan.json", f"{work}/folds/t/median/fold-0/result.json")
    before = {name: Path("rule", name).read_text() for name in found}
    add_row(table)
    capsys.readouterr()
    assert main(words) == 0
    shown = capsys.readouterr().out
    for name, text in before.items():
        path = Path("rule", name)
        (one,) = path.parent.glob(f"{path.stem}.outdated-*.json")
        assert one.read_text() == text
        assert one.name in shown


def test_rules_of_several_classes_that_are_fitted_again_are_kept(table: Path) -> None:
    rows = [f"{k},{'rgb'[k % 3]}" for k in range(40)]
    table.write_text("\n".join(["a,y", *rows]) + "\n")
    words = ["fit", *FOLD, "method=median", "fit.folds=0", "scan.splits=1", "out=rule"]
    words.remove("fold=0")
    assert main(words) == 0
    before = Path("rule/model.json").read_text()
    add_row(table, "99,r")
    assert main(words) == 0
    (one,) = Path("rule").glob("model.outdated-*.json")
    assert one.read_text() == before
