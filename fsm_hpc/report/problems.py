"""What is wrong or missing in a study, to be said before any figure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fsm_hpc.report.collect import Status, Study
from fsm_hpc.report.mixture import Mixture, fold_list


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that a reader has to know before any figure."""

    kind: str
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind:<13}  {self.where}" + (f": {self.text}" if self.text else "")


def summary(study: Study) -> str:
    """`paper: 350 folds: 340 done, 10 missing`."""
    said = [f"{study.counts[s]} {s.value}" for s in Status if study.counts[s]]
    return f"{study.name}: {len(study.rows)} folds: {', '.join(said)}"


_URGENCY = (
    *(Status.FAILED, Status.MISSING, Status.PARTIAL, Status.RUNNING),
    *(Status.TIMED_OUT, Status.OUT_OF_MEMORY, Status.UNPROVED),
)


def problems(study: Study, mixtures: Iterable[Mixture]) -> list[Problem]:
    """What is wrong or missing, the worst first; folds of one cell with one reason together."""
    found = [Problem("mixed", f"{m.dataset}/{m.method or 'all methods'}", m.text) for m in mixtures]
    groups: dict[tuple[Status, str, str, str], list[int]] = {}
    for row in study.rows:
        if row.status is not Status.DONE:
            place = (row.status, row.dataset, row.method, row.reason)
            groups.setdefault(place, []).append(row.fold)
    for status in _URGENCY:
        for (kind, dataset, method, reason), folds in groups.items():
            if kind is status:
                where = f"{dataset}/{method} {fold_list(folds)}"
                found.append(Problem(status.value, where, reason))
    return sorted(found, key=lambda problem: problem.kind != Status.FAILED.value)
