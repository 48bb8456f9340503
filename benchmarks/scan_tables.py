"""Tables of how scans went: what is kept, what ended them, how far they came, what they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import fmean, median

from benchmarks.study_tables import NOTHING, Beside, besides, digits, is_cut, row, signed, sweep_of
from fsm_hpc.report import collect
from fsm_hpc.report.collect import Study, label
from fsm_hpc.study.result import FoldResult
from fsm_hpc.system.numbers import number_ranges

FOLDS = 10


# -------------------------------------------------------------------------------------- coverage


def coverage(study: Study) -> list[str]:
    """How many folds of each method of the experiment are kept, and which are missing."""
    datasets, methods = sweep_of(study.name)
    lines = [
        "| method | folds kept | of | scans that timed out | missing folds |",
        "|---|---:|---:|---:|---|",
    ]
    for method in methods:
        groups = {g.dataset: g for g in study.groups.values() if g.method == method}
        counts = {name: len(groups[name].results) if name in groups else 0 for name in datasets}
        cut = sum(is_cut(done) for group in groups.values() for done in group.results)
        lacking = [f"{name} ({FOLDS - count})" for name, count in counts.items() if count < FOLDS]
        lines.append(
            row(
                label(method),
                sum(counts.values()),
                FOLDS * len(datasets),
                cut if collect.finds_formula(method) else NOTHING,
                ", ".join(lacking) or "nothing",
            )
        )
    return lines


# ----------------------------------------------------------------------------------------- stops


def longest_proved(done: FoldResult) -> int:
    return max((row["length"] for row in done.lengths if row["proved"]), default=0)


def stops(study: Study) -> list[str]:
    """What ended the scans, how far they were proved, and what they cost, by method."""
    lines = [
        "| method | folds | stop reasons of the scans | longest proved length: least, median, most "
        "| final formulas proved | core-hours |",
        "|---|---:|---|---:|---:|---:|",
    ]
    for method in study.methods:
        groups = [group for group in study.groups.values() if group.method == method]
        done = [one for group in groups for one in group.results]
        hours = sum(row.core_hours for group in groups for row in group.rows)
        counts = Counter(one.stop_reason for one in done).most_common()
        ended = ", ".join(f"{count} {reason}" for reason, count in counts)
        proved = [longest_proved(one) for one in done]
        is_formula = collect.finds_formula(method)
        far = f"{min(proved)}, {median(proved):g}, {max(proved)}" if is_formula else NOTHING
        certain = sum(one.proved for one in done) if is_formula else NOTHING
        lines.append(row(label(method), len(done), ended, far, certain, f"{hours:.2f}"))
    return lines


def cut_scans(study: Study) -> list[str]:
    """Every scan that its budget ended: what it was given, and what was proved until then."""
    lines = [
        "| dataset | method | timed-out folds | time limit in s | threads "
        "| longest proved length |",
        "|---|---|---|---:|---:|---:|",
    ]
    for group in study.groups.values():
        cut = [row for row in group.rows if row.result and is_cut(row.result)]
        done = [row.result for row in cut if row.result]
        if not done:
            continue
        lines.append(
            row(
                group.dataset,
                label(group.method),
                number_ranges([row.fold for row in cut]),
                _range([one.seconds.scan for one in done]),
                _range([row.threads for row in cut]),
                _range([longest_proved(one) for one in done]),
            )
        )
    return lines


# --------------------------------------------------------------------------------------- plateau


def plateau(study: Study, other: Study) -> list[str]:
    """The paper's own end of a scan beside the product's, over the cells that both have."""
    lines = [
        "| dataset | method | accuracy, paper's rule | plateau | difference | size | plateau "
        "| seconds | plateau | timed-out scans | plateau |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    both = list(_both(study, other))
    for mine, theirs in both:
        lines.append(row(mine.group.dataset, label(mine.group.method), *_compared(mine, theirs)))
    if both:
        lines.append(row("mean", "", *_mean_compared(both)))
    return lines


def _both(study: Study, other: Study) -> Iterator[tuple[Beside, Beside]]:
    for one in besides(study):
        group = other.group(one.group.dataset_variant, one.group.method)
        if group is not None and one.group.finds_formula and len(group.results) == FOLDS:
            yield one, Beside(group)


def _compared(mine: Beside, theirs: Beside) -> Iterator[str]:
    seconds = [fmean(d.seconds.total for d in one.group.results) for one in (mine, theirs)]
    cut = [sum(map(is_cut, one.group.results)) for one in (mine, theirs)]
    yield from (f"{mine.mean:.1f}", f"{theirs.mean:.1f}", signed(theirs.mean - mine.mean))
    yield from (digits(mine.size), digits(theirs.size))
    yield from (f"{value:.1f}" for value in seconds)
    yield from map(str, cut)


def _mean_compared(both: Sequence[tuple[Beside, Beside]]) -> Iterator[str]:
    mine, theirs = (fmean(pair[n].mean for pair in both) for n in (0, 1))
    sizes = [fmean(pair[n].size or 0 for pair in both) for n in (0, 1)]
    seconds = [fmean(d.seconds.total for p in both for d in p[n].group.results) for n in (0, 1)]
    cut = [sum(is_cut(d) for p in both for d in p[n].group.results) for n in (0, 1)]
    yield from (f"{mine:.1f}", f"{theirs:.1f}", signed(theirs - mine))
    yield from (f"{value:.1f}" for value in (*sizes, *seconds))
    yield from map(str, cut)


def _range(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.0f}" if round(low) == round(high) else f"{low:.0f} to {high:.0f}"
