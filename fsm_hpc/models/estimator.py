"""The scikit-learn face of the method: FormulaClassifier."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from contextlib import closing
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from fsm_hpc.data.columns import Column, same_name
from fsm_hpc.data.fold_kind import Folding
from fsm_hpc.data.folds import make_splits
from fsm_hpc.formulas.formula import Formula, Truth
from fsm_hpc.models import learn, model, parameters
from fsm_hpc.models.learn import Learnt
from fsm_hpc.models.model import Model
from fsm_hpc.models.source import Reading, Source
from fsm_hpc.models.table import sources_of, values_of
from fsm_hpc.search.ladder import Split
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.scan import StoppingRule
from fsm_hpc.search.solvers import make_solver
from fsm_hpc.search.solvers.base import Solver
from fsm_hpc.search.solvers.names import SolverName
from fsm_hpc.study.checkpoint import length_to_dict
from fsm_hpc.system import machine

if TYPE_CHECKING:
    import pandas as pd

TARGET = "y"  # what an array's target is called


class FormulaClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A short Boolean formula as a binary classifier, proved optimal for its length.

    `method` is median, pivot or interval. `length=None` chooses the length by the mean accuracy
    on the validation parts of `splits` (a number of seeded splits, a scikit-learn splitter, or
    pairs of row lists); an integer fits the optimum of at most that size on all rows. The time
    limit is for everything; what it cut is told in a warning and in `cut_` and `proved_`.

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
        self.threads = threads
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def fit(self, X: Any, y: Any) -> FormulaClassifier:  # noqa: N803
        """Find the formula; `X` is a DataFrame or a numeric array, `y` has two classes.

        Ctrl-C ends the search and keeps the best so far.
        """
        parameters.check(self)
        labels = self._labels(X, y)
        columns = self._fit_columns(X)
        fitted = Problem.build(columns, labels, Method(self.method))
        splits = [] if self.length is not None else self._splits(X, fitted)
        solver = self.solver
        if isinstance(solver, str):
            solver = make_solver(SolverName(solver), self.threads or machine.available_cores())
        rule = StoppingRule(self.patience, self.max_length, self.plateau)
        with closing(solver), learn.shown(self.verbose, "formula") as watch:
            length = None if self.length is None else int(self.length)
            learnt = learn.learn(fitted, splits, solver, rule, length, self.time_limit_s, watch)
        is_named = getattr(y, "ndim", 0) == 1 and getattr(y, "name", None) is not None
        self._keep(fitted, learnt, y.name if is_named else TARGET)
        for told in learnt.told:
            self._warn(told)
        return self

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        holds = self._holds(X)
        return np.asarray(self.classes_[holds.astype(int)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """The shares of the classes among the fitted rows where the formula says the same.

        The predicted class never gets less than half, so that `predict` is the likelier one.
        """
        holds = self._holds(X)
        no, yes = self.model_.shares
        just_above = float(np.nextafter(0.5, 1.0))
        positive = np.where(holds, max(yes, just_above), min(1.0 - no, 0.5))
        return np.column_stack([1.0 - positive, positive])

    # ----------------------------------------------------------------------------- the rule itself

    def save(self, path: str | Path) -> None:
        """Write model.json, which `load`, `python -m fsm_hpc predict` and `export` read."""
        check_is_fitted(self)
        model.save(Path(path), self.model_)

    @classmethod
    def load(cls, path: str | Path) -> FormulaClassifier:
        """A fitted classifier from model.json."""
        known = model.load(Path(path))
        made = cls(method=known.method)
        made.classes_ = np.array(known.classes)
        made._sources = list(known.sources)
        made._take(known)
        return made

    def to_sql(self) -> str:
        """One expression that a SELECT can hold."""
        return self._exported("sql")

    def to_python(self) -> str:
        """A function that needs nothing else."""
        return self._exported("python")

    def to_javascript(self) -> str:
        return self._exported("javascript")

    def to_excel(self) -> str:
        return self._exported("excel")

    def export_text(self) -> str:
        """The rule in words, and what is known of it."""
        return self._exported("text")

    def _exported(self, language: str) -> str:
        from fsm_hpc.models.exporters import export

        check_is_fitted(self)
        return export(self.model_, language)

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

    def _splits(self, X: Any, fitted: Problem) -> list[Split]:  # noqa: N803
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        if isinstance(self.random_state, (int, np.integer)):
            seed = int(self.random_state)
        rows = np.arange(fitted.rows)
        pairs: Iterable[Any]
        if isinstance(self.splits, Integral):
            count = int(self.splits)
            folding = Folding(seed=seed, validation_fraction=self.validation_fraction, splits=count)
            pairs = make_splits(rows, fitted.labels, None, folding)
        elif hasattr(self.splits, "split"):
            pairs = self.splits.split(X, fitted.labels)
        else:
            pairs = self.splits
        made = []
        for train, validation in pairs:
            parts = [np.asarray(part) for part in (train, validation)]
            if any(part.size == 0 for part in parts):
                raise ValueError("splits: expected rows on both sides of every split, found none")
            parts = [np.flatnonzero(part) if part.dtype == bool else part for part in parts]
            built = (Problem.build(fitted.columns, fitted.labels, fitted.method, p) for p in parts)
            made.append(Split(*built))
        if not made:
            raise ValueError("splits: expected at least one split, found none")
        return made

    def _keep(self, fitted: Problem, learnt: Learnt, target: Any) -> None:
        import pandas as pd

        used = {p.column for p in learnt.formula.propositions()}
        classes = self.classes_.tolist()
        self._take(
            Model(
                formula=learnt.formula,
                target=str(target),
                classes=(classes[0], classes[1]),
                sources=tuple(s for s in self._sources if used & set(s.one_hot_names)),
                shares=learn.shares(fitted, learnt.formula),
                method=self.method,
                rows=fitted.rows,
                errors=fitted.errors(learnt.formula),
                length=learnt.length,
                proved=learnt.proved,
                stop_reason=learnt.stop_reason,
                cut=learnt.cut,
                lengths=tuple(map(length_to_dict, learnt.lengths)),
                figures={"majority": float(max(fitted.labels.mean(), 1 - fitted.labels.mean()))},
                notes=learnt.told,
            )
        )
        self.path_: pd.DataFrame = pd.DataFrame(map(length_to_dict, learnt.lengths))

    def _take(self, made: Model) -> None:
        self.model_ = made
        self.formula_: Formula = made.formula
        self.size_ = made.formula.size
        self.errors_ = made.errors
        self.proved_ = made.proved
        self.length_ = made.length
        self.stop_reason_ = made.stop_reason
        self.cut_ = made.cut

    def _warn(self, text: str) -> None:
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(text, ConvergenceWarning, stacklevel=3)

    # -------------------------------------------------------------------------------- the input

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
        X = self._checked(X, reset=True)  # noqa: N806
        self._sources: list[Source] = sources_of(X)
        columns = self._columns(X)
        twins = same_name(columns)
        if twins is not None:
            raise ValueError(f"two columns or categories are called {twins[0].name!r}; rename one")
        return columns

    def _holds(self, X: Any) -> Truth:  # noqa: N803
        check_is_fitted(self)
        X = self._checked(X, reset=False)  # noqa: N806
        return self.formula_.evaluate({c.name: c.values for c in self._columns(X)})

    def _checked(self, X: Any, reset: bool) -> Any:  # noqa: N803
        is_known = reset or hasattr(self, "n_features_in_")  # a loaded rule knows its own columns
        if not _is_frame(X):
            if is_known:
                return validate_data(self, X, dtype=np.float64, reset=reset)
            return check_array(X, dtype=np.float64)
        if is_known:
            validate_data(self, X, skip_check_array=True, reset=reset)
        _check_frame(X)
        return X

    def _columns(self, X: Any) -> list[Column]:  # noqa: N803
        reading = Reading(len(X))
        columns = [c for s in self._sources for c in s.columns(values_of(X, s), reading)]
        if reading.problems:
            raise ValueError("; ".join(reading.problems))
        return columns


def _is_frame(X: Any) -> bool:  # noqa: N803
    return hasattr(X, "iloc") and hasattr(X, "columns")


def _check_frame(X: Any) -> None:  # noqa: N803
    if min(X.shape) == 0:
        what = "feature(s)" if X.shape[1] == 0 else "sample(s)"
        raise ValueError(
            f"Found array with 0 {what} (shape={X.shape}) while a minimum of 1 is required."
        )
    holes = [str(name) for name in X.columns if X[name].isna().any()]
    if holes:
        raise ValueError(f"expected no missing values, found NaN in column {holes[0]!r}")
    for name, kind in X.dtypes.items():
        if getattr(kind, "kind", "") == "f" and not np.isfinite(X[name].to_numpy(float)).all():
            raise ValueError(f"expected finite numbers, found infinity in column {str(name)!r}")


def _warn_about_column_vector() -> None:
    from sklearn.exceptions import DataConversionWarning

    warnings.warn(
        "A column-vector y was passed when a 1d array was expected.",
        DataConversionWarning,
        stacklevel=4,
    )
