"""Verify formulas with the independent checker, and keep the outcomes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from fsm_hpc import checker
from fsm_hpc.errors import UserError
from fsm_hpc.models import card
from fsm_hpc.models import model as model_file
from fsm_hpc.report import explain
from fsm_hpc.report.alternatives.rule import FittedRule, read_rule
from fsm_hpc.search.claim import claim_of, digest_of, write_claim
from fsm_hpc.search.proof import VERIFIED, Verification
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.study.verification import read, write
from fsm_hpc.system import files, machine

_ENDS = {0: VERIFIED, **dict(enumerate(checker.OUTCOMES, start=1))}
_FINAL = {VERIFIED, checker.REFUTED, checker.NOT_CHECKABLE}
# one thread, so that processor seconds are comparable and claims can be checked side by side
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def is_final(known: Verification) -> bool:
    """Whether this version of the checker has nothing to add, however long it runs."""
    return known.outcome in _FINAL and known.checker == checker.VERSION


@dataclass(frozen=True, slots=True)
class PreparedClaim:
    """A claim file, with what orders claims by their expected cost."""

    name: str
    path: Path
    digest: str
    formula: str
    bound: int
    cells: int

    @staticmethod
    def write(name: str, rule: FittedRule, path: Path) -> PreparedClaim:
        claim = claim_of(rule.problem, rule.formula, rule.bound)
        write_claim(path, claim)
        cells = len(claim["columns"]) * len(claim["labels"])
        return PreparedClaim(name, path, digest_of(claim), str(rule.formula), rule.bound, cells)


def verify(claim: PreparedClaim, budget_s: float) -> Verification:
    """Run the checker as a program of its own."""
    arguments = [str(claim.path), "--budget", str(budget_s)]
    command = [sys.executable, "-I", str(Path(checker.__file__)), *arguments]
    before_s = machine.processor_s()
    ended = subprocess.run(
        command, env={**os.environ, **_ONE_THREAD}, capture_output=True, text=True, check=False
    )
    outcome = _ENDS.get(ended.returncode)
    if outcome is None or ended.stderr:
        raise UserError(f"the checker failed on {claim.name}: {ended.stderr.strip()[-500:]}")
    reason = ended.stdout.strip().removeprefix(f"{outcome}: ")
    seconds = round(machine.processor_s() - before_s, 1)
    return Verification(
        claim.digest, outcome, reason, checker.VERSION, seconds, claim.formula, claim.bound
    )


def verify_file(path: Path, overrides: list[str], budget_s: float) -> dict[str, Verification]:
    """Verify what a model.json, a result.json or a fold's folder holds, and keep the outcomes."""
    path = explain.result_path(path)
    if model_file.is_model(path):
        return verify_model(path, overrides, budget_s)
    outcome = verify_one(path, overrides, budget_s)
    fold = FoldPaths(path.absolute().parent)
    if fold.id is not None and fold.study.settings.exists():  # not a copy of a result elsewhere
        study = fold.study.root
        write(study, read(study) | {str(fold.folder.relative_to(study)): outcome})
    return {"": outcome}


def verify_model(path: Path, overrides: list[str], budget_s: float) -> dict[str, Verification]:
    """Verify every rule of a model.json, by class, and store the outcomes in it and in its card."""
    model = model_file.load(path)
    labels = [str(rule.prediction) for rule in model.rules]
    outcomes = {label: verify_one(path, overrides, budget_s, label) for label in labels}
    checked = [replace(rule, verification=outcomes[str(rule.prediction)]) for rule in model.rules]
    model = replace(model, rules=tuple(checked))
    model_file.save(path, model)
    page = path.with_suffix(".html")
    if page.exists():
        files.write_atomically(page, card.page(model))
    return outcomes


def verify_one(
    path: Path, overrides: list[str], budget_s: float, label: str | None = None
) -> Verification:
    """Verify the formula of a fold, or of one class of a model."""
    with tempfile.TemporaryDirectory() as folder:
        rule = read_rule(path, overrides, label)
        claim = PreparedClaim.write(str(path), rule, Path(folder) / "claim.json.gz")
        return verify(claim, budget_s)


def verify_folds(
    study: Path,
    names: Iterable[str],
    overrides: list[str],
    budget_s: float,
    each_s: float,
    notify: Callable[[str], None],
) -> dict[str, Verification | None]:
    """Verify the proved formulas of these folds, the cheapest claims first; keep each outcome.

    `overrides` say where tables are. What is verified or refuted already is not checked again; the
    same call resumes. None stands for a claim that there was no time for.
    """
    kept = read(study)
    with tempfile.TemporaryDirectory() as folder:
        claims = list(_prepare(study, names, overrides, Path(folder), notify))
        claims.sort(key=lambda claim: (claim.bound, claim.cells))
        end = time.monotonic() + budget_s
        for number, claim in enumerate(claims, start=1):
            known = kept.get(claim.name)
            if known is not None and is_final(known) and known.claim == claim.digest:
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
    study: Path,
    names: Iterable[str],
    overrides: list[str],
    folder: Path,
    notify: Callable[[str], None],
) -> Iterator[PreparedClaim]:
    for number, name in enumerate(names):
        try:
            rule = read_rule(study / name, overrides)
        except UserError as error:
            notify(f"{name} is left out: {error}")
            continue
        if rule.proved:
            yield PreparedClaim.write(name, rule, folder / f"{number}.json.gz")
