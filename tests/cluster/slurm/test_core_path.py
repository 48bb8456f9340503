"""The command of the cluster guide on a real SLURM, with the defaults of the paper's method."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.latex import compile_latex, needs_latex
from tests.support.site import Site

pytestmark = [pytest.mark.slurm, pytest.mark.slow]
# a job has as many threads as cores that it may use, and this machine may have fewer than eight
FOLDS = ("dataset=bank", "method=interval")
COMMAND = (*FOLDS, "solver=clingo_dl", "solver.threads=8")
FOLD = "bank/interval/fold-0"
OTHERS = f"fold={','.join(map(str, range(1, 10)))}"


@needs_latex
def test_bank_with_the_defaults_from_submission_to_tables(site: Site) -> None:
    """Ten jobs; one is killed in length 4, goes on there, spends its budget and is collected."""
    assert "10 submitted, 0 skipped" in site.fsm(*COMMAND, "-m")
    assert _requests(site) == {("8", "64G", "3-00:00:00")}
    site.fsm("cancel", *FOLDS, OTHERS, "-y")  # eighty threads are too many for one machine
    running = _wait_for_length(site, 4)
    site.shell("scancel", "--signal=KILL", "--full", running["job_id"])
    killed = _wait_for_state(site, "failed", "cancelled", "lost")
    assert "resumes at length 4" in killed["reason"]
    budget_h = site.file("scan.json", FOLD)["scan_s"] / 3600 + 0.001
    site.fsm("resume", *FOLDS, "fold=0", f"scan.budget_h={budget_h}", "--wait", limit_s=900)
    done = site.file("result.json", FOLD)
    assert done["stop_reason"] == "timeout"
    assert [entry["length"] for entry in done["lengths"] if entry["proved"]] == [1, 2, 3]
    assert done["provenance"]["threads"] == 8
    best = max(done["lengths"], key=lambda entry: (entry["validation_accuracy"], -entry["length"]))
    assert done["length_bound"] == best["length"]
    site.fsm("collect", *FOLDS)
    compile_latex(site.folder / "results" / "default" / "tables" / "all.tex")


def _requests(site: Site) -> set[tuple[str, ...]]:
    """Cores, memory and time limit of every job, as SLURM has them."""
    jobs = site.shell("squeue", "--array", "--noheader", "--format=%A_%a").stdout.split()
    assert len(jobs) == 10
    shown = site.shell("scontrol", "show", "job").stdout.strip().split("\n\n")
    patterns = (r"NumCPUs=(\d+)", r"mem=(\w+)", r"TimeLimit=(\S+)")
    return {tuple(re.search(pattern, job)[1] for pattern in patterns) for job in shown}  # type: ignore[index]


def _fold_0(states: list[dict[str, Any]]) -> dict[str, Any]:
    return next(state for state in states if state["fold"] == 0)


def _wait_for_length(site: Site, length: int) -> dict[str, Any]:
    def has_come(states: list[dict[str, Any]]) -> bool:
        state = _fold_0(states)
        return state["state"] == "running" and (state["length"] or 0) >= length

    return _fold_0(site.wait(has_come, 600))


def _wait_for_state(site: Site, *names: str) -> dict[str, Any]:
    return _fold_0(site.wait(lambda states: _fold_0(states)["state"] in names, 120))
