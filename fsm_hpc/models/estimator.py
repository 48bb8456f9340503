"""The scikit-learn face of the method: FormulaClassifier."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from fsm_hpc.data.columns import Column, Kind, one_hot, same_name
from fsm_hpc.data.folds import split
from fsm_hpc.formulas.formula import Formula, Truth
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.scan import Limits, ScanState, StoppingRule, finish, scan
from fsm_hpc.search.solvers import make_solver
from fsm_hpc.search.solvers.base import End, Solver
from fsm_hpc.search.solvers.names import SolverName
from fsm_hpc.study.checkpoint import length_to_dict
from fsm_hpc.system import machine

if TYPE_CHECKING:
    import pandas as pd

LONGEST = 10  # a scan looks no further: longer formulas are not read any more, and take long
_METHODS = [method.value for method in Method if method.finds_formula]
_SOLVERS = [solver.value for solver in SolverName]


@dataclass(frozen=True, slots=True)
class _Source:
    """A column as it was fitted: numeric, Boolean, or one with these categories."""

    name: str
    kind: Kind
    categories: tuple[str, ...] | None = None

    def columns(self, values: Any) -> list[Column]:
        if self.categories is None:
            return [Column(self.name, self.kind, values)]
        return list(one_hot(self.name, self.categories, np.asarray(values).astype(str)))


class FormulaClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A short Boolean formula as a binary classifier, proved optimal for its length.

    `method` is median, pivot or interval; `length=None` chooses the length (up to 10) on a
    validation part, an integer fits the optimum of at most that size on all rows.

        >>> FormulaClassifier(method="pivot").fit(X, y).formula_   # doctest: +SKIP
        duration >= 767 or poutcome_success
    """

    def __init__(
        self,
        method: str = "pivot",
        solver: str | Solver = "portfolio",
        length: int | None = None,
        patience: int = 2,
        validation_fraction: float = 0.3,
        time_limit_s: float | None = None,
        threads: int | None = None,
        random_state: int | np.random.RandomState | None = 42,
    ) -> None:
        self.method = method
        self.solver = solver
        self.length = length
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.time_limit_s = time_limit_s
        self.threads = threads
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def fit(self, X: Any, y: Any) -> FormulaClassifier:  # noqa: N803
        """Find the formula; `X` is a DataFrame or a numeric array, `y` has two classes."""
        self._check_parameters()
        labels = self._labels(X, y)
        columns = self._fit_columns(X)
        fitted = Problem.build(columns, labels, Method(self.method))
        solver = self.solver
        if isinstance(solver, str):
            solver = make_solver(SolverName(solver), self.threads or machine.available_cores())
        with closing(solver):
            state = self._search(fitted, solver)
        self._keep(fitted, state)
        return self

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        holds = self._holds(X)
        return np.asarray(self.classes_[holds.astype(int)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """The shares of the classes among the fitted rows where the formula says the same.

        The predicted class never gets less than half, so that `predict` is the likelier one.
        """
        holds = self._holds(X)
        positive = np.where(holds, self._share_where_true, self._share_where_false)
        return np.column_stack([1.0 - positive, positive])

    # ------------------------------------------------------------------------------- the search

    def _search(self, fitted: Problem, solver: Solver) -> ScanState:
        state = ScanState()
        if self.length is not None:
            limits = Limits(final_budget_s=self.time_limit_s)
            return _last(finish(fitted, solver, state, limits, self.length), state)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        if isinstance(self.random_state, (int, np.integer)):
            seed = int(self.random_state)
        parts = split(np.arange(fitted.rows), self.validation_fraction, seed)
        train, validation = (
            Problem.build(fitted.columns, fitted.labels, fitted.method, rows) for rows in parts
        )
        half = None if self.time_limit_s is None else self.time_limit_s / 2
        limits = Limits(StoppingRule(self.patience, LONGEST), scan_budget_s=half)
        state = _last(scan(train, validation, solver, state, limits), state)
        left = None if self.time_limit_s is None else self.time_limit_s - state.scan_s
        return _last(finish(fitted, solver, state, Limits(final_budget_s=left)), state)

    def _keep(self, fitted: Problem, state: ScanState) -> None:
        import pandas as pd

        assert state.final is not None
        assert state.final.best.formula is not None
        self.formula_: Formula = state.final.best.formula
        self.size_ = self.formula_.size
        self.errors_ = fitted.errors(self.formula_)
        self.proved_ = state.final.end is End.PROVED
        self.length_ = state.final.length
        self.path_: pd.DataFrame = pd.DataFrame(map(length_to_dict, state.lengths))
        truth = self.formula_.evaluate(fitted.table)
        just_above = float(np.nextafter(0.5, 1.0))
        self._share_where_true = max(_share(fitted.labels[truth]), just_above)
        self._share_where_false = min(_share(fitted.labels[~truth]), 0.5)

    # -------------------------------------------------------------------------------- the input

    def _check_parameters(self) -> None:
        _check_name("method", self.method, _METHODS)
        if not hasattr(self.solver, "solve"):
            _check_name("solver", self.solver, _SOLVERS)
        for name, value in (("length", self.length), ("threads", self.threads)):
            if value is not None and (not isinstance(value, Integral) or value < 1):
                raise ValueError(f"{name}: expected None or at least 1, found {value!r}")
        if self.patience < 1:
            raise ValueError(f"patience: expected at least 1, found {self.patience!r}")
        if not 0 < self.validation_fraction < 1:
            found = self.validation_fraction
            raise ValueError(f"validation_fraction: expected between 0 and 1, found {found!r}")

    def _labels(self, X: Any, y: Any) -> Truth:  # noqa: N803
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        y = check_array(y, ensure_2d=False, dtype=None)
        if y.ndim == 2 and y.shape[1] == 1:
            _warn_about_column_vector()
        y = np.ravel(y)
        check_consistent_length(X, y)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) == 1:
            raise ValueError(f"expected two classes in y, found 1 class: {self.classes_[0]!r}")
        if len(self.classes_) > 2:
            kind = type_of_target(y)
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}."
            )
        return np.asarray(y == self.classes_[1])

    def _fit_columns(self, X: Any) -> list[Column]:  # noqa: N803
        if not _is_frame(X):
            X = validate_data(self, X, dtype=np.float64)  # noqa: N806
            self._sources = [_Source(f"x{i}", Kind.NUMERIC) for i in range(X.shape[1])]
        else:
            _check_frame(self, X, reset=True)
            self._sources = [_source(str(name), X[name]) for name in X.columns]
        columns = self._columns(X)
        twins = same_name(columns)
        if twins is not None:
            raise ValueError(f"two columns or categories are called {twins[0].name!r}; rename one")
        return columns

    def _holds(self, X: Any) -> Truth:  # noqa: N803
        check_is_fitted(self)
        if _is_frame(X):
            _check_frame(self, X, reset=False)
        else:
            X = validate_data(self, X, dtype=np.float64, reset=False)  # noqa: N806
        table = {column.name: column.values for column in self._columns(X)}
        return self.formula_.evaluate(table)

    def _columns(self, X: Any) -> list[Column]:  # noqa: N803
        return [
            column
            for index, source in enumerate(self._sources)
            for column in source.columns(_values(X, index, source))
        ]


def _check_name(parameter: str, value: Any, known: list[str]) -> None:
    if value not in known:
        raise ValueError(f"{parameter}: expected one of {', '.join(known)}, found {value!r}")


def _values(X: Any, index: int, source: _Source) -> NDArray[Any]:  # noqa: N803
    if not _is_frame(X):
        return np.asarray(X[:, index])
    series = X.iloc[:, index]
    if source.categories is not None:
        return np.asarray(series.astype(object))
    dtype = bool if source.kind is Kind.BOOLEAN else np.float64
    values = check_array(series.to_numpy(dtype=dtype), ensure_2d=False, dtype=dtype)
    return np.asarray(values)


def _source(name: str, series: Any) -> _Source:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if is_bool_dtype(series):
        return _Source(name, Kind.BOOLEAN)
    if is_numeric_dtype(series):
        return _Source(name, Kind.NUMERIC)
    return _Source(name, Kind.BOOLEAN, tuple(sorted({str(value) for value in series})))


def _is_frame(X: Any) -> bool:  # noqa: N803
    return hasattr(X, "iloc") and hasattr(X, "columns")


def _check_frame(estimator: Any, X: Any, reset: bool) -> None:  # noqa: N803
    validate_data(estimator, X, skip_check_array=True, reset=reset)
    if min(X.shape) == 0:
        what = "feature(s)" if X.shape[1] == 0 else "sample(s)"
        raise ValueError(
            f"Found array with 0 {what} (shape={X.shape}) while a minimum of 1 is required."
        )
    holes = [str(name) for name in X.columns if X[name].isna().any()]
    if holes:
        raise ValueError(f"expected no missing values, found NaN in column {holes[0]!r}")


def _warn_about_column_vector() -> None:
    import warnings

    from sklearn.exceptions import DataConversionWarning

    warnings.warn(
        "A column-vector y was passed when a 1d array was expected.",
        DataConversionWarning,
        stacklevel=4,
    )


def _share(labels: Truth) -> float:
    return float(np.mean(labels)) if len(labels) else 0.5


def _last(states: Iterator[ScanState], otherwise: ScanState) -> ScanState:
    ends = deque(states, maxlen=1)
    return ends[0] if ends else otherwise
