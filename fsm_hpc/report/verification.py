"""Verify formulas with the independent checker, and keep the outcomes."""

from __future__ import annotations

import hashlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fsm_hpc import checker
from fsm_hpc.errors import UserError
from fsm_hpc.report.alternatives.rule import FittedRule, read_rule
from fsm_hpc.search.claim import claim_of, write_claim
from fsm_hpc.system import serialization

FORMAT = 1
NAME = "verification.json"
VERIFIED = "verified"
_ENDS = {0: VERIFIED, **dict(enumerate(checker.OUTCOMES, start=1))}
_FINAL = {VERIFIED, checker.REFUTED, checker.NOT_CHECKABLE}
# one thread, so that processor seconds are comparable and claims can be checked side by side
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class Verification:
    """What the checker found out about one formula."""

    claim: str  # SHA-256 of the claim file
    outcome: str
    reason: str
    checker: int  # its version
    processor_s: float

    @property
    def is_final(self) -> bool:
        """Whether this version of the checker has nothing to add, however long it runs."""
        return self.outcome in _FINAL and self.checker == checker.VERSION


@dataclass(frozen=True, slots=True)
class PreparedClaim:
    """A claim file, with what orders claims by their expected cost."""

    name: str
    path: Path
    digest: str
    bound: int
    cells: int

    @staticmethod
    def write(name: str, rule: FittedRule, path: Path) -> PreparedClaim:
        claim = claim_of(rule.problem, rule.formula, rule.bound)
        write_claim(path, claim)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        return PreparedClaim(
            name, path, digest, rule.bound, len(claim["columns"]) * len(claim["labels"])
        )


def verify(claim: PreparedClaim, budget_s: float) -> Verification:
    """Run the checker as a program of its own."""
    arguments = [str(claim.path), "--budget", str(budget_s)]
    command = [sys.executable, "-I", str(Path(checker.__file__)), *arguments]
    before_s = _processor_s()
    ended = subprocess.run(
        command, env={**os.environ, **_ONE_THREAD}, capture_output=True, text=True, check=False
    )
    outcome = _ENDS.get(ended.returncode)
    if outcome is None or ended.stderr:
        raise UserError(f"the checker failed on {claim.name}: {ended.stderr.strip()[-500:]}")
    reason = ended.stdout.strip().removeprefix(f"{outcome}: ")
    seconds = round(_processor_s() - before_s, 1)
    return Verification(claim.digest, outcome, reason, checker.VERSION, seconds)


def _processor_s() -> float:
    """The time that ended child processes had of a processor."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def verify_one(path: Path, words: list[str], budget_s: float) -> Verification:
    """Verify the formula of a model.json, or of a fold."""
    with tempfile.TemporaryDirectory() as folder:
        claim = PreparedClaim.write(
            str(path), read_rule(path, words), Path(folder) / "claim.json.gz"
        )
        return verify(claim, budget_s)


def verify_folds(
    study: Path,
    names: Iterable[str],
    words: list[str],
    budget_s: float,
    each_s: float,
    notify: Callable[[str], None],
) -> dict[str, Verification | None]:
    """Verify the proved formulas of these folds, the cheapest claims first; keep each outcome.

    `words` say where tables are. What is verified or refuted already is not checked again; the
    same call resumes. None stands for a claim that there was no time for.
    """
    kept = read(study)
    with tempfile.TemporaryDirectory() as folder:
        claims = list(_prepare(study, names, words, Path(folder), notify))
        claims.sort(key=lambda claim: (claim.bound, claim.cells))
        end = time.monotonic() + budget_s
        for number, claim in enumerate(claims, start=1):
            known = kept.get(claim.name)
            if known is not None and known.is_final and known.claim == claim.digest:
                continue
            left_s = end - time.monotonic()
            if left_s <= 0:
                notify("the budget is used up; the same command resumes")
                break
            kept[claim.name] = done = verify(claim, min(left_s, each_s))
            write(study, kept)
            notify(
                f"{number} of {len(claims)}: {claim.name}: {done.outcome} ({done.processor_s} s)"
            )
    return {claim.name: kept.get(claim.name) for claim in claims}


def _prepare(
    study: Path, names: Iterable[str], words: list[str], folder: Path, notify: Callable[[str], None]
) -> Iterator[PreparedClaim]:
    for number, name in enumerate(names):
        try:
            rule = read_rule(study / name, words)
        except UserError as error:
            notify(f"{name} is left out: {error}")
            continue
        if rule.proved:
            yield PreparedClaim.write(name, rule, folder / f"{number}.json.gz")


# ---------------------------------------------------------------------------------------- outcomes


@dataclass(frozen=True, slots=True)
class _Outcomes:
    """verification.json."""

    folds: dict[str, Verification] = field(default_factory=dict)


def read(study: Path) -> dict[str, Verification]:
    """The outcomes that a study has kept, by the folder of the fold."""
    saved = serialization.load(_Outcomes, study / NAME, FORMAT)
    return {} if saved is None else saved.folds


def write(study: Path, outcomes: Mapping[str, Verification]) -> None:
    ordered = {name: outcomes[name] for name in sorted(outcomes)}
    serialization.write(study / NAME, FORMAT, _Outcomes(ordered))
