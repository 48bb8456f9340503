"""The paper's own example formulas on our rows, beside ours.

    python -m benchmarks.paper_formulas
    python -m benchmarks.paper_formulas --limit 0      the table of what is kept, nothing is run

The paper prints one formula for each dataset and method, found on rows that are not published, with
letters for columns. Its text names some of the letters; each other one is taken for the column that
makes the fewest errors on the fitted rows of our fold 0, which is the kindest reading. A formula
that is right more often when it is turned round was written for the other class. Beside it stand
our formula of the same fold, and the fewest errors that any formula of the paper's size can make
there (native, `--limit` processor seconds). Every formula is kept in `--out` as it is done;
what was not proved is tried again.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.result_cache import ResultCache, Results
from benchmarks.solvers import processor_limit
from fsm_hpc.data.columns import Kind
from fsm_hpc.data.median import median
from fsm_hpc.formulas.formula import Formula, Not, Proposition, Truth
from fsm_hpc.formulas.parser import parse
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Incumbent
from fsm_hpc.search.solvers.native import Native
from fsm_hpc.search.solvers.native.compiling import ensure_compiled
from fsm_hpc.study import result
from fsm_hpc.study.compose import compose
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold import prepare
from fsm_hpc.study.fold_id import FoldId

OUT = Path("results/benchmarks/paper_formulas.json")
Cut = tuple[float, ...] | None  # none: a Boolean; one: at least; two: an interval
MEDIAN: Cut = ()


@dataclass(frozen=True, slots=True)
class Example:
    """A formula as printed, with the cuts of its letters and the columns that the text names."""

    dataset: str
    method: str
    text: str
    cuts: dict[str, Cut]
    named: dict[str, str]


_BANK = {"p": "poutcome_success", "q": "duration"}
_CELLS = {"p": "bare_nuclei", "q": "clump_thickness", "r": "uniformity_of_cell_size"}
_DIABETES = {"p": "Age", "q": "Glucose"}
_STUDENT = {"p": "Curricular_units_2nd_sem_approved"}
_M = MEDIAN
EXAMPLES = (
    Example("bank", "interval", "p or q", {"p": None, "q": (794, 2769)}, _BANK),
    Example("bank", "pivot", "(p or q) and not r", {"p": None, "q": (767,), "r": None}, _BANK),
    Example("bank", "median", "q and (s or p)", {"q": _M, "s": None, "p": None}, _BANK),
    Example(
        *("breast_cancer", "interval", "p and q and r"),
        {"p": (1, 5), "q": (1, 6), "r": (1, 4)},
        _CELLS,
    ),
    Example(
        *("breast_cancer", "pivot", "not (p or q or r)"), {"p": (6,), "q": (7,), "r": (5,)}, _CELLS
    ),
    Example(
        *("breast_cancer", "median", "not ((q and s) or (p and t and u))"),
        dict.fromkeys("qsptu", _M),
        _CELLS,
    ),
    Example("diabetes", "interval", "p and q", {"p": (25, 60), "q": (128, 196)}, _DIABETES),
    Example(
        *("diabetes", "pivot", "q or (p and r and s)"),
        {"q": (158,), "p": (29,), "r": (27.6,), "s": (109,)},
        _DIABETES,
    ),
    Example("diabetes", "median", "s and p and (t or q)", dict.fromkeys("sptq", _M), _DIABETES),
    Example("german_credit", "interval", "p or q", {"p": None, "q": (4, 30)}, {}),
    Example("german_credit", "pivot", "not r", {"r": (10876,)}, {}),
    Example("german_credit", "median", "s or not (t and u)", dict.fromkeys("stu"), {}),
    Example(
        *("heart_disease", "interval", "p and (q or (r and s))"),
        {"p": (0.0, 2.6), "q": None, "r": None, "s": (176, 240)},
        {},
    ),
    Example("heart_disease", "pivot", "not t or (q and r)", dict.fromkeys("tqr"), {}),
    Example("heart_disease", "median", "q", {"q": None}, {}),
    Example("hepatitis", "interval", "p", {"p": (2.9, 6.4)}, {}),
    Example("hepatitis", "pivot", "q", {"q": None}, {}),
    Example("hepatitis", "median", "q", {"q": None}, {}),
    Example("student_dropout", "interval", "p or not q", {"p": (0, 2), "q": None}, _STUDENT),
    Example(
        *("student_dropout", "pivot", "not q and (p or not r)"),
        {"q": None, "p": (2,), "r": (1,)},
        _STUDENT,
    ),
    Example(
        *("student_dropout", "median", "not (p or (q and (s or t)))"),
        {"p": _M, "q": None, "s": None, "t": _M},
        _STUDENT,
    ),
)


# --------------------------------------------------------------------------------------- reading


@dataclass(frozen=True, slots=True)
class Reading:
    """A formula over columns, and how often it is wrong on the rows it was read for."""

    formula: Formula
    errors: int


def propositions(problem: Problem, cut: Cut) -> Iterator[Proposition]:
    """What a letter with such a cut may stand for, one for each column."""
    kind = Kind.BOOLEAN if cut is None else Kind.NUMERIC
    for column in (column for column in problem.columns if column.kind is kind):
        if cut is None:
            yield column.proposition
        elif cut == MEDIAN:
            yield Proposition.above(column.name, median(column.values))
        elif len(cut) == 1:
            yield Proposition.at_least(column.name, cut[0])
        else:
            yield Proposition.within(column.name, cut[0], cut[1])


def choices(example: Example, problem: Problem) -> Iterator[dict[str, Proposition]]:
    """Every way to give its letters columns, none of them twice."""
    options = []
    for letter, cut in example.cuts.items():
        wanted = example.named.get(letter)
        options.append([p for p in propositions(problem, cut) if wanted in (None, p.column)])
    for chosen in product(*options):
        if len({p.column for p in chosen}) == len(chosen):
            yield dict(zip(example.cuts, chosen, strict=True))


def read(example: Example, problem: Problem) -> Reading:
    """Letters without a name are read as kindly as can be, and so is the class."""
    shape, truths = parse(example.text), dict[Proposition, Truth]()
    best: Reading | None = None
    for chosen in choices(example, problem):
        for p in chosen.values():
            if p not in truths:
                truths[p] = p.evaluate(problem.table)
        said = shape.evaluate({letter: truths[p] for letter, p in chosen.items()})
        wrong = int(np.count_nonzero(said != problem.labels))
        if best is None or min(wrong, problem.rows - wrong) < best.errors:
            formula = _spelt(example.text, chosen)
            is_turned = problem.rows - wrong < wrong
            best = Reading(Not(formula) if is_turned else formula, min(wrong, problem.rows - wrong))
    assert best is not None  # every letter has a column
    return best


def _spelt(text: str, chosen: dict[str, Proposition]) -> Formula:
    return parse(re.sub(r"\b[p-u]\b", lambda found: f"({chosen[found[0]]})", text))


# ------------------------------------------------------------------------------------- measuring


def measured(example: Example, limit_s: float) -> Results:
    """The paper's formula on the rows of fold 0, and what is possible there at its size."""
    words = [f"dataset={example.dataset}", f"method={example.method}", "fold=0"]
    fold = prepare(compose(["+experiment=paper", *words]))
    fitted, test = fold.problem(fold.rows.fitted), fold.problem(fold.rows.test)
    everything = fold.problem(np.arange(len(fold.dataset.labels)))
    theirs = read(example, fitted)
    size = parse(example.text).size
    with processor_limit(limit_s) as control:
        best = Native(1).solve(fitted, size, Incumbent(), control)
    return {
        "formula": str(theirs.formula),
        "size": size,
        "errors": theirs.errors,
        "right": test.accuracy(theirs.formula),
        "all_rows": everything.accuracy(theirs.formula),
        "fewest": best.errors if best.proved else None,
    }


def ours(study: Path, example: Example) -> Results | None:
    """The formula of the same fold that a study keeps, if it has that fold."""
    place = StudyPaths(study).fold(FoldId(example.dataset, example.method, 0))
    done = result.read(place.result)
    if done is None or done.formula is None:
        return None
    right = done.accuracy.test
    return {"formula": done.formula, "size": done.size, "errors": done.errors, "right": right}


def table(kept: Results, study: Path) -> list[str]:
    """Two lines for each example: the paper's formula, and ours."""
    lines = [
        "| dataset | method | source | formula | size | errors on fitted rows "
        "| accuracy on held-out rows, % | on all rows, % | least errors at the paper's size |",
        "|---|---|---|---|---:|---:|---:|---:|---:|",
    ]
    for example in EXAMPLES:
        one = kept.get(f"{example.dataset} {example.method}")
        if one is None:
            continue
        fewest = "not proved" if one["fewest"] is None else one["fewest"]
        figures = f"{_figures(one)} {100 * one['all_rows']:.1f} | {fewest}"
        lines.append(f"| {example.dataset} | {example.method} | paper {figures} |")
        beside = ours(study, example)
        if beside is not None:
            lines.append(f"| | | ours {_figures(beside)} | |")
    proved = [one for one in kept.values() if one["fewest"] is not None]
    best = sum(one["errors"] == one["fewest"] for one in proved)
    told = f"{best} of the paper's {len(kept)} formulas are optima of their size on our rows, too"
    open_ones = len(kept) - len(proved)
    limited = f"; {open_ones} could not be told in the time given" if open_ones else ""
    return [*lines, "", f"{told}{limited}."]


def _figures(one: Results) -> str:
    return f"| `{one['formula']}` | {one['size']} | {one['errors']} | {100 * one['right']:.1f} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.paper_formulas", description=__doc__
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--limit", type=float, default=20.0, help="processor seconds of a proof")
    parser.add_argument("--study", type=Path, default=Path("results/paper"), help="ours")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args(arguments)
    cache = ResultCache(given.out)
    if given.limit:
        ensure_compiled()
        for example in EXAMPLES:
            name = f"{example.dataset} {example.method}"
            kept = cache.results.get(name)
            if kept is None or kept["fewest"] is None:
                cache.keep(name, measured(example, given.limit))
    print("\n".join(table(cache.results, given.study)))


if __name__ == "__main__":
    main()
