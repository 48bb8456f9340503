"""One fold from table to result.json: the same whether or not it was interrupted."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fsm_hpc.cluster.submit.plan import decide
from fsm_hpc.errors import UserError
from fsm_hpc.search.scan import ScanState
from fsm_hpc.search.solvers.base import End
from fsm_hpc.search.solvers.names import SolverName
from fsm_hpc.study import fold, result, run
from fsm_hpc.study.compose import compose
from fsm_hpc.study.config import Config
from tests.support.fakes import LadderSolver


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """A small table with a rule and some noise in it."""
    rng = np.random.default_rng(3)
    rows = [
        (age, colour, flag, "yes" if (age >= 40) ^ (rng.random() < 0.15) else "no")
        for age, colour, flag in zip(
            rng.integers(18, 70, 80),
            rng.choice(list("rgb"), 80),
            rng.integers(0, 2, 80),
            strict=True,
        )
    ]
    lines = ["age,colour,flag,label", *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "table.csv").write_text("\n".join(lines) + "\n")
    return compose(
        [
            "dataset=csv",
            f"dataset.path={tmp_path}/table.csv",
            "dataset.target=label",
            "dataset.positive=yes",
            "method=pivot",
            f"results_dir={tmp_path}/results",
            "scan.max_length=4",
        ]
    )


WAITING: list[LadderSolver] = []


@pytest.fixture
def solvers() -> list[LadderSolver]:
    """Solvers to be used, one a run; ladders once they are used up."""
    WAITING.clear()
    return WAITING


def _next_solver(*_: object) -> LadderSolver:
    return WAITING.pop(0) if WAITING else LadderSolver()


run_fold = partial(run.run_fold, solver_of=_next_solver)


def _content(config: Config) -> dict[str, Any]:
    """result.json but for times and hosts."""
    saved: dict[str, Any] = json.loads(fold.fold_paths(config).result.read_text())
    for entry in saved["lengths"]:
        del entry["seconds"]
    passing = ("seconds", "processor_s", "provenance", "peak_rss_mb")
    return {k: v for k, v in saved.items() if k not in passing}


@pytest.mark.usefixtures("solvers")
def test_a_fold_ends_in_a_result_that_says_everything(config: Config) -> None:
    done = run_fold(config)
    assert done is not None
    assert done.formula is not None
    assert done == result.load(fold.fold_paths(config).result, config.id)
    assert done.proved
    assert done.length_bound is not None
    assert done.size is not None
    assert done.size <= done.length_bound
    assert done.rows == {"train": 50, "validation": 22, "test": 8}
    assert sum(done.rows.values()) == 80
    assert done.words is not None
    assert done.words.startswith("Predict label = yes when ")
    assert [entry["length"] for entry in done.lengths] == list(range(1, len(done.lengths) + 1))
    confusion = done.confusion
    right = confusion.true_positive + confusion.true_negative
    assert done.accuracy.test == pytest.approx(right / 8)
    assert {"version", "packages", "host", "cpu", "threads"} <= done.provenance.keys()


def test_a_finished_fold_is_not_run_again(config: Config, solvers: list[LadderSolver]) -> None:
    run_fold(config)
    before = fold.fold_paths(config).result.read_bytes()
    unused = LadderSolver()
    solvers.append(unused)
    assert run_fold(config) is not None
    assert unused.calls == []
    assert fold.fold_paths(config).result.read_bytes() == before


@pytest.mark.parametrize("call", range(5))
def test_a_fold_stopped_at_any_point_resumes_to_the_same_result(
    config: Config, solvers: list[LadderSolver], call: int, tmp_path: Path
) -> None:
    run_fold(replace(config, results_dir=tmp_path / "whole"))
    solvers.append(LadderSolver(ends={call: End.STOPPED}))
    assert run_fold(config) is None
    assert not fold.fold_paths(config).result.exists()
    assert run_fold(config) is not None
    assert _content(config) == _content(replace(config, results_dir=tmp_path / "whole"))


@pytest.mark.parametrize("saves", range(1, 7))
def test_a_fold_killed_after_any_write_resumes_to_the_same_result(
    config: Config,
    solvers: list[LadderSolver],
    saves: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run_fold(replace(config, results_dir=tmp_path / "whole"))
    count = 0

    def die(state: ScanState) -> None:
        nonlocal count
        count += 1
        if count == saves:
            raise SystemExit(9)

    with pytest.raises(SystemExit):
        run_fold(config, watch=die)
    solvers.clear()
    assert run_fold(config) is not None
    assert _content(config) == _content(replace(config, results_dir=tmp_path / "whole"))


def test_a_spent_scan_budget_falls_back_and_a_larger_one_goes_on(
    config: Config, solvers: list[LadderSolver], tmp_path: Path
) -> None:
    run_fold(replace(config, results_dir=tmp_path / "whole"))
    solvers.append(LadderSolver(ends={2: End.TIMEOUT}))
    late = run_fold(config)
    assert late is not None
    assert late.stop_reason == "timeout"
    assert late.formula is not None
    assert [entry["proved"] for entry in late.lengths] == [True, True, False]
    again = run_fold(config)
    assert again is not None
    assert again.stop_reason != "timeout"
    assert _content(config) == _content(replace(config, results_dir=tmp_path / "whole"))


def test_a_final_solve_that_ran_out_of_time_is_marked_and_goes_on_with_more(
    config: Config, solvers: list[LadderSolver]
) -> None:
    lengths = len(run_fold(config).lengths)  # type: ignore[union-attr]
    fold.fold_paths(config).result.unlink()
    fold.fold_paths(config).scan.unlink()
    solvers.append(LadderSolver(ends={lengths: End.TIMEOUT}))
    late = run_fold(config)
    assert late is not None
    assert not late.proved
    assert fold.reason_to_continue(config, late) is not None
    assert run_fold(config).proved  # type: ignore[union-attr]


@pytest.mark.usefixtures("solvers")
def test_the_fingerprint_covers_what_changes_the_answer_and_nothing_else(config: Config) -> None:
    run_fold(config)

    def is_finished(**changes: Any) -> bool:
        return fold.final_result(fold.prepare(replace(config, **changes))) is not None

    assert is_finished(solver=replace(config.solver, threads=7))
    assert is_finished(cluster=replace(config.cluster, mem_gb=128.0, partition="long"))
    assert not is_finished(seed=43)
    assert not is_finished(scan=replace(config.scan, patience=3))
    changed = fold.prepare(replace(config, seed=43))
    said: list[str] = []
    fold.report_changes(changed, said.append)
    assert said == ["computing again: seed: 42 -> 43"]


@pytest.mark.usefixtures("solvers")
def test_two_tables_of_one_file_name_do_not_overwrite_each_other(
    config: Config, tmp_path: Path
) -> None:
    run_fold(config)
    before = _content(config)
    other = tmp_path / "other" / "table.csv"
    other.parent.mkdir()
    text = (tmp_path / "table.csv").read_text()
    other.write_text(text.replace("\n", "\n44,r,1,no\n", 3))
    second = replace(config, dataset=replace(config.dataset, path=str(other)))
    with pytest.raises(UserError, match=r"another table, .*table\.csv; give this"):
        run_fold(second)
    with pytest.raises(UserError, match="another table"):
        decide([second])
    assert _content(config) == before
    assert run_fold(replace(second, dataset=replace(second.dataset, name="other"))) is not None
    other.write_text(text)  # the same table in another place
    fold.load_dataset.cache_clear()
    assert fold.final_result(fold.prepare(second)) is not None


@pytest.mark.usefixtures("solvers")
def test_changed_validation_rows_start_the_scan_anew(config: Config, tmp_path: Path) -> None:
    run_fold(config)
    rows = set(fold.prepare(config).rows.validation.tolist())
    lines = (tmp_path / "table.csv").read_text().splitlines()
    swap = {"yes": "no", "no": "yes"}
    for row in rows:
        values, _, label = lines[row + 1].rpartition(",")
        lines[row + 1] = f"{values},{swap[label]}"
    (tmp_path / "table.csv").write_text("\n".join(lines) + "\n")
    fold.load_dataset.cache_clear()
    run_fold(config)
    run_fold(replace(config, results_dir=tmp_path / "fresh"))
    assert _content(config) == _content(replace(config, results_dir=tmp_path / "fresh"))


def test_a_final_solve_out_of_memory_is_final_until_more_is_given(
    config: Config, solvers: list[LadderSolver]
) -> None:
    lengths = len(run_fold(config).lengths)  # type: ignore[union-attr]
    fold.fold_paths(config).result.unlink()
    fold.fold_paths(config).scan.unlink()
    small = replace(config, cluster=replace(config.cluster, mem_gb=1.0))
    solvers.append(LadderSolver(ends={lengths: End.OUT_OF_MEMORY}))
    done = run_fold(small)
    assert done is not None
    assert done.final_end == "out_of_memory"
    assert fold.reason_to_continue(small, done) is None
    assert fold.reason_to_continue(config, done) == "ran out of memory; more memory is given now"


def test_without_a_finished_length_the_validation_accuracy_is_that_of_the_formula(
    config: Config, solvers: list[LadderSolver]
) -> None:
    solvers.append(LadderSolver(ends={0: End.TIMEOUT}))
    done = run_fold(config)
    assert done is not None
    assert done.accuracy.validation


@pytest.mark.usefixtures("solvers")
def test_a_stop_before_anything_is_found_is_taken_up_again(config: Config) -> None:
    stop = threading.Event()
    stop.set()
    assert run_fold(config, stop) is None
    assert run_fold(config) is not None


def test_the_real_solver_interrupted_in_a_length_keeps_finished_lengths_and_errors(
    config: Config, tmp_path: Path
) -> None:
    asp = replace(config, solver=replace(config.solver, name=SolverName.CLINGO_DL, threads=2))
    whole = run_fold(replace(asp, results_dir=tmp_path / "whole"))
    stop = threading.Event()

    def stop_in_length_3(state: ScanState) -> None:
        if state.under_way is not None and state.under_way.length == 3:
            stop.set()

    assert run_fold(asp, stop, stop_in_length_3) is None
    resumed = run_fold(asp)
    assert whole is not None
    assert resumed is not None
    facts = [
        [(e["length"], e["errors"], e["size"], e["proved"]) for e in done.lengths]
        for done in (whole, resumed)
    ]
    assert facts[0] == facts[1]


def test_a_wrong_table_is_told_before_anything_runs(config: Config, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("age,label\n1,yes\n2,yes\n")
    with pytest.raises(UserError, match="label"):
        run_fold(config)
