"""What has come of a rule that `fit` was asked for: fitted, under way, or failed, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict

from fsm_hpc.cluster.schedulers.base import JobReport
from fsm_hpc.cluster.watch import fold_files
from fsm_hpc.cluster.watch.fold_files import FoldFiles, FoldRef
from fsm_hpc.cluster.watch.states import (
    ENDED,
    LIVE,
    FoldState,
    Status,
    classify,
    job_reports,
    report_on,
)
from fsm_hpc.search.stop_reason import StopReason
from fsm_hpc.study.files import RulePaths
from fsm_hpc.system import serialization
from fsm_hpc.system.files import UnreadableError

_CUT = {
    StopReason.TIMEOUT.value: FoldState.TIMEOUT,
    StopReason.OUT_OF_MEMORY.value: FoldState.OUT_OF_MEMORY,
}


FORMAT = 4  # as in models/model.py, which loads numpy


class RuleRow(TypedDict):
    """What is shown of model.json."""

    words: str
    formula: str
    proved: bool
    stop_reason: str
    figures: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RuleStatus(Status):
    """A rule's state with its reason, and the rule itself once there is one."""

    ref: FoldRef
    state: FoldState
    reason: str
    model: dict[str, Any] = field(default_factory=dict)  # model.json, empty where there is none
    job_id: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def is_done(self) -> bool:
        return bool(self.model) and self.state in ENDED

    @property
    def words(self) -> str | None:
        return self.model.get("words")

    def expected(self, measure: str) -> float | None:
        """What its folds say of new rows; None where there were none, or it is undefined."""
        found = self.model.get("figures", {}).get(measure)
        value = found.get("value") if isinstance(found, dict) else found
        return float(value) if isinstance(value, (int, float)) else None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for `--json`; a rule is of no fold."""
        return {
            "dataset": self.ref.id.dataset,
            "method": self.ref.id.method,
            "fold": None,
            "state": self.state.value,
            "reason": self.reason,
            "done": self.is_done,
            "failed": self.is_failed,
            "rule": self.words,
            "formula": self.model.get("formula"),
            "proved": self.model.get("proved"),
            "accuracy": self.expected("accuracy"),
            "balanced_accuracy": self.expected("balanced_accuracy"),
            "majority": self.expected("majority"),
            "job_id": self.job_id,
            "warnings": list(self.warnings),
            "folder": str(self.ref.paths.folder),
        }


def rule_states(refs: Sequence[FoldRef]) -> tuple[list[RuleStatus], list[JobReport]]:
    """The state of every rule; asks schedulers only where their files leave it open."""
    found = [_with_progress(one) for one in fold_files.read_all(refs)]
    reports = job_reports(found)
    return [_classify(one, report_on(one, reports)) for one in found], list(reports.values())


def _with_progress(found: FoldFiles) -> FoldFiles:
    return replace(found, under_way=_fold_under_way(found)) if found.scan.in_final else found


def _fold_under_way(found: FoldFiles) -> str:
    """`fold 3 of 10`, once the rule itself is found and its folds have begun."""
    folds = list(RulePaths(found.ref.paths.folder).judging.folds_on_disk())
    if not folds or found.submission is None:
        return ""
    wanted = found.submission.config.get("fit", {}).get("folds", len(folds))
    done = sum(paths.result.exists() for _, paths in folds)
    return f"fold {min(done + 1, wanted)} of {wanted}"


def _classify(found: FoldFiles, report: JobReport) -> RuleStatus:
    seen = classify(found, report)
    state, reason = seen.state, seen.reason
    try:
        model = _read(RulePaths(found.ref.paths.folder).model)
    except UnreadableError as error:
        model = {}
        if state not in LIVE:
            state, reason = FoldState.FAILED, str(error)
    if model and state not in LIVE:
        state, reason = _of_model(model)
    elif state is FoldState.RUNNING:
        reason = _progress(found)
    return RuleStatus(found.ref, state, reason, model, found.job_id, seen.warnings)


def _read(path: Path) -> dict[str, Any]:
    """model.json as far as it is shown; empty where there is none."""
    saved = serialization.read(path)
    if saved is None:
        return {}
    saved = serialization.without_header(saved, path.name, FORMAT)
    serialization.convert(RuleRow, saved, path.name)
    return saved


def _progress(found: FoldFiles) -> str:
    if found.under_way:
        return f"{found.under_way}, to tell what to expect"
    if found.scan.in_final:
        return "the final formula, on all rows"
    return f"length {found.scan.length or 1}, on all rows"


def _of_model(model: dict[str, Any]) -> tuple[FoldState, str]:
    reason = str(model.get("stop_reason", ""))
    if reason in _CUT:
        return _CUT[reason], "this ended the choice of the length; a larger fit.budget_h goes on"
    if not model.get("proved"):
        return (
            FoldState.UNPROVED,
            "it is not proved to be the best; the notes in model.json say why",
        )
    return FoldState.DONE, reason.replace("_", " ")
