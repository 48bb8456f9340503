"""Compare the answers of packages for optimal trees, and of our solvers, with brute force.

    pip install pystreed pycontree pytrees-rs pydl8.5 gosdt arborenum
    python -m benchmarks.optimality                     all packages that are installed
    python -m benchmarks.optimality --only gosdt        one of them; the others are kept
    python -m benchmarks.optimality --write             the tables of docs/explanation/optimality.md

All packages get the same random small tables (`benchmarks/small_tables.py`), each in a process of
its own. An answer is wrong if the package claims that it is optimal and the objective of its
model is not the optimum, or if the objective that it reports is not that of its model. The errors
are counted from the predictions of the model on the rows of the table. Failures and time limits
are counted apart. Each wrong answer is asked again in a process of its own, and the smallest one is
reduced by leaving out columns and rows as long as the answer stays wrong.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import queue
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.optimality_packages import PACKAGES, Answer, Package
from benchmarks.optimality_page import reproducers, results
from benchmarks.reproduction import rewritten
from benchmarks.result_cache import ResultCache, Results
from benchmarks.small_tables import Question, random_table

OUT = Path("results/benchmarks/optimality.json")
PAGE = Path("docs/explanation/optimality.md")
START_S = 300.0  # for the imports of a package
LIMIT_S = 90.0  # for one question, beyond the limit that the package has itself
MOST_CHOICES = 500  # of thresholds, where formulas are found by brute force
TOLERANCE = 1e-3  # of objectives, which some packages keep as 32-bit floats
NUMERIC_SEED = 1_000_000  # numeric tables have seeds of their own


# ----------------------------------------------------------------------------------- questions


def questions_for(package: Package, tables: int, seed: int) -> list[Question]:
    """What the package is asked: Boolean tables, and numeric ones where it takes numbers."""
    count = round(tables * package.share)
    listed = list(_questions(package, range(seed, seed + count), True))
    if package.takes_numbers:
        first = seed + NUMERIC_SEED
        listed += _questions(package, range(first, first + count // 2), False)
    return listed


def _questions(package: Package, seeds: range, is_boolean: bool) -> Iterator[Question]:
    for seed in seeds:
        rows, labels = random_table(seed, is_boolean)
        for method in package.methods[: 1 if is_boolean else None]:
            if method and _choices(rows, method) > MOST_CHOICES:
                continue
            for bound in package.bounds:
                for penalty in package.penalties:
                    yield Question(rows, labels, bound, penalty, method)


def _choices(rows: Any, method: str) -> int:
    """Ways to choose the thresholds of all columns."""
    counts = [len(set(values)) for values in zip(*rows, strict=True)]
    if all(value in (0, 1) for row in rows for value in row):
        return 1
    return math.prod(n * (n + 1) // 2 if method == "interval" else n for n in counts)


# ------------------------------------------------------------------------------------- answers


def ask(package: Package, questions: Sequence[Question], *options: str) -> list[Answer]:
    """An answer to each question; after a crash or a time limit, a new process goes on."""
    answers: list[Answer] = []
    while len(answers) < len(questions):
        answers += _ask_one_process(package, questions[len(answers) :], *options)
    return answers


def _ask_one_process(
    package: Package, questions: Sequence[Question], *options: str
) -> list[Answer]:
    """The answers of one process up to its end, the last one perhaps a crash or a time limit."""
    words = [sys.executable, "-m", "benchmarks.optimality_packages", package.name, *options]
    given = "".join(json.dumps(question.content) + "\n" for question in questions)
    process = subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_write, args=(process, given), daemon=True).start()
    threading.Thread(target=_read, args=(process, lines), daemon=True).start()
    answers: list[Answer] = []
    limit = START_S
    try:
        while len(answers) < len(questions):
            line = lines.get(timeout=limit)
            if not line:
                answers.append({"failed": f"the process ended with {process.wait()}"})
                break
            content = json.loads(line)
            limit = LIMIT_S
            if "begun" not in content:
                answers.append(content)
    except queue.Empty:
        answers.append({"timed out": limit})
    process.kill()
    process.wait()
    return answers


def _write(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdin is not None
    try:
        process.stdin.write(text)
        process.stdin.close()
    except OSError:  # the process has ended
        pass


def _read(process: subprocess.Popen[str], lines: queue.Queue[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put("")


# -------------------------------------------------------------------------------------- checks


def category(question: Question, answer: Answer) -> str:
    """Right, wrong, failed, timed out, or not claimed to be optimal."""
    for name in ("failed", "timed out"):
        if name in answer:
            return name
    if not answer["is_optimal"]:
        return "timed out"
    return "wrong" if mistake(question, answer) else "right"


def mistake(question: Question, answer: Answer) -> str:
    """What is wrong with an answer that is claimed to be optimal; nothing if it is right."""
    value, optimum = objective(question, answer), question.optimum()
    reported = answer["reported"]
    found = []
    if abs(value - optimum) > TOLERANCE:
        found.append(f"the objective of the model is {value:g}, the optimum is {optimum:g}")
    if answer.get("size", 0) > question.bound:
        found.append(f"the formula has size {answer['size']}")
    if reported is not None and abs(reported - value) > TOLERANCE:
        found.append(f"the package reports {reported:g} for a model that has {value:g}")
    return "; ".join(found)


def objective(question: Question, answer: Answer) -> float:
    """Of the model, from its own predictions and leaves."""
    leaves: int = answer["leaves"]
    return question.errors(answer["predictions"]) + question.penalty * leaves


def is_wrong(question: Question, answer: Answer) -> bool:
    return category(question, answer) == "wrong"


def confirmed(package: Package, question: Question) -> Answer | None:
    """The wrong answer of a new process to this question alone, if it is wrong again."""
    answer = ask(package, [question])[0]
    return answer if is_wrong(question, answer) else None


def reduced(package: Package, question: Question) -> Question:
    """The question about a table from which no column and no row can be left out."""
    while True:
        smaller = list(question.smaller())
        answers = ask(package, smaller)
        pairs = zip(smaller, answers, strict=True)
        found = next((one for one, answer in pairs if is_wrong(one, answer)), None)
        if found is None or confirmed(package, found) is None:
            return question
        question = found


def record(question: Question, answer: Answer) -> Results:
    return {
        "question": question.content,
        "answer": answer,
        "optimum": question.optimum(),
        "mistake": mistake(question, answer),
    }


# ----------------------------------------------------------------------------------------- run


def examined(package: Package, tables: int, seed: int) -> Results:
    """All answers of a package, counted, and what is wrong with the wrong ones."""
    questions = questions_for(package, tables, seed)
    answers = ask(package, questions)
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    wrong: list[Question] = []
    for question, answer in zip(questions, answers, strict=True):
        found = category(question, answer)
        counts[found] += 1
        if found == "wrong":
            wrong.append(question)
        elif found == "failed":
            reasons[answer["failed"]] += 1
    again = zip(wrong, ask(package, wrong, "alone"), strict=True)
    kept = [record(*pair) for pair in again if is_wrong(*pair)]
    return {
        "version": package.version,
        "call": package.call,
        "tables": len({(question.rows, question.labels) for question in questions}),
        "questions": len(questions),
        "counts": dict(counts),
        "failures": dict(reasons.most_common(5)),
        "wrong again": len(kept),
        "wrong": kept,
        "reproducer": smallest(package, kept),
    }


def smallest(package: Package, wrong: list[Results]) -> Results | None:
    """The smallest of the wrong answers, reduced further."""
    questions = [Question.of(one["question"]) for one in wrong]
    if not questions:
        return None
    question = reduced(package, min(questions, key=lambda one: one.cells))
    answer = confirmed(package, question)
    return record(question, answer) if answer else None


def write(kept: Results) -> None:
    """Put the tables into the page."""
    known = {"results": lambda: results(kept), "reproducers": lambda: reproducers(kept)}
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(rewritten(page, known), encoding="utf-8")


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="*", help="names of packages")
    parser.add_argument("--tables", type=int, default=2000, help="Boolean; half as many numeric")
    parser.add_argument("--seed", type=int, default=0, help="of the first table")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--write", action="store_true", help=f"the tables of {PAGE}")
    args = parser.parse_args(words)
    cache = ResultCache(args.out)
    if args.write:
        write(cache.results)
        return 0
    print(f"seeds from {args.seed} (Boolean) and {args.seed + NUMERIC_SEED} (numeric)")
    for package in PACKAGES:
        if args.only and package.name not in args.only:
            continue
        if package.version is None:
            print(f"{package.name}: not installed (pip install {package.distribution})")
            continue
        found = examined(package, args.tables, args.seed)
        place = {"python": platform.python_version(), "seed": args.seed}
        cache.keep(package.name, found | place)
        counts = json.dumps(found["counts"])
        print(f"{package.name} {package.version}: {found['questions']} questions, {counts}")
        if found["reproducer"]:
            print(f"  {json.dumps(found['reproducer'])}", flush=True)
    own = [one for name, one in cache.results.items() if name.startswith("fsm_hpc")]
    return int(any(one["counts"].get("wrong") for one in own))


if __name__ == "__main__":
    sys.exit(main())
