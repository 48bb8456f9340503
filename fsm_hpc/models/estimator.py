"""The scikit-learn face of the method: FormulaClassifier."""

from __future__ import annotations

import warnings
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from fsm_hpc.data.columns import Column, same_name
from fsm_hpc.formulas.formula import Formula, Truth
from fsm_hpc.formulas.language import Language
from fsm_hpc.models import learn, one_against_rest, parameters, several
from fsm_hpc.models.frames import check_frame, is_frame, refuse_table, warn_about_column_vector
from fsm_hpc.models.learn import Learnt
from fsm_hpc.models.model import Model
from fsm_hpc.models.refitting import anew
from fsm_hpc.models.refused import refuse_target
from fsm_hpc.models.rule_notes import NOTE, notes_on, one_answer
from fsm_hpc.models.several import Several
from fsm_hpc.models.similar import Alternatives
from fsm_hpc.models.source import Reading, Source
from fsm_hpc.models.splitting import splits_of
from fsm_hpc.models.table import sources_of, values_of
from fsm_hpc.models.told_as_code import ToldAsCode
from fsm_hpc.models.weighing import RowWeights, row_weights
from fsm_hpc.search import rounding
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.rounding import within_slack
from fsm_hpc.search.scan import StoppingRule
from fsm_hpc.search.solvers import make_solver
from fsm_hpc.search.solvers.base import Solver
from fsm_hpc.search.solvers.names import SolverName
from fsm_hpc.study.checkpoint import length_row
from fsm_hpc.system import clock, machine

if TYPE_CHECKING:
    import pandas as pd

ADVICE = "class_weight='balanced'"  # for a rare class
TARGET = "y"  # what an array's target is called


class FormulaClassifier(Alternatives, ToldAsCode, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A short Boolean formula as a classifier, proved optimal for its length.

    Of more than two classes each gets a formula against the rest (`formulas_`); the first that
    holds is the answer, in the order of how often each was right on the fitted rows.

    `method` is median, pivot or interval; `language` (paper, xor, dnf, ...) the connectives.
    `length=None` chooses the length by the mean accuracy on the validation parts of `splits` (a
    number of seeded splits, a splitter, or pairs of row lists); an integer fits the optimum of at
    most that size. The time limit is for everything; `cut_` and `proved_` tell what it cut.
    `cuts` says where numbers are cut: "observed" values, "midpoints" between them, `cuts_n`
    "quantiles", "rounded" ones that cost at most `cuts_slack` errors, or {"age": [18, 40, 65]}.
    A formula depends on the columns (or categories) that are named in `require`, has none of
    `forbid`, may only become true (false) with those of `increasing` (`decreasing`), has at most
    `max_columns`, and propositions that hold on, and fail on, `min_support` fitted rows or more.
    With `missing="keep"` no comparison holds where a value is missing, which a formula can say.
    `class_weight` is None, "balanced" (both classes count the same, however many rows they have) or
    a weight for each class; lengths are then chosen by the same measure, `measure_`.

        >>> FormulaClassifier(method="pivot").fit(X, y).formula_   # doctest: +SKIP
        duration >= 767 or poutcome_success
    """

    def __init__(
        self,
        method: str = "pivot",
        solver: str | Solver = "portfolio",
        length: int | None = None,
        splits: Any = 5,
        patience: int = 4,
        plateau: int | None = 4,
        max_length: int | None = 10,
        validation_fraction: float = 0.3,
        time_limit_s: float | None = 60.0,
        language: str = "paper",
        cuts: Any = "observed",
        cuts_n: int = 10,
        cuts_slack: int = 0,
        require: Any = (),
        forbid: Any = (),
        increasing: Any = (),
        decreasing: Any = (),
        min_support: int = 0,
        max_columns: int | None = None,
        missing: str = "error",
        class_weight: Any = None,
        threads: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = 42,
    ) -> None:
        self.method = method
        self.solver = solver
        self.length = length
        self.splits = splits
        self.patience = patience
        self.plateau = plateau
        self.max_length = max_length
        self.validation_fraction = validation_fraction
        self.time_limit_s = time_limit_s
        self.language = language
        self.cuts = cuts
        self.cuts_n = cuts_n
        self.cuts_slack = cuts_slack
        self.require = require
        self.forbid = forbid
        self.increasing = increasing
        self.decreasing = decreasing
        self.min_support = min_support
        self.max_columns = max_columns
        self.missing = missing
        self.class_weight = class_weight
        self.threads = threads
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing == "keep"
        return tags

    @anew
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> FormulaClassifier:  # noqa: N803
        """Find the formula; `X` is a DataFrame or a numeric array, `y` has the classes.

        A row of `sample_weight` two counts like two rows, one of weight zero like none. Ctrl-C
        ends the search and keeps the best so far.
        """
        started = clock.monotonic()
        parameters.check(self)
        labels, weights = self._labels(X, y, sample_weight)
        if len(self.classes_) > 2:
            one_against_rest.fit(self, X, y, _name_of(y), weights)
            return self._warned()
        columns = self._fit_columns(X, weights)
        wanted = (parameters.cuts_of(self), Language(self.language))
        weighed = (weights.objective, weights.given)
        constraints = parameters.constraints_of(self)
        sample = getattr(self, "_sample", weights.sample)  # of one class against the rest
        fitted = Problem.build(
            columns, labels, Method(self.method), None, *wanted, *weighed, constraints, sample
        )
        splits = [] if self.length is not None else splits_of(self, X, fitted, weights)
        solver, prepared = self.solver, clock.monotonic()
        if isinstance(solver, str):
            solver = make_solver(SolverName(solver), self.threads or machine.available_cores())
        started += clock.monotonic() - prepared  # compiling is outside of the time limit
        rule = StoppingRule(self.patience, self.max_length, self.plateau)
        with closing(solver), learn.shown(self.verbose, "formula") as watch:
            length = None if self.length is None else int(self.length)
            limit = (self.time_limit_s, watch, started)
            learnt = learn.learn(fitted, splits, solver, rule, length, *limit)
        self._keep(fitted, learnt, _name_of(y))
        self._fitted = fitted
        return self._warned()

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        if self._has_several:
            return one_against_rest.predict(self, self._table(X))
        holds = self._holds(X)
        return np.asarray(self.classes_[holds.astype(int)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """The shares of the classes among the fitted rows that get the same answer.

        Rows count with their sample weights and without class weights, under which the predicted
        class may therefore be the less likely one. Without such rows both are a half.
        """
        if self._has_several:
            return one_against_rest.shares(self, self._table(X))
        no, yes = self.model_.shares
        positive = np.where(self._holds(X), yes, 1.0 - no)
        return np.column_stack([1.0 - positive, positive])

    # ----------------------------------------------------------------------------- the rule itself

    def save(self, path: str | Path) -> None:
        """Write model.json, which `load`, `python -m fsm_hpc predict` and `export` read."""
        check_is_fitted(self)
        several.save(Path(path), self.model_)

    @classmethod
    def load(cls, path: str | Path) -> FormulaClassifier:
        """A fitted classifier from model.json."""
        known = several.load(Path(path))
        missing = "keep" if any(s.keeps_missing for s in known.sources) else "error"
        made = cls(
            method=known.method,
            language=known.language.value,
            missing=missing,
            **known.constraints,
        )
        made._sources = list(known.sources)
        if isinstance(known, Several):
            made.classes_ = np.unique(np.array(known.classes))
            one_against_rest.take(made, known)
            return made
        made.classes_ = np.array(known.classes)
        made._take(known)
        return made

    def _repr_html_(self) -> str:
        """The card of a fitted rule; scikit-learn's own picture before."""
        if not hasattr(self, "model_"):
            return str(super()._repr_html_inner())
        from fsm_hpc.models.card import fragment

        return fragment(self.model_)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """What a notebook shows."""
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    # -------------------------------------------------------------------------------- the fitting

    def _keep(self, fitted: Problem, learnt: Learnt, target: Any) -> None:
        import pandas as pd

        formula = within_slack(fitted, learnt.formula)
        used = {p.column for p in formula.propositions()}
        classes = self.classes_.tolist()
        named = getattr(self, "_named", classes)  # of one class against the rest
        self._take(
            Model(
                formula=formula,
                target=str(target),
                classes=(classes[0], classes[1]),
                sources=tuple(s for s in self._sources if used & set(s.names)),
                shares=learn.shares(fitted, formula),
                method=self.method,
                language=fitted.language,
                constraints=parameters.constraints_of(self).named,
                rows=fitted.rows,
                errors=fitted.errors(formula),
                measure=fitted.measure,
                weight=None if fitted.weights is None else fitted.weight,
                length=learnt.length,
                proved=learnt.proved,
                before_rounding=rounding.before(fitted, learnt.formula, formula),
                stop_reason=learnt.stop_reason,
                cut=learnt.cut,
                lengths=tuple(map(length_row, learnt.lengths)),
                figures={"majority": float(max(fitted.labels.mean(), 1 - fitted.labels.mean()))},
                notes=(
                    *learnt.told,
                    *notes_on(fitted, formula, named, None if self.class_weight else ADVICE),
                    *one_answer(fitted, formula, str(target), named),
                ),
            )
        )
        self.path_: pd.DataFrame = pd.DataFrame(map(length_row, learnt.lengths))

    def _take(self, made: Model) -> None:
        self.model_: Model | Several = made
        self.formula_: Formula = made.formula
        self.size_ = made.formula.size
        self.errors_ = made.errors
        self.measure_ = made.measure
        self.proved_ = made.proved
        self.length_ = made.length
        self.stop_reason_ = made.stop_reason
        self.cut_ = made.cut

    def _warned(self) -> FormulaClassifier:
        from sklearn.exceptions import ConvergenceWarning

        for note in self.model_.notes:
            if NOTE not in note:
                warnings.warn(note, ConvergenceWarning, stacklevel=4)  # of who calls fit
        return self

    # -------------------------------------------------------------------------------- the input

    def _labels(self, X: Any, y: Any, sample_weight: Any) -> tuple[Truth, RowWeights]:  # noqa: N803
        refuse_target(y, sample_weight)
        y = check_array(y, ensure_2d=False, dtype=None)
        if y.ndim == 2 and y.shape[1] == 1:
            warn_about_column_vector()
        y = np.ravel(y)
        check_consistent_length(X, y)
        check_classification_targets(y)
        weights = row_weights(X, y, sample_weight, self.class_weight)
        y = y[weights.kept]
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(f"expected two classes in y, found 1 class: {self.classes_!r}")
        return np.asarray(y == self.classes_[1]), weights

    def _fit_columns(self, X: Any, weights: RowWeights) -> list[Column]:  # noqa: N803
        X = self._checked(X, reset=True)  # noqa: N806
        X = X if weights.keeps_all else _safe_indexing(X, weights.kept)  # noqa: N806
        self._sources: list[Source] = sources_of(X, self.missing == "keep")
        columns = [c for c in self._columns(X) if not c.is_gap or c.values.any()]
        twins = same_name(columns)
        if twins is not None:
            raise ValueError(f"two columns or categories are called {twins[0].name!r}; rename one")
        return columns

    def _holds(self, X: Any) -> Truth:  # noqa: N803
        check_is_fitted(self)
        return self.formula_.evaluate(self._table(X))

    def _table(self, X: Any) -> dict[str, Any]:  # noqa: N803
        X = self._checked(X, reset=False)  # noqa: N806
        return {c.name: c.values for c in self._columns(X)}

    @property
    def _has_several(self) -> bool:
        check_is_fitted(self)
        return len(self.classes_) > 2

    def _checked(self, X: Any, reset: bool) -> Any:  # noqa: N803
        is_known = reset or hasattr(self, "n_features_in_")  # a loaded rule knows its own columns
        keeps = self.missing == "keep" if reset else any(s.keeps_missing for s in self._sources)
        finite = "allow-nan" if keeps else True
        refuse_table(X)
        if not is_frame(X):
            if is_known:
                return validate_data(
                    self, X, dtype=np.float64, reset=reset, ensure_all_finite=finite
                )
            return check_array(X, dtype=np.float64, ensure_all_finite=finite)
        if is_known:
            validate_data(self, X, skip_check_array=True, reset=reset)
        check_frame(X, keeps)
        return X

    def _columns(self, X: Any) -> list[Column]:  # noqa: N803
        reading = Reading(len(X))
        columns = [c for s in self._sources for c in s.columns(values_of(X, s), reading)]
        if reading.problems:
            raise ValueError("; ".join(reading.problems))
        return columns


def _name_of(y: Any) -> Any:
    is_named = getattr(y, "ndim", 0) == 1 and getattr(y, "name", None) is not None
    return y.name if is_named else TARGET
