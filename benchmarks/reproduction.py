"""The tables of docs/reproduction.md and docs/more.md, from what the repository keeps.

    python -m benchmarks.reproduction            print them
    python -m benchmarks.reproduction --write    put them into the pages
    python -m benchmarks.reproduction --figure   draw the figure of the first page anew

Everything comes from results/paper, results/paper_plateau, results/more and the experiments in
results/benchmarks, so the same files give the same bytes; nothing is run. A page has a table
between `<!-- begin NAME -->` and `<!-- end NAME -->`; the text around it is written by hand.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import numpy as np

from benchmarks import (
    agreement,
    more_tables,
    paper_formulas,
    scan_tables,
    seeds,
    study_tables,
    ties,
    verification_tables,
)
from benchmarks.result_cache import ResultCache, Results
from benchmarks.study_tables import Beside, signed
from fsm_hpc.report import significance
from fsm_hpc.report.collect import Study, finds_formula, label

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "docs" / "reproduction.md", ROOT / "docs" / "more.md")
FIGURE = ROOT / "docs" / "figures" / "reproduction.svg"
_BLOCK = re.compile(r"(<!-- begin ([a-z_]+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)
Block = Callable[[], list[str]]


class Kept:
    """The studies and experiments of the repository, each read when it is first asked for."""

    def __init__(self, results: Path) -> None:
        self._results = results
        self._studies: dict[str, Study] = {}

    def study(self, name: str) -> Study:
        if name not in self._studies:
            self._studies[name] = study_tables.read(self._results, name)
        return self._studies[name]

    def experiment(self, name: str) -> Results:
        return ResultCache(self.experiments / f"{name}.json").results

    @property
    def experiments(self) -> Path:
        return self._results / "benchmarks"

    @property
    def paper(self) -> Path:
        return self._results / "paper"


def blocks(kept: Kept) -> dict[str, Block]:
    """Every table by the name that pages call it."""

    def paper() -> Study:
        return kept.study("paper")

    return {
        "coverage": lambda: scan_tables.coverage(paper()),
        "headline": lambda: study_tables.headline(paper()),
        "means": lambda: study_tables.means(paper()),
        "cells": lambda: study_tables.cells(paper()),
        "beyond": lambda: beyond(study_tables.besides(paper()), kept),
        "stops": lambda: scan_tables.stops(paper()),
        "cut_scans": lambda: scan_tables.cut_scans(paper()),
        "plateau": lambda: scan_tables.plateau(paper(), kept.study("paper_plateau")),
        "against": lambda: against(paper()),
        "plateau_against": lambda: against(kept.study("paper_plateau")),
        "plateau_stops": lambda: scan_tables.stops(kept.study("paper_plateau")),
        "examples": lambda: paper_formulas.table(kept.experiment("paper_formulas"), kept.paper),
        "fold_seeds": lambda: seeds.table(kept.experiment("seeds"), "folds"),
        "refits": lambda: seeds.table(kept.experiment("seeds"), "refits"),
        "reshuffled": lambda: seeds.reshuffled_table(kept.experiment("seeds")),
        "swaps": lambda: seeds.table(kept.experiment("seeds"), "swaps"),
        "tuning": lambda: seeds.table(kept.experiment("seeds"), "tuning"),
        "ties": lambda: ties.table(kept.experiment("ties")),
        "agreement": lambda: agreement.table(
            agreement.kept_cells(kept.experiments / "agreement.json")
        ),
        "verified": lambda: verification_tables.cells(kept.paper),
        "unverified": lambda: verification_tables.unfinished(kept.paper),
        "more_coverage": lambda: scan_tables.coverage(kept.study("more")),
        "more_cells": lambda: more_tables.cells(kept.study("more")),
        "more_stops": lambda: scan_tables.stops(kept.study("more")),
        "more_cut_scans": lambda: scan_tables.cut_scans(kept.study("more")),
    }


# ---------------------------------------------------------------------------------------- beyond


def beyond(found: Sequence[Beside], kept: Kept) -> list[str]:
    """Cells that are more than two points or two standard errors off, with what moves them."""
    lines = [
        "| dataset | method | ours | paper | difference | in standard errors "
        "| variation by chance |",
        "|---|---|---:|---:|---:|---:|---|",
    ]
    for one in (one for one in found if one.is_beyond):
        told = "; ".join(_moved(one, kept)) or "no experiment"
        lines.append(
            f"| {one.group.dataset} | {label(one.group.method)} | {one.mean:.1f} "
            f"| {one.theirs[0]:.1f} | {signed(one.difference)} "
            f"| {signed(one.standard_errors)} | {told} |"
        )
    return lines


def _moved(one: Beside, kept: Kept) -> Iterator[str]:
    """How far each experiment moves the mean of the cell's ten folds."""
    name, theirs = f"{one.group.dataset} {one.group.method}", one.theirs[0]
    said = {
        "folds": "other folds",
        "refits": "other folds, refitted",
        "swaps": "parameters of other folds",
        "tuning": "tuned anew",
    }
    for step, words in said.items():
        for cell, runs in seeds.cells(kept.experiment("seeds"), step):
            if cell == name:
                means = [100 * fmean(run["right"]) for run in runs]
                yield _told(f"{words} ({len(means)} runs)", means, theirs)
                if step in ("folds", "refits"):
                    yield _told(
                        f"{words}, shuffled again for each fold", seeds.reshuffled(runs), theirs
                    )
    for dataset, method, folds in ties.cells(kept.experiment("ties")):
        if f"{dataset} {method}" == name:
            drawn = 100 * np.mean([fold["drawn"]["right"] for fold in folds], axis=0)
            yield _told(f"ties ({len(drawn)} draws)", drawn.tolist(), theirs)


def _told(words: str, means: Sequence[float], theirs: float) -> str:
    reach = "" if min(means) <= theirs <= max(means) else ", without the paper's mean"
    return f"{words}: {min(means):.1f} to {max(means):.1f}{reach}"


def against(study: Study) -> list[str]:
    """Formula methods against baselines over datasets, as `collect --compare` tests them."""
    found = significance.overall(study.methods, significance.differences(study, "accuracy"))
    lines = [
        "| method | against | datasets | mean difference | better on | worse on | p | p, Holm |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for one in found:
        if finds_formula(one.first) and not finds_formula(one.second):
            lines.append(
                f"| {label(one.first)} | {label(one.second)} | {len(one.differences)} "
                f"| {signed(one.mean)} | {one.better_on} | {one.worse_on} | {one.p:.2f} "
                f"| {one.adjusted:.2f} |"
            )
    return lines


# ----------------------------------------------------------------------------------------- pages


def rewritten(page: str, known: dict[str, Block]) -> str:
    """The page with every table made anew."""

    def anew(found: re.Match[str]) -> str:
        return "\n".join((found[1].rstrip("\n"), *known[found[2]](), found[3]))

    return _BLOCK.sub(anew, page)


def draw(study: Study, figure: Path) -> None:
    """The bars of accuracy with the paper's marks, as `collect --plots` draws them."""
    from fsm_hpc.report.figures import files

    bare = tuple(replace(row, lengths=()) for row in study.rows)  # no figure of each scan
    with tempfile.TemporaryDirectory() as folder:
        files.write(Path(folder), Study(study.name, bare), paper=True)
        shutil.copyfile(Path(folder) / "accuracy.svg", figure)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reproduction", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--write", action="store_true", help="into the pages")
    parser.add_argument("--figure", action="store_true", help="draw it")
    parser.add_argument("--results", type=Path, default=ROOT / "results")
    given = parser.parse_args(arguments)
    kept = Kept(given.results)
    known = blocks(kept)
    if given.figure:
        draw(kept.study("paper"), FIGURE)
    if given.write:
        for page in PAGES:
            page.write_text(rewritten(page.read_text(encoding="utf-8"), known), encoding="utf-8")
    if given.write or given.figure:
        return
    for name, made in known.items():
        print(f"{name}\n\n" + "\n".join(made()) + "\n")


if __name__ == "__main__":
    main()
