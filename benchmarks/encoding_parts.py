"""What each part of the shipped encoding and each solver option is worth, in conflicts and time."""

from __future__ import annotations

import argparse
import math
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.encodings import INSTANCES, problem_of
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, Incumbent
from fsm_hpc.search.solvers.clingo.facts import Instance
from fsm_hpc.search.solvers.clingo.solver import ClingoDl
from fsm_hpc.search.solvers.clingo.worker import Job


@dataclass(frozen=True, slots=True)
class Variation:
    """The shipped encoding with a part left out, or with other options."""

    name: str
    without: str = ""
    options: tuple[str, ...] = ()
    keeps_heuristic: bool = True


VARIATIONS = (
    Variation("as shipped"),
    Variation("without heuristic.lp", keeps_heuristic=False),
    Variation("without canonical.lp", without="canonical"),
    Variation("--configuration=handy", options=("--configuration=handy",)),
    Variation("--configuration=crafty", options=("--configuration=crafty",)),
    Variation("--configuration=trendy", options=("--configuration=trendy",)),
    Variation("--opt-strategy=bb,inc", options=("--opt-strategy=bb,inc",)),
    Variation("--opt-strategy=usc", options=("--opt-strategy=usc",)),
)


class VariedClingoDl(ClingoDl):
    """The solver with a variation of its encoding, on one thread."""

    def __init__(self, variation: Variation, folder: Path) -> None:
        super().__init__(threads=1)
        self._variation = variation
        self._folder = folder

    def job(self, instance: Instance, length: int, bound: int | None) -> Job:
        job = super().job(instance, length, bound)
        varied = self._variation
        options = (*job.options, *varied.options) if varied.keeps_heuristic else varied.options
        return replace(job, entry=self._entry(Path(job.entry)), options=options)

    def _entry(self, shipped: Path) -> str:
        lines = shipped.read_text(encoding="utf-8").replace('e "', f'e "{shipped.parent}/')
        kept = [x for x in lines.splitlines() if f"/{self._variation.without}.lp" not in x]
        entry = self._folder / shipped.name
        entry.write_text("\n".join(kept) + "\n", encoding="utf-8")
        return str(entry)

    def processor_s(self) -> float:
        """What the worker has used so far."""
        fields = Path(f"/proc/{self.worker_pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(
    variation: Variation, problem: Problem, length: int, limit_s: float
) -> tuple[float, int] | None:
    """Processor seconds and conflicts to the proved optimum; None where it is not reached."""
    with tempfile.TemporaryDirectory() as folder:
        solver = VariedClingoDl(variation, Path(folder))
        deadline = time.monotonic() + limit_s
        outcome = solver.solve(problem, length, Incumbent(), Control(deadline=deadline))
        found = (solver.processor_s(), solver.conflicts) if outcome.proved else None
        solver.close()
    return found


def mean_ratio(values: Sequence[float], base: Sequence[float]) -> float:
    logs = [math.log((v + 1e-9) / (b + 1e-9)) for v, b in zip(values, base, strict=True)]
    return math.exp(sum(logs) / len(logs))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.encoding_parts", description=__doc__
    )
    parser.add_argument("--limit-s", type=float, default=60.0, help="for each instance")
    options = parser.parse_args(arguments)
    problems = [(problem_of(dataset, method), length) for dataset, method, length in INSTANCES]
    titles = [f"{dataset[:2]}-{method[:3]}-{length}" for dataset, method, length in INSTANCES]
    print(
        f"{'conflicts':25}" + "".join(f"{t:>10}" for t in titles) + "  mean ratio: conflicts, time"
    )
    shipped: list[tuple[float, int]] = []
    for variation in VARIATIONS:
        tried = [measure(variation, p, length, options.limit_s) for p, length in problems]
        cells = "".join(f"{'unproved' if t is None else t[1]:>10}" for t in tried)
        found = [t for t in tried if t is not None]
        shipped = shipped or found
        ratios = ""
        if len(found) == len(shipped):
            conflicts, seconds = (
                mean_ratio([t[i] for t in found], [t[i] for t in shipped]) for i in (1, 0)
            )
            ratios = f"{conflicts:>23.2f}{seconds:>6.2f}"
        print(f"{variation.name:25}{cells}{ratios}", flush=True)


if __name__ == "__main__":
    main()
