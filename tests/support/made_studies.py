"""Studies made up for the tests of tables, figures and the page: every state, awkward names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from fsm_hpc.formulas.parser import parse
from fsm_hpc.search.method import Method
from fsm_hpc.study import fingerprint, result
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.study.measures import Confusion
from fsm_hpc.study.result import Accuracy, FoldResult, Seconds

AWKWARD = r"50%_a&b#1$^{x}~\é"  # a dataset's name with all that LaTeX and Markdown mind
AWKWARD_COLUMN = r"a_b%c&d#e$f^g{h}~i\j|k<l>µ名"


def fold_result(
    dataset: str, method: str, fold: int, variant: str = "", **changes: Any
) -> FoldResult:
    """A finished fold, proved; `changes` replace its fields."""
    settings = {
        "data": "0123456789abcdef" * 4,
        "folds": 10,
        "fold": fold,
        "seed": 42,
        "validation_fraction": 0.3,
        "method": method,
    }
    settings |= changes.pop("settings", {})
    finds_formula = Method(method).finds_formula
    common = FoldResult(
        dataset=dataset,
        method=method,
        fold=fold,
        solver="native" if finds_formula else "optuna",
        seed=42,
        accuracy=Accuracy(0.9, 0.875, 0.8 + fold / 100),
        confusion=Confusion(6, 1, 5, 1),
        rows={"train": 81, "validation": 35, "test": 13},
        stop_reason="finished",
        proved=False,
        seconds=Seconds(10.0 + fold, 2.0),
        fingerprint=fingerprint.fingerprint(settings),
        settings=settings,
        provenance={
            "version": "0.1.0",
            "commit": "abc123",
            "code": "feedbeef00000000",
            "python": "3.11.7",
            "packages": {"numpy": "2.0"},
            "host": "node-1",
            "cpu": "a fast one",
            "threads": 8,
            "memory_mb": 57344,
            "config": "c" * 64,
            "job_ids": ["17_3"],
            "requeues": 1,
        },
        target="outcome",
        positive="lives",
        negative="dies",
        peak_rss_mb=321.5,
        variant=variant,
    )
    made = _with_formula(common) if finds_formula else _with_model(common)
    return replace(made, **changes)


def _with_formula(common: FoldResult) -> FoldResult:
    text = {
        "median": "albumin > 4.2 and not ascites",
        "pivot": "albumin >= 2.9 and not ascites",
        "interval": "2.9 <= albumin <= 6.4 and not ascites",
    }[common.method]
    formula = parse(text)
    phrases = {"ascites": ("ascites", "true")}
    return replace(
        common,
        stop_reason="early_stopping",
        proved=True,
        formula=text,
        latex=formula.latex(),
        words=f"Predict outcome = lives when {formula.words(phrases)}; otherwise outcome = dies.",
        size=formula.size,
        length_bound=4,
        errors=12,
        lower_bound=12,
        lengths=lengths(6),
        phrases={name: list(pair) for name, pair in phrases.items()},
    )


def lengths(count: int) -> list[dict[str, Any]]:
    """A scan whose validation accuracy is best at length 4."""
    train = [0.74, 0.80, 0.84, 0.90, 0.92, 0.93, 0.94]
    validation = [0.77, 0.80, 0.83, 0.875, 0.86, 0.84, 0.82]
    formulas = ["ascites", "not ascites", "albumin >= 2.9", "albumin >= 2.9 and not ascites"]
    return [
        {
            "length": length,
            "size": min(length, 4),
            "formula": formulas[min(length, 4) - 1],
            "errors": 20 - 2 * length,
            "train_accuracy": train[length - 1],
            "validation_accuracy": validation[length - 1],
            "proved": True,
            "seconds": 0.02 * 3**length,
            "solver": "native",
        }
        for length in range(1, count + 1)
    ]


def _with_model(common: FoldResult) -> FoldResult:
    model = {
        "parameters": {"n_estimators": 120, "max_depth": None, "max_features": "sqrt"},
        "trees": 120,
        "nodes": 2222,
        "trials": 100,
    }
    test = common.accuracy.test + 0.01
    accuracy = replace(common.accuracy, test=test)
    return replace(common, model=model, accuracy=accuracy)


def put(study: StudyPaths, *results: FoldResult) -> None:
    for made in results:
        result.save(study.fold(made.id).result, made)


def small_study(folder: Path) -> StudyPaths:
    """Two datasets, three methods and every kind of trouble."""
    study = StudyPaths(folder / "small")
    for method in ("pivot", "interval", "random_forest"):
        put(study, *(fold_result("hepatitis", method, fold) for fold in range(10)))
    _put_awkward(study)
    return study


def _put_awkward(study: StudyPaths) -> None:
    text = f"`{AWKWARD_COLUMN}` >= 3.5 or not `job=x_1`"
    phrases = {"job=x_1": ("job", "x_1")}
    words = f"Predict outcome = lives when {parse(text).words(phrases)}; otherwise outcome = dies."
    own: dict[str, Any] = {
        "formula": text,
        "words": words,
        "size": 4,
        "phrases": {name: list(pair) for name, pair in phrases.items()},
    }
    for fold in range(4):
        put(study, fold_result(AWKWARD, "pivot", fold, **own))
    unproved: dict[str, Any] = {"proved": False, "errors": 14, "lower_bound": 11}
    timed_out: dict[str, Any] = {"stop_reason": "timeout"}
    says_no: dict[str, Any] = {
        "confusion": Confusion(0, 0, 11, 2)
    }  # never positive: no better than the majority
    put(
        study,
        fold_result(AWKWARD, "pivot", 4, **own, **unproved),
        fold_result(AWKWARD, "pivot", 5, **own, **timed_out),
        fold_result(AWKWARD, "pivot", 6, **own, stop_reason="out_of_memory"),
        fold_result(AWKWARD, "random_forest", 0, settings={"trials": 100}, **says_no),
        fold_result(AWKWARD, "random_forest", 1, settings={"trials": 50}, **says_no),
    )


DATASETS = (
    *("bank", "breast_cancer", "diabetes", "german_credit"),
    *("heart_disease", "hepatitis", "student_dropout"),
)
METHODS = ("median", "pivot", "interval", "random_forest", "xgboost")


def large_study(folder: Path) -> StudyPaths:
    """As large as the paper's: 7 datasets x 5 methods x 10 folds, a few of them in trouble."""
    study = StudyPaths(folder / "large")
    random = Random(7)
    for dataset in DATASETS:
        base = random.uniform(0.7, 0.95)
        for number, method in enumerate(METHODS):
            for fold in range(10):
                made = fold_result(dataset, method, fold)
                test = min(1.0, random.gauss(base + 0.005 * number, 0.03))
                spent = Seconds(10 ** random.uniform(-1, 4), 10 ** random.uniform(-1, 3))
                changes: dict[str, Any] = {"seconds": spent}
                if made.formula:
                    changes |= {"length_bound": 4, "lengths": lengths(random.randint(5, 7))}
                else:
                    changes |= {"model": {**(made.model or {}), "nodes": random.randint(99, 99999)}}
                accuracy = replace(made.accuracy, test=test)
                put(study, replace(made, accuracy=accuracy, **changes))
    put(
        study,
        fold_result("bank", "interval", 3, proved=False, lower_bound=9),
        fold_result("bank", "interval", 4, stop_reason="timeout"),
        replace(fold_result("diabetes", "pivot", 2), solver="clingo_dl"),
    )
    study.fold(FoldId("hepatitis", "median", 9)).result.unlink()
    return study
