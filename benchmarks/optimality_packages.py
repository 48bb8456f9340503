"""Put one question to one package: how each is called, and what its model predicts.

    python -m benchmarks.optimality_packages NAME [alone] < questions > answers

With `alone`, each question has a process of its own. Questions and answers are lines of JSON. A
line is written before each question, so that a crash or a time limit can be attributed to it. The
arguments are those that the documentation of each package gives for an exact solution; all others
have their defaults.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from benchmarks.small_tables import Question, problem_of
from fsm_hpc import __version__

SOLVE_S = 60  # the time limit that a package is given itself, beyond that of the benchmark
Answer = dict[str, Any]  # predictions; whether optimality is claimed; leaves; reported objective


@dataclass(frozen=True)
class Package:
    """A way to call a package, and which questions it is for."""

    name: str
    distribution: str  # on the package index
    call: str  # as a user would write it
    solve: Callable[[Question, Any, Any], Answer]
    bounds: tuple[int, ...] = (2, 3)
    takes_numbers: bool = False
    penalties: tuple[float, ...] = (0.0,)
    methods: tuple[str, ...] = ("",)
    share: float = 1.0  # of the tables that it is asked about
    module: str = ""  # to import before the first question

    @property
    def version(self) -> str | None:
        """None where it is not installed."""
        if self.distribution == "fsm_hpc":
            return __version__  # of this folder, which may be newer than what was installed
        try:
            return version(self.distribution)
        except PackageNotFoundError:
            return None


def _streed(question: Question, rows: Any, labels: Any) -> Answer:
    module = import_module("pystreed")
    model = module.STreeDClassifier(max_depth=question.bound, time_limit=SOLVE_S).fit(rows, labels)
    found = model.fit_result
    reported = round((1 - found.score()) * len(labels), 6)
    return _answer(model.predict(rows), found.is_optimal(), reported=reported)


def _contree(question: Question, rows: Any, labels: Any) -> Answer:
    model = import_module("pycontree").ConTree(max_depth=question.bound, time_limit=SOLVE_S)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(rows, labels)
    is_late = any("time limit" in str(warning.message) for warning in caught)
    return _answer(model.predict(rows), not is_late)


def _pytrees(name: str, **options: Any) -> Callable[[Question, Any, Any], Answer]:
    def solve(question: Question, rows: Any, labels: Any) -> Answer:
        made = getattr(import_module("pytrees"), name)
        model = made(max_depth=question.bound, max_time=float(SOLVE_S), **options)
        model.fit(rows, labels)
        is_optimal = model.status_ == "optimal"
        return _answer(model.predict(rows), is_optimal, reported=model.train_error_)

    return solve


def _dl85(**options: Any) -> Callable[[Question, Any, Any], Answer]:
    def solve(question: Question, rows: Any, labels: Any) -> Answer:
        made = import_module("pydl85").DL85Classifier
        model = made(max_depth=question.bound, time_limit=SOLVE_S, **options).fit(rows, labels)
        return _answer(model.predict(rows), not model.timeout_, reported=model.error_)

    return solve


def _gosdt(question: Question, rows: Any, labels: Any) -> Answer:
    module = import_module("gosdt")
    count = len(labels)
    model = module.GOSDTClassifier(
        regularization=question.penalty / count,
        allow_small_reg=True,
        depth_budget=question.bound,
        time_limit=SOLVE_S,
    )
    model.fit(rows.astype(bool), labels)
    # model.predict of 1.0.4 passes an argument that check_array of scikit-learn 1.9 does not have
    tree = model.trees_[0]
    return _answer(
        tree.predict(rows.astype(bool)),
        model.result_.status == module.Status.CONVERGED,
        leaves=_leaves(json.loads(model.result_.model)[0]),
        reported=model.result_.upperbound * count,
    )


def _leaves(node: dict[str, Any]) -> int:
    return 1 if "prediction" in node else _leaves(node["true"]) + _leaves(node["false"])


def _arborenum(question: Question, rows: Any, labels: Any) -> Answer:
    model = import_module("arborenum").ArborEnum()
    model.fit(
        rows,
        labels,
        proxy_mode="continuous",
        lookahead_k=question.bound - 1,
        depth_budget=question.bound,
        lambda_reg=question.penalty / len(labels),
        rashomon_mult=0.0,
        key_mode="exact",
    )
    least = model.get_min_objective()
    trees = range(int(model.count_trees()))
    best = min(trees, key=lambda tree: model.get_tree_objective(tree)[0])
    predictions = model.get_predictions(best, rows)
    return _answer(predictions, True, leaves=model.get_tree_num_leaves(best), reported=least)


def _own(name: str) -> Callable[[Question, Any, Any], Answer]:
    def solve(question: Question, rows: Any, labels: Any) -> Answer:
        from fsm_hpc.search.solvers import make_solver
        from fsm_hpc.search.solvers.base import Control, Incumbent
        from fsm_hpc.search.solvers.names import SolverName

        problem, solver = problem_of(question), make_solver(SolverName(name), 1)
        found = solver.solve(problem, question.bound, Incumbent(), Control())
        solver.close()
        predictions = found.formula.evaluate(problem.table)
        size = found.formula.size
        return _answer(predictions, found.proved, reported=found.errors) | {"size": size}

    return solve


def _answer(predictions: Any, is_optimal: bool, leaves: int = 0, reported: Any = None) -> Answer:
    return {
        "predictions": [int(one) for one in predictions],
        "is_optimal": bool(is_optimal),
        "leaves": int(leaves),
        "reported": None if reported is None else float(reported),
    }


FORMULAS: dict[str, Any] = {"takes_numbers": True, "methods": ("pivot", "interval")}
PACKAGES = (
    Package("pystreed", "pystreed", "STreeDClassifier(max_depth=D)", _streed),
    Package("pycontree", "pycontree", "ConTree(max_depth=D)", _contree, takes_numbers=True),
    Package(
        "pytrees-rs DL85",
        "pytrees-rs",
        "DL85Classifier(max_depth=D)",
        _pytrees("DL85Classifier"),
        module="pytrees",
    ),
    Package(
        "pytrees-rs DL85 without fast_d2",
        "pytrees-rs",
        "DL85Classifier(max_depth=D, fast_d2=False)",
        _pytrees("DL85Classifier", fast_d2=False),
    ),
    Package(
        "pytrees-rs ConTree",
        "pytrees-rs",
        "ConTreeClassifier(max_depth=D)",
        _pytrees("ConTreeClassifier"),
        takes_numbers=True,
    ),
    Package("pydl8.5", "pydl8.5", "DL85Classifier(max_depth=D)", _dl85(), module="pydl85"),
    Package(
        "pydl8.5 without depth-two algorithm",
        "pydl8.5",
        "DL85Classifier(max_depth=D, depth_two_special_algo=False)",
        _dl85(depth_two_special_algo=False),
    ),
    Package(
        "gosdt",
        "gosdt",
        "GOSDTClassifier(regularization=P/rows, allow_small_reg=True, depth_budget=D)",
        _gosdt,
        penalties=(0.5, 1.5),
    ),
    Package(
        "arborenum",
        "arborenum",
        'ArborEnum().fit(X, y, proxy_mode="continuous", lookahead_k=D-1, depth_budget=D, '
        'lambda_reg=P/rows, rashomon_mult=0.0, key_mode="exact")',
        _arborenum,
        takes_numbers=True,
        penalties=(0.0, 1.0),
    ),
    Package(
        "fsm_hpc native", "fsm_hpc", "solver=native", _own("native"), bounds=(3, 5), **FORMULAS
    ),
    Package(
        "fsm_hpc clingo_dl",
        "fsm_hpc",
        "solver=clingo_dl",
        _own("clingo_dl"),
        bounds=(3, 5),
        share=0.1,
        **FORMULAS,
    ),
)


def answer_to(package: Package, question: Question) -> Answer:
    rows = np.array(question.rows, dtype=int if question.is_boolean else float)
    try:
        return package.solve(question, rows, np.array(question.labels))
    except Exception as error:  # a failure is a result
        return {"failed": f"{type(error).__name__}: {error}"[:200]}


def answer_alone(package: Package, question: Question) -> Answer:
    """The answer of a copy of this process, which has imported the package and solved nothing."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, json.dumps(answer_to(package, question)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answers:
        text = answers.read()
    status = os.waitpid(child, 0)[1]
    return json.loads(text) if text else {"failed": f"the process ended with status {status}"}


def main() -> int:
    package = next(one for one in PACKAGES if one.name == sys.argv[1])
    solve = answer_alone if sys.argv[2:] == ["alone"] else answer_to
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a package prints is no answer
    if package.module:
        import_module(package.module)
    for number, line in enumerate(sys.stdin):
        print(json.dumps({"begun": number}), file=answers, flush=True)
        answer = solve(package, Question.of(json.loads(line)))
        print(json.dumps(answer), file=answers, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
