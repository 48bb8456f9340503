"""The rule beside other models: who is ahead, by how much, and how it is worded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fsm_hpc import FormulaClassifier
from fsm_hpc.cli.main import main
from fsm_hpc.models import model as model_file
from fsm_hpc.models.comparison import compare

LABELS = np.array([0, 1] * 200)


def flipped(count: int) -> Any:
    """The labels, the first so many of them wrong."""
    return np.where(np.arange(len(LABELS)) < count, 1 - LABELS, LABELS)


@pytest.mark.parametrize(
    ("rule", "other", "sentence"),
    [
        (40, 0, "Forest is 10.0 points more accurate (95 % CI 7.1 to 12.9); a single rule may not"),
        (0, 40, "The rule is 10.0 points more accurate than forest, the best of the other models"),
        (20, 20, "No other model is clearly ahead: forest differs from the rule by +0.0 points"),
    ],
)
def test_one_sentence_says_who_is_ahead(rule: int, other: int, sentence: str) -> None:
    assert str(compare(LABELS, flipped(rule), {"forest": flipped(other)}, False)).startswith(
        sentence
    )


def test_balanced_classes_count_alike() -> None:
    labels = np.array([0] * 90 + [1] * 10)
    always = np.zeros(100, dtype=np.int64)
    found = compare(labels, always, {"other": labels}, is_balanced=True)
    assert found.rule == pytest.approx(0.5)
    assert found.models[0].difference == pytest.approx(0.5)
    assert "ahead in balanced accuracy" in str(found)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    frame: pd.DataFrame = pd.DataFrame(rng.normal(size=(200, 3)).round(3), columns=list("abc"))
    frame["y"] = np.where(frame.sum(axis=1) > 0, "yes", "no")
    return frame


def test_fit_writes_the_comparison_to_file_card_and_terminal(
    table: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table.to_csv(tmp_path / "t.csv", index=False)
    words = ["dataset=csv", f"dataset.path={tmp_path}/t.csv", "dataset.target=y", "method=pivot"]
    words += ["solver=native", "scan.max_length=2", "fit.folds=3", f"out={tmp_path}/rule"]
    assert main(["fit", *words, "fit.compare=all"]) == 0
    sentence = "Logistic regression is "
    assert sentence in capsys.readouterr().out
    assert sentence in (tmp_path / "rule" / "model.html").read_text()
    found = model_file.load(tmp_path / "rule" / "model.json").figures["comparison"]
    names = [model["name"] for model in found["models"]]
    assert names == ["a tree of depth 3", "logistic regression", "XGBoost"]
    assert main(["fit", *words, "fit.compare=none"]) == 0
    assert "comparison" not in model_file.load(tmp_path / "rule" / "model.json").figures


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_python_compares_the_same_way(
    table: pd.DataFrame, classes: int, class_weight: str | None
) -> None:
    X = table[["a", "b", "c"]]
    y = np.digitize(X["a"] + X["b"], [0] if classes == 2 else [-0.5, 0.5])
    classifier = FormulaClassifier(length=1, solver="native", n_jobs=1, class_weight=class_weight)
    found = classifier.compare(X, y, cv=3)
    assert found.measure == ("accuracy" if class_weight is None else "balanced accuracy")
    assert "ogistic regression is " in str(found)
    assert "a single rule may not suit this table" in str(found)
