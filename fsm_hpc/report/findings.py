"""List problems and missing folds of a study."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fsm_hpc.cluster.watch.states import FoldState
from fsm_hpc.report.collect import Study
from fsm_hpc.report.mixture import Mixture, fold_list
from fsm_hpc.search.proof import ProofLevel
from fsm_hpc.system.files import OUTDATED
from fsm_hpc.system.numbers import counted


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem of some folds."""

    kind: str
    where: str
    text: str

    def __str__(self) -> str:
        text = self.text.replace("\n", "\n" + " " * 15)  # aligned with the first line
        return f"{self.kind:<13}  {self.where}" + (f": {text}" if text else "")


def summary(study: Study) -> str:
    """`paper: 350 folds: 340 done, 10 missing`."""
    states = [f"{study.counts[s]} {s.value}" for s in FoldState if study.counts[s]]
    return f"{study.name}: {counted(len(study.rows), 'fold')}: {', '.join(states)}{_proofs(study)}"


def _proofs(study: Study) -> str:
    """`; of 210 formulas 156 verified, 54 proved`; empty without verified formulas."""
    if not study.proofs[ProofLevel.VERIFIED]:
        return ""
    counts = [f"{study.proofs[p]} {p.value}" for p in reversed(ProofLevel) if study.proofs[p]]
    return f"; of {counted(study.proofs.total(), 'formula')} {', '.join(counts)}"


def findings(study: Study, mixtures: Iterable[Mixture]) -> list[Finding]:
    """Problems, the most severe first; folds of a group with the same reason share one."""
    problems = [Finding("mixed", m.where("all methods"), m.text) for m in mixtures]
    groups: dict[tuple[FoldState, tuple[str, ...], str], list[int]] = {}
    for row in study.rows:
        if row.state is not FoldState.DONE:
            groups.setdefault((row.state, row.id.place, row.reason), []).append(row.fold)
    for state in sorted(FoldState, key=lambda state: state.rank):
        for (kind, place, reason), folds in groups.items():
            if kind is state:
                where = f"{'/'.join(place)} {fold_list(folds)}"
                problems.append(Finding(state.value, where, reason))
    for row in study.rows:
        if row.without_set:
            where = f"{'/'.join(row.id.place)} {fold_list([row.fold])}"
            problems.append(Finding("alternatives", where, row.without_set))
    return sorted(
        (*problems, *_outdated(study)), key=lambda finding: finding.kind != FoldState.FAILED.value
    )


def _outdated(study: Study) -> Iterator[Finding]:
    """Groups with renamed files of other rows or settings."""
    for group in study.groups.values():
        rows = [row for row in group.rows if row.outdated]
        if rows:
            files = counted(sum(row.outdated for row in rows), "file")
            where = f"{group.name} {fold_list([row.fold for row in rows])}"
            text = f"{files} of other rows or settings renamed to *.{OUTDATED}-*"
            yield Finding(OUTDATED, where, text)
