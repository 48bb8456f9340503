"""Two solvers, one truth: every length that clingo-dl proves, native proves with the same figures.

    python -m benchmarks.agreement --limit 600
    python -m benchmarks.agreement --limit 0      the table of what is kept, nothing is run

The training part of fold 0 of every dataset and method. clingo-dl goes from length to length, each
from its own formula of the length before, until `--limit` seconds of wall time have gone into the
cell; native goes up the same lengths in the same way, knows nothing that clingo-dl found, and has
as long. What is done is kept in `--out` after every length; a larger limit goes on from there. Exit
code 1 if two figures differ.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.encodings import problem_of
from benchmarks.result_cache import ResultCache
from benchmarks.solvers import DATASETS, METHODS
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.parser import parse
from fsm_hpc.search.checking import checked
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, Incumbent, Outcome
from fsm_hpc.search.solvers.clingo.solver import ClingoDl
from fsm_hpc.search.solvers.names import Encoding
from fsm_hpc.search.solvers.native import Native
from fsm_hpc.search.solvers.native.compiling import ensure_compiled

OUT = Path("results/benchmarks/agreement.json")
Keep = Callable[["AgreementCell"], None]
LONGEST = 30  # a table that is told apart without error has no end of its own


@dataclass(frozen=True, slots=True)
class Proof:
    """One length that clingo-dl has proved, with native's answer beside it."""

    length: int
    errors: int
    size: int
    formula: str
    native_errors: int | None  # None: native has not proved it in the time that clingo-dl has
    native_size: int | None
    seconds: float  # of clingo-dl, wall time
    native_s: float

    @property
    def is_of_both(self) -> bool:
        return self.native_errors is not None

    @property
    def agrees(self) -> bool:
        """Whether native does not contradict it."""
        told = (self.native_errors, self.native_size)
        return not self.is_of_both or told == (self.errors, self.size)

    @property
    def figures(self) -> str:
        return f"{self.errors}/{self.size}" + ("" if self.is_of_both else "*")


@dataclass(frozen=True, slots=True)
class AgreementCell:
    """What one dataset and method has come to."""

    proofs: tuple[Proof, ...] = ()
    given_s: float = 0.0  # the largest limit that clingo-dl was given
    unproved_s: float = 0.0  # that the first length without a proof took of it

    @staticmethod
    def of(kept: dict[str, Any] | None) -> AgreementCell:
        if kept is None:
            return AgreementCell()
        proofs = tuple(Proof(**proof) for proof in kept["proofs"])
        return AgreementCell(proofs, kept["given_s"], kept["unproved_s"])

    @property
    def used_s(self) -> float:
        return sum(proof.seconds for proof in self.proofs)

    @property
    def agrees(self) -> bool:
        return all(proof.agrees for proof in self.proofs)


class Climb:
    """Native's way up: each length from its own formula of the length before, as clingo-dl's."""

    def __init__(self, problem: Problem, limit_s: float) -> None:
        self._problem, self._left_s = problem, limit_s
        self._native, self._best = Native(1), Incumbent()

    def beside(self, theirs: Proof) -> Proof:
        """The next length, with native's answer to it."""
        started = time.monotonic()
        control = Control(deadline=started + self._left_s)
        ours = self._native.solve(self._problem, theirs.length, self._best, control)
        seconds = time.monotonic() - started
        self._left_s -= seconds
        self._best = ours.incumbent
        return replace(
            theirs,
            native_errors=ours.errors if ours.proved else None,
            native_size=ours.formula.size if ours.proved else None,
            native_s=round(seconds, 3),
        )


def proved_further(problem: Problem, before: AgreementCell, limit_s: float, keep: Keep) -> None:
    """Prove length after length until the limit; `keep` gets the cell after each."""
    clingo, native = ClingoDl(1, Encoding.FAST), Climb(problem, limit_s)
    cell = replace(before, proofs=tuple(map(native.beside, before.proofs)))
    try:
        while len(cell.proofs) < LONGEST and not is_perfect(problem, cell):
            started = time.monotonic()
            length = len(cell.proofs) + 1
            deadline = Control(deadline=started + limit_s - cell.used_s)
            theirs = clingo.solve(problem, length, _incumbent(cell), deadline)
            seconds = time.monotonic() - started
            if not theirs.proved:
                keep(AgreementCell(cell.proofs, limit_s, seconds))
                return
            proof = native.beside(_proof(length, checked(problem, length, theirs), seconds))
            cell = AgreementCell((*cell.proofs, proof), before.given_s)  # not yet all of the limit
            keep(cell)
        keep(AgreementCell(cell.proofs, limit_s))
    finally:
        clingo.close()


def is_perfect(problem: Problem, cell: AgreementCell) -> bool:
    """Whether no further length can bring anything."""
    return bool(cell.proofs) and cell.proofs[-1].errors == problem.fewest_errors


def _incumbent(cell: AgreementCell) -> Incumbent:
    if not cell.proofs:
        return Incumbent()
    last = cell.proofs[-1]
    return Incumbent(parse(last.formula), last.errors, last.length)


def _proof(length: int, theirs: Outcome, seconds: float) -> Proof:
    formula = theirs.formula
    return Proof(
        length, theirs.errors, formula.size, str(formula), None, None, round(seconds, 2), 0.0
    )


def table(cells: dict[str, AgreementCell]) -> list[str]:
    """One line for each cell: errors/size of every length, and whether both solvers say so."""
    lines = [
        "| dataset | method | limit s | lengths | clingo-dl s | native s | errors/size, length by "
        "length | same |",
        "|---|---|---:|---:|---:|---:|---|---|",
    ]
    for name, cell in cells.items():
        dataset, method = name.split()
        figures = " ".join(proof.figures for proof in cell.proofs)
        native_s = sum(proof.native_s for proof in cell.proofs)
        lines.append(
            f"| {dataset} | {method} | {cell.given_s:g} | {len(cell.proofs)} | {cell.used_s:.1f} "
            f"| {native_s:.2f} | {figures} | {same_of(cell)} |"
        )
    return [*lines, "", *_summary([proof for cell in cells.values() for proof in cell.proofs])]


def _summary(proofs: Sequence[Proof]) -> Iterator[str]:
    both = [proof for proof in proofs if proof.is_of_both]
    same = sum(proof.agrees for proof in both)
    yield f"{same} of {len(both)} lengths have the same errors and the same size."
    if len(both) < len(proofs):
        alone = len(proofs) - len(both)
        yield f"{alone} more, with a star, native has not proved in the time that clingo-dl has."


def same_of(cell: AgreementCell) -> str:
    return "NO" if not cell.agrees else "yes" if cell.proofs else "nothing proved"


def kept_cells(path: Path) -> dict[str, AgreementCell]:
    """The cells of a file, in the order of datasets and methods."""
    kept = ResultCache(path).results
    names = [f"{dataset} {method}" for dataset in DATASETS for method in METHODS]
    return {name: AgreementCell.of(kept[name]) for name in names if name in kept}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agreement", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--datasets", nargs="+", default=DATASETS, choices=DATASETS)
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for each cell")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args(arguments)
    if given.limit:
        ensure_compiled()  # before any clock runs
        for dataset in given.datasets:
            for method in given.methods:
                _cell(ResultCache(given.out), dataset, method, given.limit)
    cells = kept_cells(given.out)
    print("\n".join(table(cells)))
    return int(not all(cell.agrees for cell in cells.values()))


def _cell(cache: ResultCache, dataset: str, method: str, limit_s: float) -> None:
    name = f"{dataset} {method}"
    before = AgreementCell.of(cache.results.get(name))
    if before.given_s >= limit_s:
        return
    try:
        problem = problem_of(dataset, method)
    except UserError as error:
        print(f"{name} left out: {str(error).splitlines()[0]}", file=sys.stderr)
        return
    proved_further(problem, before, limit_s, lambda cell: cache.keep(name, asdict(cell)))


if __name__ == "__main__":
    sys.exit(main())
