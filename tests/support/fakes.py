"""Stand-ins that keep the contract: a deterministic solver, and one that stops where told."""

from __future__ import annotations

from dataclasses import dataclass, field

from fsm_hpc.formulas.formula import Atom, Formula, Not, Or
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, End, Incumbent, Outcome


@dataclass
class LadderSolver:
    """Deterministic and quick: the best of a fixed ladder of formulas, one rung a length."""

    name: str = "ladder"
    ends: dict[int, End] = field(default_factory=dict)  # call number -> how that call ends
    calls: list[tuple[int, Incumbent]] = field(default_factory=list)

    def solve(self, problem: Problem, length: int, start: Incumbent, control: Control) -> Outcome:
        self.calls.append((length, start))
        best = min(ladder(problem, length), key=lambda f: (problem.errors(f), f.size, str(f)))
        errors = problem.errors(best)
        control.report(Incumbent(best, errors, max(length - 1, 0), 0))
        end = control.reason_to_end() or self.ends.get(len(self.calls) - 1, End.PROVED)
        proved = length if end is End.PROVED else length - 1
        return Outcome(best, errors, errors if end is End.PROVED else 0, proved, end, self.name)

    def close(self) -> None:
        """Nothing to give back."""


def ladder(problem: Problem, length: int) -> list[Formula]:
    """Some formulas of size <= length: literals, and growing disjunctions of the first columns."""
    atoms: list[Formula] = [Atom(b.proposition) for b in problem.booleans]
    for numeric in problem.numerics:
        atoms += [Atom(numeric.proposition(rank)) for rank in range(len(numeric.thresholds))]
    longer = [Or(*atoms[:count]) for count in range(2, len(atoms) + 1)]
    candidates = [*atoms, *(Not(atom) for atom in atoms), *longer, *(Not(f) for f in longer)]
    return [formula for formula in candidates if formula.size <= length]
