"""The formula that agrees best with another model: what a black box does, in one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from fsm_hpc.formulas.formula import Formula
from fsm_hpc.models.estimator import FormulaClassifier

HELD_OUT = 0.3  # of the rows, to judge the agreement by
SWAPPED = 0.3  # of a sampled row's values that come from another row


@dataclass(frozen=True)
class Explanation:
    """A formula in place of a model, and how far it may be trusted to say the same.

    Fidelity is the share of rows on which formula and model agree: on the rows that the formula
    was fitted on, on rows that were held out from a formula of the same length, and on rows
    sampled around the data, where no label is known but the model has an answer.
    """

    classifier: FormulaClassifier
    fidelity: float
    fidelity_held_out: float
    fidelity_sampled: float
    accuracy: float | None = None  # of the formula, where labels were given
    accuracy_of_model: float | None = None

    @property
    def formula(self) -> Formula:
        return self.classifier.formula_

    def __str__(self) -> str:
        agree = [
            f"{share:.1%} of the {rows} rows"
            for share, rows in (
                (self.fidelity, "fitted"),
                (self.fidelity_held_out, "held-out"),
                (self.fidelity_sampled, "sampled"),
            )
        ]
        lines = [self.classifier.model_.words, f"It agrees with the model on {', '.join(agree)}."]
        if self.accuracy is not None and self.accuracy_of_model is not None:
            lines.append(
                f"It is right on {self.accuracy:.1%} of the rows, the model on "
                f"{self.accuracy_of_model:.1%}."
            )
        return "\n".join(lines)


def explain_model(
    model: Any,
    X: Any,
    y: Any = None,
    samples: int = 1000,
    random_state: int = 42,
    **parameters: Any,
) -> Explanation:
    """The short formula that agrees most often with the predictions of another model.

    Parameters
    ----------
    model : object with a method `predict`
        The model to explain; it must be fitted.
    X : DataFrame, or array of shape (n_samples, n_features)
        Rows on which formula and model should agree.
    y : array-like of shape (n_samples,), default=None
        True classes, for the accuracy of both.
    samples : int, default=1000
        Number of rows sampled around the data, on which the agreement is measured, too.
    random_state : int, default=42
        Seed of the samples and splits.
    **parameters
        Parameters of FormulaClassifier.

    Returns
    -------
    Explanation
        The formula and its agreement with the model; `print` it.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = pd.DataFrame({"age": [22, 35, 47, 51, 62, 30], "member": [True, False] * 3})
    >>> tree = DecisionTreeClassifier().fit(X, ["no", "no", "yes", "yes", "yes", "no"])
    >>> explanation = explain_model(tree, X, length=1)
    >>> explanation.formula
    parse('age >= 47')
    >>> explanation.fidelity
    1.0
    """
    answers = np.asarray(model.predict(X))
    made = FormulaClassifier(random_state=random_state, **parameters).fit(X, answers)
    rng = np.random.default_rng(random_state)
    around = _sampled(X, samples, rng)
    return Explanation(
        made,
        _agreement(made.predict(X), answers),
        _held_out(made, X, answers, rng),
        _agreement(made.predict(around), model.predict(around)),
        None if y is None else _agreement(made.predict(X), y),
        None if y is None else _agreement(answers, y),
    )


def _held_out(
    made: FormulaClassifier, X: Any, answers: NDArray[Any], rng: np.random.Generator
) -> float:
    """How a formula of the same length, fitted on part of the rows, agrees on the others."""
    order = rng.permutation(len(answers))
    count = max(1, int(HELD_OUT * len(order)))
    held, rest = order[:count], order[count:]
    if len(set(answers[rest].tolist())) < 2:
        return _agreement(np.full(count, answers[rest][0]), answers[held])
    again = FormulaClassifier(**{**made.get_params(), "length": made.length_})
    again.fit(_safe_indexing(X, rest), answers[rest])
    return _agreement(again.predict(_safe_indexing(X, held)), answers[held])


def _sampled(X: Any, count: int, rng: np.random.Generator) -> Any:
    """Rows around the data: each is one of them, with some values of others."""
    rows = rng.integers(0, len(X), count)
    others = rng.integers(0, len(X), count)
    base, other = _safe_indexing(X, rows), _safe_indexing(X, others)
    swap = rng.random((count, X.shape[1])) < SWAPPED
    if not hasattr(X, "iloc"):
        return np.where(swap, other, base)
    made = base.reset_index(drop=True)
    for at, name in enumerate(X.columns):
        made[name] = made[name].where(~swap[:, at], other[name].reset_index(drop=True))
    return made.astype(X.dtypes.to_dict())


def _agreement(some: Any, others: Any) -> float:
    return float(np.mean(np.asarray(some) == np.asarray(others)))
