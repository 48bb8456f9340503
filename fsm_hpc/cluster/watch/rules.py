"""What has come of a rule that `fit` was asked for: fitted, under way, or failed, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict

from fsm_hpc.cluster.schedulers.base import JobReport
from fsm_hpc.cluster.watch import evidence
from fsm_hpc.cluster.watch.evidence import Evidence, FoldRef
from fsm_hpc.cluster.watch.verdict import ENDED, LIVE, Judged, Verdict, judge
from fsm_hpc.search.stop_reason import StopReason
from fsm_hpc.study.files import RulePaths
from fsm_hpc.system import serialization
from fsm_hpc.system.files import UnreadableError

_CUT = {
    StopReason.TIMEOUT.value: Verdict.TIMEOUT,
    StopReason.OUT_OF_MEMORY.value: Verdict.OUT_OF_MEMORY,
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
class RuleVerdict(Judged):
    """A rule's verdict with its reason, and the rule itself once there is one."""

    ref: FoldRef
    verdict: Verdict
    why: str
    model: dict[str, Any] = field(default_factory=dict)  # model.json, empty where there is none
    job_id: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def is_done(self) -> bool:
        return bool(self.model) and self.verdict in ENDED

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
            "state": self.verdict.value,
            "why": self.why,
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


def look(refs: Sequence[FoldRef]) -> tuple[list[RuleVerdict], list[JobReport]]:
    """The verdict on every rule; asks schedulers only where their files leave it open."""
    found = [_gather(ref) for ref in refs]
    reports = evidence.ask(found)
    return [_judge(one, evidence.report_on(one, reports)) for one in found], list(reports.values())


def _gather(ref: FoldRef) -> Evidence:
    found = evidence.gather(ref)
    return replace(found, under_way=_fold_under_way(found)) if found.scan.in_final else found


def _fold_under_way(found: Evidence) -> str:
    """`fold 3 of 10`, once the rule itself is found and its folds have begun."""
    folds = list(RulePaths(found.ref.paths.folder).judging.folds_on_disk())
    if not folds or found.submission is None:
        return ""
    wanted = found.submission.config.get("fit", {}).get("folds", len(folds))
    done = sum(paths.result.exists() for _, paths in folds)
    return f"fold {min(done + 1, wanted)} of {wanted}"


def _judge(found: Evidence, report: JobReport) -> RuleVerdict:
    seen = judge(found, report)
    verdict, why = seen.verdict, seen.why
    try:
        model = _read(RulePaths(found.ref.paths.folder).model)
    except UnreadableError as error:
        model = {}
        if verdict not in LIVE:
            verdict, why = Verdict.FAILED, str(error)
    if model and verdict not in LIVE:
        verdict, why = _of_model(model)
    elif verdict is Verdict.RUNNING:
        why = _progress(found)
    return RuleVerdict(found.ref, verdict, why, model, seen.job_id, seen.warnings)


def _read(path: Path) -> dict[str, Any]:
    """model.json as far as it is shown; empty where there is none."""
    saved = serialization.read(path)
    if saved is None:
        return {}
    saved = serialization.without_header(saved, path.name, FORMAT)
    serialization.convert(RuleRow, saved, path.name)
    return saved


def _progress(found: Evidence) -> str:
    if found.under_way:
        return f"{found.under_way}, to tell what to expect"
    if found.scan.in_final:
        return "the final formula, on all rows"
    return f"length {found.scan.length or 1}, on all rows"


def _of_model(model: dict[str, Any]) -> tuple[Verdict, str]:
    reason = str(model.get("stop_reason", ""))
    if reason in _CUT:
        return _CUT[reason], "this ended the choice of the length; a larger fit.budget_h goes on"
    if not model.get("proved"):
        return Verdict.UNPROVED, "it is not proved to be the best; the notes in model.json say why"
    return Verdict.DONE, reason.replace("_", " ")
