"""Verify formulas with the independent checker, and store the outcomes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from fsm_hpc import checker
from fsm_hpc.cluster import study_lock
from fsm_hpc.errors import UserError
from fsm_hpc.models import card
from fsm_hpc.models import model as model_file
from fsm_hpc.report import explain
from fsm_hpc.report.alternatives.rule import read_rule
from fsm_hpc.search.claim import claim_of, digest_of, write_claim
from fsm_hpc.search.proof import VERIFIED, Verification
from fsm_hpc.study import result
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.study.result import FoldResult
from fsm_hpc.study.verification import read, write
from fsm_hpc.system import files, machine
from fsm_hpc.system.files import UnreadableError

OUTCOMES = (VERIFIED, *checker.OUTCOMES)  # by exit code of the checker
LIMIT = (
    "verify supports the settings of the paper only: run it again with scan.claim=true (`fit`: "
    "fit.claim=true), and check claim.json.gz with checker.py"
)
PATIENCE_S = (
    20.0  # to wait for the lock of another process; that of a dead process is removed earlier
)
# one thread, so that processor seconds are comparable and claims can be checked side by side
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def verify_file(path: Path, overrides: list[str], budget_s: float) -> dict[str, Verification]:
    """Verify a model.json, a result.json or a fold folder, and store the outcomes."""
    path = explain.result_path(path)
    if model_file.is_model(path):
        return verify_model(path, overrides, budget_s)
    outcome = verify_one(path, overrides, budget_s)
    write(FoldPaths(path.parent), outcome)
    return {"": outcome}


def verify_model(path: Path, overrides: list[str], budget_s: float) -> dict[str, Verification]:
    """Verify all rules of a model.json; store the outcomes by class in it and in its summary."""
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
    rule = read_rule(path, overrides, label, LIMIT)
    claim = claim_of(rule.problem, rule.formula, rule.bound)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "claim.json.gz"
        write_claim(file, claim)
        outcome, reason, seconds = _run_checker(file, budget_s)
    about = (str(rule.formula), rule.bound, rule.fingerprint)
    return Verification(digest_of(claim), outcome, reason, checker.VERSION, seconds, *about)


def _run_checker(file: Path, budget_s: float) -> tuple[str, str, float]:
    """Run the checker as a separate program; outcome, reason and processor seconds."""
    command = [sys.executable, "-I", checker.__file__, str(file), "--budget", str(budget_s)]
    environment = {**os.environ, **_ONE_THREAD}
    before_s = machine.processor_s()
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    seconds = round(machine.processor_s() - before_s, 1)
    if ended.returncode not in range(len(OUTCOMES)) or ended.stderr:
        reason = ended.stderr.strip()[-500:]
        raise UserError(f"the checker ended with exit code {ended.returncode}: {reason}")
    outcome = OUTCOMES[ended.returncode]
    return outcome, ended.stdout.strip().removeprefix(f"{outcome}: "), seconds


def verify_folds(
    folds: Iterable[FoldPaths], overrides: list[str], budget_s: float, each_s: float
) -> Iterator[str]:
    """Verify the proved formulas of these folds, the cheapest claims first; yields messages.

    `overrides` locate the tables. Outcomes are stored at once, so the same call resumes. Several
    processes can share the work: each locks the fold that it checks. Folds locked by another
    process are tried again at the end, as that process may have been killed.
    """
    end_s = time.monotonic() + budget_s
    waiting = open_claims(folds, each_s)
    for patience_s in (0.0, PATIENCE_S):
        locked_by_others = []
        for paths in waiting:
            if time.monotonic() >= end_s:
                yield "time limit reached; the same command resumes"
                return
            with _held(paths, patience_s) as is_held:
                if not is_held:
                    locked_by_others.append(paths)
                elif open_claims([paths], each_s):  # still open under the lock
                    yield _verify_fold(paths, overrides, min(end_s - time.monotonic(), each_s))
        waiting = locked_by_others


def open_claims(folds: Iterable[FoldPaths], each_s: float) -> list[FoldPaths]:
    """Folds with undecided claims that this time for each may decide, the cheapest first."""
    undecided = [(p, done) for p, done in _proved(folds) if _is_open(p, done, each_s)]
    return [paths for paths, _ in sorted(undecided, key=lambda pair: (_cost(pair[1]), pair[0]))]


def outcomes(folds: Iterable[FoldPaths]) -> Counter[str]:
    """Number of proved formulas by outcome."""
    stored = [read(paths, done) for paths, done in _proved(folds)]
    return Counter(check.outcome if check else "not checked" for check in stored)


def in_words(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in sorted(counts)) or "no claims"


def _verify_fold(paths: FoldPaths, overrides: list[str], budget_s: float) -> str:
    try:
        outcome = verify_one(paths.result, overrides, budget_s)
    except UserError as error:
        return f"{paths.id} is skipped: {error}"
    write(paths, outcome)
    return f"{paths.id}: {outcome.outcome} ({outcome.processor_s} s)"


def _proved(folds: Iterable[FoldPaths]) -> Iterator[tuple[FoldPaths, FoldResult]]:
    """Folds with a proved formula."""
    for paths in folds:
        try:
            done = result.read(paths.result, paths.id)
        except UnreadableError:
            continue
        if done is not None and done.formula and done.proved:
            yield paths, done


def _cost(done: FoldResult) -> tuple[int, int]:
    """Sort key of claims: the bound, then the number of rows."""
    return done.length_bound or 0, sum(done.rows.values())


def _is_open(paths: FoldPaths, done: FoldResult, each_s: float) -> bool:
    """Whether the checker may decide the claim within this time."""
    known = read(paths, done)
    if known is None or known.checker != checker.VERSION:
        return True
    return known.outcome == checker.UNFINISHED and known.processor_s < each_s


@contextmanager
def _held(paths: FoldPaths, patience_s: float) -> Iterator[bool]:
    """Lock the folder of a fold; False if it stays locked by another process."""
    with ExitStack() as stack:
        try:
            stack.enter_context(study_lock.held([paths.folder], patience_s))
        except UserError:
            is_held = False
        else:
            is_held = True
        yield is_held
