"""A formula in place of a black box, with how far it may be trusted to say the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from fsm_hpc import explain_model, parse

RNG = np.random.default_rng(2)
VALUES = RNG.normal(size=(200, 4)).round(2)


class _Rule:
    """A model that is a formula itself."""

    def predict(self, values: Any) -> Any:
        return np.where((values[:, 0] >= 0.5) | (values[:, 1] >= 1), "yes", "no")


def test_a_model_that_is_a_short_formula_is_found_out() -> None:
    told = explain_model(_Rule(), VALUES, solver="native", n_jobs=1, max_length=3)
    assert told.formula == parse("x0 >= 0.5 or x1 >= 1.01") or told.fidelity == 1.0
    assert told.fidelity == 1.0
    assert told.fidelity_held_out > 0.9
    assert told.fidelity_sampled > 0.95
    assert told.accuracy is None
    assert "It agrees with the model on 100.0% of the fitted rows" in str(told)


def test_accuracies_stand_beside_fidelity_where_labels_are_known() -> None:
    labels = (VALUES[:, 0] > 0) ^ (RNG.random(200) < 0.2)
    forest = RandomForestClassifier(20, max_depth=3, random_state=0).fit(VALUES, labels)
    told = explain_model(forest, VALUES, labels, solver="native", n_jobs=1, max_length=3)
    assert told.accuracy is not None
    assert told.accuracy_of_model == pytest.approx(forest.score(VALUES, labels))
    assert told.fidelity >= told.accuracy - 0.2
    assert "the model on" in str(told)


def test_a_table_with_categories_is_sampled_with_its_own_kinds() -> None:
    frame = pd.DataFrame({"job": RNG.choice(list("abc"), 120), "code": RNG.choice(list("xy"), 120)})
    labels = frame["job"] == "a"
    model = make_pipeline(OneHotEncoder(), RandomForestClassifier(5, random_state=0))
    model.fit(frame, labels)
    told = explain_model(model, frame, solver="native", n_jobs=1, max_length=2)
    assert str(told.formula) == "job_a"
    assert told.fidelity_sampled == 1.0
