"""Progress of a sweep: told when something changes, drawn on a terminal."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from fsm_hpc.cluster import attempts, submissions
from fsm_hpc.cluster.attempts import Attempt, AttemptEnd
from fsm_hpc.cluster.watch import fold_files, progress
from fsm_hpc.cluster.watch.progress import SweepProgress
from fsm_hpc.cluster.watch.states import FoldState
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.system import process_identity
from tests.support.made_studies import fold_result, put
from tests.support.screens import HIDE_CURSOR, SHOW_CURSOR, lines_of, said, screen
from tests.support.submissions import submission


def begin(study: StudyPaths, fold: int, end: AttemptEnd | None = None) -> None:
    """A fold that this process works on, or that has ended so."""
    of = FoldId("bank", "pivot", fold)
    paths = study.fold(of)
    submissions.save(paths, submission(of=of))
    now = time.time()
    job_id = f"local/{platform.node()}/{os.getpid()}"
    mine = Attempt("t", job_id, 0, platform.node(), os.getpid(), now, end=end, message="on fire")
    mine = replace(mine, process=process_identity.of())
    attempts.save(paths, mine)


@pytest.fixture
def study(tmp_path: Path) -> StudyPaths:
    """One fold is done, one runs, one has failed."""
    made = StudyPaths(tmp_path / "sweep")
    put(made, fold_result("bank", "pivot", 0))
    begin(made, 1)
    begin(made, 2, AttemptEnd.ERROR)
    return made


def shown(console: Console, study: StudyPaths) -> SweepProgress:
    return SweepProgress(console, list(fold_files.on_disk(study.root)))


# ------------------------------------------------------------------------------------ in a file


def test_the_first_look_is_taken_at_once_and_tells_the_sums(study: StudyPaths) -> None:
    console = screen(is_terminal=False)
    with shown(console, study) as sweep:
        sweep.refresh()
        found = [one.state for one in sweep.statuses]
    assert found == [FoldState.DONE, FoldState.RUNNING, FoldState.FAILED]
    assert said(console) == "3 folds: 1 done, 1 running, 1 failed\n"


def test_a_second_look_waits_for_its_time(study: StudyPaths) -> None:
    with shown(screen(is_terminal=False), study) as sweep:
        sweep.refresh()
        put(study, fold_result("bank", "pivot", 2))
        sweep.refresh(every_s=0.0)  # a file is written to every few seconds at most
        assert sweep.statuses[2].state is FoldState.FAILED


def test_only_what_has_changed_is_told_again(
    study: StudyPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "PLAIN_EVERY_S", 0.0)
    console = screen(is_terminal=False)
    with shown(console, study) as sweep:
        sweep.refresh(every_s=0.0)
        sweep.refresh(every_s=0.0)
        put(study, fold_result("bank", "pivot", 2))
        sweep.refresh(every_s=0.0)
    assert said(console).splitlines() == [
        "3 folds: 1 done, 1 running, 1 failed",
        "3 folds: 2 done, 1 running",
    ]


# ---------------------------------------------------------------------------------- on a terminal


def test_a_terminal_shows_a_bar_and_the_folds_that_run_or_have_trouble(study: StudyPaths) -> None:
    console = screen(is_terminal=True)
    with shown(console, study) as sweep:
        sweep.refresh()
    heading, *rows, bar = lines_of(console)[:4]
    assert heading.split()[:4] == ["dataset", "method", "fold", "state"]
    assert [row.split()[2:4] for row in rows] == [["1", "running"], ["2", "failed"]]
    assert bar.startswith("━")
    assert bar.endswith("3 folds: 1 done, 1 running, 1 failed")


def test_a_terminal_is_left_as_it_was(study: StudyPaths) -> None:
    console = screen(is_terminal=True)
    with shown(console, study) as sweep:
        sweep.refresh()
    assert said(console).rindex(SHOW_CURSOR) > said(console).rindex(HIDE_CURSOR)


def test_no_more_rows_are_shown_than_a_screen_holds(
    study: StudyPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "MOST_ROWS", 1)
    console = screen(is_terminal=True)
    with shown(console, study) as sweep:
        sweep.refresh()
    assert "on fire" not in said(console)  # the second of them
