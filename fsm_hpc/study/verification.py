"""verification.json: what the independent checker found out about the formulas of a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fsm_hpc.search.proof import Verification
from fsm_hpc.study.result import FoldResult
from fsm_hpc.system import serialization

FORMAT = 2
NAME = "verification.json"


@dataclass(frozen=True, slots=True)
class _Outcomes:
    """The content of the file."""

    folds: dict[str, Verification] = field(default_factory=dict)  # by folder within the study


def read(study: Path) -> dict[str, Verification]:
    """The outcomes that a study has kept, by the folder of the fold."""
    saved = serialization.load(_Outcomes, study / NAME, FORMAT)
    return {} if saved is None else saved.folds


def write(study: Path, outcomes: Mapping[str, Verification]) -> None:
    ordered = {name: outcomes[name] for name in sorted(outcomes)}
    serialization.write(study / NAME, FORMAT, _Outcomes(ordered))


def of_result(done: FoldResult, known: Verification | None) -> Verification | None:
    """What is known about this result; None where the check was of an earlier one."""
    is_current = known is not None and known.is_about(done.formula, done.length_bound)
    return known if is_current else None
