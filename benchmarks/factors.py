"""What improves the accuracy of pivot formulas: one setting at a time changed.

    python -m benchmarks.factors run [OVERRIDE ...]   run `+experiment=factors`, resumable
    python -m benchmarks.factors                      print the table of docs/peers.md

The reference has the settings of `+experiment=peers`. Every factor is a variant of the same study,
on the same folds. Differences are in points; p-values are corrected by Holm for all factors.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

from benchmarks.reproduction import ROOT
from benchmarks.study_tables import FOLDS, digits, is_cut, read, row, signed, sweep_of
from fsm_hpc.report import significance
from fsm_hpc.report.collect import FoldGroup, Study
from fsm_hpc.study import variants

STUDY, METHOD = "factors", "pivot"
FACTORS = (
    "scan.splits=5",
    "objective=balanced",
    "cuts=midpoints",
    "cuts=quantiles",
    *("language=xor", "language=implies", "language=dnf", "language=cnf", "language=at_least"),
    "rule.min_support=10",
    "scan.max_length=14",
)
METRICS = ("accuracy", "balanced_accuracy")


@dataclass(frozen=True, slots=True)
class Gain:
    """A factor minus the reference: one mean difference per table, in points."""

    points: tuple[float, ...]

    @property
    def mean(self) -> float:
        return fmean(self.points)

    @property
    def half_width(self) -> float:
        """Of the 95 % confidence interval of the mean over the tables."""
        from scipy.stats import t

        count = len(self.points)
        error = stdev(self.points) / math.sqrt(count) if count > 1 else math.inf
        return float(t.ppf(1 - significance.LEVEL / 2, max(1, count - 1))) * error

    @property
    def p(self) -> float:
        """Of Wilcoxon's signed ranks."""
        from scipy.stats import wilcoxon

        return float(wilcoxon(self.points).pvalue) if any(self.points) else 1.0

    def __str__(self) -> str:
        ends = (self.mean - self.half_width, self.mean + self.half_width)
        return f"{signed(self.mean, 2)} ({signed(ends[0], 2)} to {signed(ends[1], 2)})"


def groups_of(study: Study, factor: str) -> list[FoldGroup]:
    """The complete groups of a factor; of the reference if it is empty."""
    complete = [group for group in study.groups.values() if len(group.results) == FOLDS]
    return [group for group in complete if _is_of(group.variant, factor)]


def _is_of(variant: str, factor: str) -> bool:
    """Whether a variant changes this factor, and at most details of it: cuts, cuts.n."""
    settings = variants.parsed(variant)
    key, _, value = factor.partition("=")
    others = [name for name in settings if name != key and not name.startswith(f"{key}.")]
    return not others if key and settings.get(key) == value else not key and not settings


def gain(study: Study, factor: str, metric: str) -> Gain | None:
    """The differences over the tables that factor and reference have; None without any."""
    reference = {group.dataset: group for group in groups_of(study, "")}
    points = [
        fmean(differences)
        for group in groups_of(study, factor)
        if group.dataset in reference
        and (differences := group.gains_over(reference[group.dataset], metric))
    ]
    return Gain(tuple(points)) if points else None


def table(study: Study) -> list[str]:
    """Every factor: gains with confidence intervals, corrected p-values, size and time limits."""
    gains = {f: tuple(gain(study, f, metric) for metric in METRICS) for f in FACTORS}
    known = {f: pair for f, pair in gains.items() if pair[0] is not None}
    columns = [_adjusted([pair[n] for pair in known.values()]) for n in range(len(METRICS))]
    lines = [
        "| factor | tables | accuracy: gain (95 % CI) | p, Holm | balanced accuracy: gain (95 % CI)"
        " | p, Holm | average size | scans with time limit reached |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    lines.append(_line("reference", groups_of(study, ""), *[""] * 4))
    for number, (factor, pair) in enumerate(known.items()):
        cells = [text for n, g in enumerate(pair) for text in (str(g), columns[n][number])]
        lines.append(_line(f"`{factor}`", groups_of(study, factor), *cells))
    missing = [f"`{factor}`" for factor in FACTORS if factor not in known]
    return [*lines, "", _progress(study, missing)]


def _adjusted(gains: Sequence[Gain | None]) -> list[str]:
    return [f"{p:.3f}" for p in significance.holm([g.p if g else 1.0 for g in gains])]


def _line(name: str, groups: Sequence[FoldGroup], *cells: str) -> str:
    results = [done for group in groups for done in group.results]
    sizes = [float(done.size) for done in results if done.size is not None]
    return row(
        name,
        len(groups),
        *cells,
        digits(fmean(sizes) if sizes else None),
        sum(map(is_cut, results)),
    )


def _progress(study: Study, missing: Sequence[str]) -> str:
    total = len(sweep_of(STUDY)[0]) * FOLDS * (1 + len(FACTORS))
    finished = sum(len(group.results) for group in study.groups.values())
    rest = f" Without results: {', '.join(missing)}." if missing else ""
    return f"{finished} of {total} folds are finished.{rest}"


def block(results: Path) -> list[str]:
    """The table; a sentence while no fold is finished."""
    if not (results / STUDY).is_dir():
        return ["No fold is finished."]
    return table(read(results, STUDY))


def run(overrides: Sequence[str]) -> int:
    """Run the reference first, which defines the plain variant, then every factor."""
    command = [sys.executable, "-m", "fsm_hpc", f"+experiment={STUDY}", "-m", "--wait"]
    for factor in ("", *FACTORS):
        ended = subprocess.run([*command, *filter(None, [factor]), *overrides], check=False)
        if ended.returncode == 130:  # interrupted; the same command resumes
            return ended.returncode
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.factors", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("command", nargs="?", choices=["run"])
    parser.add_argument("overrides", nargs="*", help="for every run: cluster=local data_dir=...")
    parser.add_argument("--results", type=Path, default=ROOT / "results")
    given = parser.parse_args()
    if given.command == "run":
        return run(given.overrides)
    print("\n".join(block(given.results)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
