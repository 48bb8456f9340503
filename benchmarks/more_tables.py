"""The table of docs/more.md: what a study came to on tables that the paper has not."""

from __future__ import annotations

from statistics import fmean, pstdev

from fsm_hpc.report.collect import FoldGroup, Study, label


def cells(study: Study) -> list[str]:
    """Every cell: accuracy beside balanced accuracy and the majority, size and seconds."""
    lines = [
        "| dataset | method | folds | accuracy | balanced accuracy | majority | size | seconds "
        "| formula of fold 0 |",
        "|---|---|---:|---:|---:|---:|---:|---:|---|",
    ]
    return [*lines, *(_line(group) for group in study.groups.values() if group.results)]


def _line(group: FoldGroup) -> str:
    shares = [100 * done.accuracy.test for done in group.results]
    balanced = [share for share in group.shares("balanced_accuracy").values() if share is not None]
    sizes = [float(row.model_size) for row in group.rows if row.model_size is not None]
    seconds = fmean(done.seconds.total for done in group.results)
    example = group.example.result.formula if group.example and group.example.result else None
    return (
        f"| {group.dataset} | {label(group.method)} | {len(shares)} "
        f"| {fmean(shares):.1f} ± {pstdev(shares):.1f} | {100 * fmean(balanced):.1f} "
        f"| {100 * (group.majority or 0):.1f} | {fmean(sizes):.1f} | {seconds:.1f} "
        f"| {f'`{example}`' if example else ''} |"
    )
