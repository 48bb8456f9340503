"""Let the checker judge the answers of deliberately broken copies of the native solver.

    python -m benchmarks.mutants answers    let all mutants answer; the same command resumes
    python -m benchmarks.mutants check      check the answers, the wrong ones first; likewise
    python -m benchmarks.mutants write      put the table into docs/explanation/checking.md

Each mutant of `benchmarks/mutant_list.py` is one textual change of the solver, applied to a copy of
the package. A copy solves the training rows of fold 0 of the seven datasets, with all methods, at
the bounds 1 to 5. Each answer that it reports as proved becomes a claim with the errors that it
reports, and `fsm_hpc/checker.py` of the unchanged package checks the claim. An answer is wrong if
its errors are not those of the unchanged solver, or if its formula does not make the errors
that it reports within the bound.

Claims that differ in their formula alone have one proof that no formula makes fewer errors. It is
checked once; the formula is measured for each. A change of one engine runs only on the problems
that this engine searches: the answers to the others are those of the unchanged solver.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fsm_hpc
from benchmarks.mutant_list import MUTANTS, Engine, Mutant
from benchmarks.reproduction import rewritten
from benchmarks.result_cache import ResultCache, Results
from fsm_hpc import checker
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Formula
from fsm_hpc.formulas.parser import parse
from fsm_hpc.search.claim import claim_of
from fsm_hpc.search.problem import Problem
from fsm_hpc.study.compose import compose
from fsm_hpc.study.fold import prepare

DATASETS = (  # the quickest first
    *("hepatitis", "breast_cancer", "heart_disease", "diabetes"),
    *("german_credit", "bank", "student_dropout"),
)
METHODS = ("median", "pivot", "interval")
LONGEST = 5
UNCHANGED = "unchanged"
NATIVE = Path("search/solvers/native")  # in the package
OUT = Path("results/benchmarks/mutants.json")
PAGE = Path("docs/explanation/checking.md")
# Solves pickled problems with the package of its working folder, and keeps each answer at once.
WORKER = """
import pickle, sys
from fsm_hpc.search.solvers.base import Control, Incumbent
from fsm_hpc.search.solvers.native import Native, search
from fsm_hpc.system import clock
search.QUICK_SIZE = 0  # both threads work from the beginning, so that it matters what they share
problems, out, longest, limit_s = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
for name, problem in pickle.load(open(problems, "rb")).items():
    with open(out, "ab") as file:
        pickle.dump((name, "begun", None), file)
    solver = Native(threads=2)
    for bound in range(1, longest + 1):
        try:
            control = Control(deadline=clock.monotonic() + limit_s)
            outcome = solver.solve(problem, bound, Incumbent(), control)
            kind = "proved" if outcome.proved else "not proved"
            answer = (bound, outcome.formula, outcome.errors)
        except Exception as error:
            kind, answer = "failed", (bound, repr(error)[:200], None)
        with open(out, "ab") as file:
            pickle.dump((name, kind, answer), file)
"""


@dataclass(frozen=True)
class Answer:
    """What a solver reports as proved for a problem and a bound."""

    problem: str
    bound: int
    formula: Formula
    errors: int


# ------------------------------------------------------------------------------------- problems


def problems_of(datasets: Iterable[str], data_dir: Path) -> dict[str, Problem]:
    """The training rows of fold 0; tables that this machine does not have are named."""
    problems = {}
    for dataset in datasets:
        for method in METHODS:
            words = [f"dataset={dataset}", f"method={method}", "fold=0", f"data_dir={data_dir}"]
            try:
                fold = prepare(compose(words))
            except UserError as error:
                print(f"{dataset} left out: {str(error).splitlines()[0]}")
                break
            train, _ = fold.rows.splits[0]
            problems[f"{dataset} {method}"] = fold.problem(train)
    return problems


def engine_of(problem: Problem) -> Engine:
    """The kernels that search a problem."""
    from fsm_hpc.search.solvers.native import Native

    return Engine(type(Native().knowledge(problem).search.engine).__name__)


# -------------------------------------------------------------------------------------- answers


def mutated_copy(mutant: Mutant | None, folder: Path) -> None:
    """Copy the package, with its compiled kernels, and change one place of the copy."""
    package = folder / "fsm_hpc"
    shutil.copytree(Path(fsm_hpc.__file__).parent, package)
    if mutant is None:
        return
    path = package / NATIVE / mutant.file
    text = path.read_text()
    if text.count(mutant.before) != 1:
        count = text.count(mutant.before)
        raise UserError(f"{mutant.name}: expected its text once in {mutant.file}, found {count}")
    path.write_text(text.replace(mutant.before, mutant.after))


def answers_of(
    mutant: Mutant | None, problems: dict[str, Problem], limit_s: float
) -> tuple[list[Answer], list[str]]:
    """The proved answers of a mutant, and what became of the other questions."""
    answers: list[Answer] = []
    others: list[str] = []
    left = dict(problems)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        mutated_copy(mutant, folder)
        while left:
            ended = _run(folder, left, limit_s)
            records = _records(folder / "answers")
            for problem, kind, answer in records:
                left.pop(problem, None)
                if kind == "proved":
                    answers.append(Answer(problem, *answer))
                elif kind != "begun":
                    others.append(f"{problem}, bound {answer[0]}: {kind}")
            if ended is None or not records:
                others += [f"not run: {one}" for one in left]
                break
            if ended:
                others.append(f"{records[-1][0]}: the process ended with {ended}")
    return answers, others


def _run(folder: Path, problems: dict[str, Problem], limit_s: float) -> int | None:
    """Run the worker on the problems; its exit code, or None if it took too long altogether."""
    (folder / "answers").unlink(missing_ok=True)
    (folder / "problems").write_bytes(pickle.dumps(problems))
    words = [sys.executable, "-c", WORKER, "problems", "answers", str(LONGEST), str(limit_s)]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    limit = 600 + len(problems) * LONGEST * 2 * limit_s
    try:
        return subprocess.run(
            words, cwd=folder, env=environment, timeout=limit, stderr=subprocess.DEVNULL
        ).returncode
    except subprocess.TimeoutExpired:
        return None


def _records(path: Path) -> list[Any]:
    records: list[Any] = []
    if path.exists():
        with path.open("rb") as file:
            while True:
                try:
                    records.append(pickle.load(file))  # our own worker wrote it  # nosec B301
                except (EOFError, pickle.UnpicklingError):
                    return records
    return records


# --------------------------------------------------------------------------------------- claims


class Judge:
    """Checks claims; the proof for all formulas of a claim is kept by all that it depends on."""

    def __init__(self, problems: dict[str, Problem], proofs: ResultCache) -> None:
        self._problems = problems
        self._proofs = proofs
        self._outcomes: dict[str, str] = {}  # many mutants give the same answers

    def outcome(self, answer: Results, budget_s: float) -> str:
        """`verified`, or the outcome of the checker with its reason."""
        key = json.dumps([answer[name] for name in ("problem", "bound", "formula", "errors")])
        if key not in self._outcomes:
            self._outcomes[key] = self._outcome(answer, budget_s)
        return self._outcomes[key]

    def _outcome(self, answer: Results, budget_s: float) -> str:
        claim = self._claim(answer)
        others = json.dumps({key: value for key, value in claim.items() if key != "formula"})
        try:
            read = checker.read_claim(claim)
            size, errors = checker.measure(read.formula, read)
            is_so = size <= read.bound and errors == read.errors
            checker.require(is_so, checker.REFUTED, f"size {size}, {errors} errors")
        except checker.NotVerifiedError as error:
            return ": ".join(error.args)
        return self._proof(read, hashlib.sha256(others.encode()).hexdigest(), budget_s)

    def _claim(self, answer: Results) -> dict[str, Any]:
        """The claim with the errors that the solver reports."""
        problem, formula = self._problems[answer["problem"]], parse(answer["formula"])
        return claim_of(problem, formula, answer["bound"]) | {"errors": answer["errors"]}

    def _proof(self, claim: checker.Claim, key: str, budget_s: float) -> str:
        """That no formula makes fewer errors; tried again where the budget was smaller."""
        kept = self._proofs.results.get(key)
        if kept is None or (kept["outcome"] == checker.UNFINISHED and kept["budget"] < budget_s):
            self._proofs.keep(key, _checked(claim, budget_s))
        return str(self._proofs.results[key]["outcome"])


def _checked(claim: checker.Claim, budget_s: float) -> Results:
    started = time.process_time()
    try:
        checker.BoxSearch(claim, started + budget_s).run()
        outcome = "verified"
    except checker.NotVerifiedError as error:
        outcome = error.args[0] if error.args[0] == checker.UNFINISHED else ": ".join(error.args)
    seconds = round(time.process_time() - started, 1)
    return {"outcome": outcome, "seconds": seconds, "budget": budget_s}


# ----------------------------------------------------------------------------------------- steps


def collect(cache: ResultCache, problems: dict[str, Problem], limit_s: float) -> None:
    """The answers of the unchanged solver and of all mutants."""
    for mutant in (None, *MUTANTS):
        name = mutant.name if mutant else UNCHANGED
        if name not in cache.results:
            answers, others = answers_of(mutant, chosen(mutant, problems), limit_s)
            optima = answers if mutant is None else _optima(cache)
            listed = [described(one, problems[one.problem], optima) for one in answers]
            cache.keep(name, {"answers": listed, "others": others})
        print(json.dumps(summary(name, cache.results[name])), flush=True)


def _optima(cache: ResultCache) -> list[Answer]:
    unchanged = cache.results[UNCHANGED]["answers"]
    return [
        Answer(one["problem"], one["bound"], parse(one["formula"]), one["errors"])
        for one in unchanged
    ]


def described(answer: Answer, problem: Problem, optima: list[Answer]) -> Results:
    """An answer as it is kept, and whether it is wrong."""
    optimum = next(
        one.errors for one in optima if (one.problem, one.bound) == (answer.problem, answer.bound)
    )
    is_long = answer.formula.size > answer.bound
    is_wrong = is_long or {problem.errors(answer.formula), answer.errors} != {optimum}
    return {
        "problem": answer.problem,
        "bound": answer.bound,
        "formula": str(answer.formula),
        "errors": answer.errors,
        "optimum": optimum,
        "is_wrong": is_wrong,
    }


def chosen(mutant: Mutant | None, problems: dict[str, Problem]) -> dict[str, Problem]:
    """The problems on which a change can have an effect."""
    if mutant is None or mutant.engine is None:
        return problems
    engine = mutant.engine
    return {name: problem for name, problem in problems.items() if engine_of(problem) is engine}


def check(cache: ResultCache, judge: Judge, budget_s: float) -> None:
    """Check all answers: the wrong ones first, and of these the ones with small bounds."""
    for is_wrong, bound in itertools.product((True, False), range(1, LONGEST + 1)):
        for name, kept in cache.results.items():
            for answer in kept["answers"]:
                is_open = answer.get("outcome", checker.UNFINISHED) == checker.UNFINISHED
                if (answer["is_wrong"], answer["bound"], is_open) == (is_wrong, bound, True):
                    answer["outcome"] = judge.outcome(answer, budget_s)
            cache.keep(name, kept)
        for name, kept in cache.results.items():
            print(json.dumps(summary(name, kept)), flush=True)


# --------------------------------------------------------------------------------------- report


def summary(name: str, kept: Results) -> Results:
    """The counts of one mutant."""
    answers = kept["answers"]
    outcomes = [(one["is_wrong"], one.get("outcome", checker.UNFINISHED)) for one in answers]
    wrong = [outcome for is_wrong, outcome in outcomes if is_wrong]
    right = [outcome for is_wrong, outcome in outcomes if not is_wrong]
    return {
        "name": name,
        "answers": len(answers),
        "wrong": len(wrong),
        "wrong and refuted": _refuted(wrong),
        "wrong and verified": wrong.count("verified"),
        "wrong and open": wrong.count(checker.UNFINISHED),
        "right and verified": right.count("verified"),
        "right and refuted": _refuted(right),
        "right and open": right.count(checker.UNFINISHED),
        "no answer": len(kept["others"]),
    }


def _refuted(outcomes: list[str]) -> int:
    return sum(outcome.startswith(checker.REFUTED) for outcome in outcomes)


def table_of(kept: Results) -> list[str]:
    """The table of all mutants that have answered."""
    rows = [summary(name, results) for name, results in kept.items()]
    columns = list(rows[0])[1:]
    about = {mutant.name: mutant for mutant in MUTANTS}
    lines = [
        f"| mutant: what is changed | file | {' | '.join(columns)} |",
        f"|---|---|{'---:|' * len(columns)}",
    ]
    for row in rows:
        mutant = about.get(row["name"])
        change, file = (
            (mutant.change, f"`{mutant.file.removeprefix('../../../')}`")
            if mutant
            else ("nothing", "")
        )
        lines.append(f"| {change} | {file} | {' | '.join(str(row[key]) for key in columns)} |")
    totals = [str(sum(row[key] for row in rows)) for key in columns]
    return [*lines, f"| **all** | | {' | '.join(totals)} |"]


def write(cache: ResultCache) -> None:
    page = PAGE.read_text(encoding="utf-8")
    made = rewritten(page, {"mutants": lambda: table_of(cache.results)})
    PAGE.write_text(made, encoding="utf-8")


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("step", choices=("answers", "check", "write"))
    parser.add_argument("--data-dir", type=Path, default=Path("../shared/data"))
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one answer")
    parser.add_argument("--budget", type=float, default=600.0, help="seconds to check one claim")
    parser.add_argument("--proofs", type=Path, default=Path("build/mutants/proofs.json"))
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args(words)
    cache = ResultCache(args.out)
    if args.step == "write":
        write(cache)
        return 0
    problems = problems_of(DATASETS, args.data_dir)
    if args.step == "answers":
        collect(cache, problems, args.limit)
    else:
        check(cache, Judge(problems, ResultCache(args.proofs)), args.budget)
    rows = [summary(name, kept) for name, kept in cache.results.items()]
    return int(any(row["wrong and verified"] or row["right and refuted"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
