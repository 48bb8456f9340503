"""The method as a scikit-learn classifier: FormulaClassifier."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from fsm_hpc.models import inputs, model, searching
from fsm_hpc.models.comparison import Comparison
from fsm_hpc.models.fitted import FitResult, FittedAttributes
from fsm_hpc.models.notes import FrontEnd
from fsm_hpc.search.solvers.base import Solver
from fsm_hpc.system import clock


class FormulaClassifier(FittedAttributes, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Short Boolean formula as a classifier, proved optimal for its length.

    With two classes one formula decides between them. With more, each class has a formula against
    the others; the first that holds gives the prediction, in the order of their precision.

    Parameters
    ----------
    method : {"pivot", "interval", "median"}, default="pivot"
        Propositions of numeric columns: ``x >= t``, ``a <= x <= b``, or ``x > median``.
    solver : {"portfolio", "native", "clingo_dl"} or Solver, default="portfolio"
        Who searches; "portfolio" is "native" first, then "clingo_dl" beside it.
    length : int, default=None
        Largest size of the formula. None chooses it by accuracy on validation rows.
    cv : int, splitter or iterable of (train, validation), default=5
        Splits that choose the length. A number means that many seeded random splits.
    patience : int, default=4
        Number of lengths without a new best validation accuracy after which the search stops.
    max_length : int, default=10
        Largest length to try; None for no limit.
    validation_fraction : float, default=0.3
        Share of the rows of each random split that validates.
    time_limit_s : float, default=60
        Seconds for everything but compilation; None for no limit. See `timed_out_`, `proved_`.
    language : str, default="paper"
        Connectives: "paper" (not, and, or), "xor", "implies", "dnf", "cnf", "conjunction",
        "disjunction" or "at_least".
    cuts : str or dict, default="observed"
        Thresholds of numbers: "observed" values, "midpoints", "quantiles", "rounded", or a list
        for each column such as ``{"age": [18, 40, 65]}``.
    n_quantiles : int, default=10
        Number of thresholds of a column with ``cuts="quantiles"``.
    rounding_tolerance : int, default=0
        Errors that rounding may cost with ``cuts="rounded"``.
    require, forbid : list of str, default=()
        Columns or categories that the formula must depend on, or must not contain.
    increasing, decreasing : list of str, default=()
        Columns with which the formula may only become true, or only false.
    min_support : int, default=0
        Fitted rows on which each proposition holds, and on which it fails, at least.
    max_columns : int, default=None
        Largest number of columns in the formula.
    missing : {"error", "keep"}, default="error"
        With "keep" no comparison holds for a missing value, and formulas can ask for it.
    feature_types : dict, default=None
        Kind of a column where inference is not wanted: "numeric", "boolean", "categorical",
        "date", "ordered", or a list of categories from low to high.
    class_weight : {"balanced"} or dict, default=None
        Weights of the classes; the length is then chosen by the same measure, `measure_`.
    n_jobs : int, default=None
        Threads; None and -1 mean all cores.
    verbose : int, default=0
        1 shows the progress of the search.
    random_state : int, RandomState or None, default=42
        Seed of the random splits.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    rules_ : tuple of Rule
        One rule for two classes, otherwise one for each class in the order of evaluation.
    formula_ : Formula
        Formula that predicts ``classes_[1]``; only for two classes.
    size_ : int
        Size of the formula, summed over the rules.
    length_ : int
        Largest size that the search of the rules allowed.
    errors_ : int
        Errors on the fitted rows, each with the weight of its row.
    measure_ : str
        What the formulas are the best at, such as "accuracy" or "balanced accuracy".
    proved_ : bool
        Whether every formula is proved to be the best of its length.
    lower_bound_ : int
        Errors that no formula of that length goes below, summed over the rules.
    proved_length_ : int
        Largest length up to which every formula is proved to be the best.
    timed_out_ : bool
        Whether the time limit ended the choice of a length.
    stop_reason_ : str
        Why no longer formula was tried.
    scan_results_ : DataFrame
        One row for each length and rule: formula, errors, accuracies, seconds.
    model_ : Model
        All of it, as `save` writes it.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, where `X` has names that are all strings.

    Examples
    --------
    >>> import pandas as pd
    >>> from fsm_hpc import FormulaClassifier
    >>> X = pd.DataFrame({"age": [22, 35, 47, 51, 62, 30], "member": [True, False] * 3})
    >>> y = ["no", "no", "yes", "yes", "yes", "no"]
    >>> classifier = FormulaClassifier(length=3).fit(X, y)
    >>> classifier.formula_
    parse('age >= 47')
    >>> classifier.predict(X[["age"]]).tolist() == y
    True
    >>> classifier.get_rules()[["rule", "prediction", "support", "precision"]]
            rule prediction  support  precision
    0  age >= 47        yes        3        1.0
    1  otherwise         no        3        1.0
    """

    def __init__(
        self,
        method: str = "pivot",
        solver: str | Solver = "portfolio",
        length: int | None = None,
        cv: Any = 5,
        patience: int = 4,
        max_length: int | None = 10,
        validation_fraction: float = 0.3,
        time_limit_s: float | None = 60.0,
        language: str = "paper",
        cuts: Any = "observed",
        n_quantiles: int = 10,
        rounding_tolerance: int = 0,
        require: Any = (),
        forbid: Any = (),
        increasing: Any = (),
        decreasing: Any = (),
        min_support: int = 0,
        max_columns: int | None = None,
        missing: str = "error",
        feature_types: Any = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = 42,
    ) -> None:
        self.method = method
        self.solver = solver
        self.length = length
        self.cv = cv
        self.patience = patience
        self.max_length = max_length
        self.validation_fraction = validation_fraction
        self.time_limit_s = time_limit_s
        self.language = language
        self.cuts = cuts
        self.n_quantiles = n_quantiles
        self.rounding_tolerance = rounding_tolerance
        self.require = require
        self.forbid = forbid
        self.increasing = increasing
        self.decreasing = decreasing
        self.min_support = min_support
        self.max_columns = max_columns
        self.missing = missing
        self.feature_types = feature_types
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing == "keep"
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> FormulaClassifier:
        """Find the formula; Ctrl-C ends the search and keeps the best so far.

        Parameters
        ----------
        X : DataFrame, or array of numbers, of shape (n_samples, n_features)
            Columns of numbers, true/false values and categories.
        y : array-like of shape (n_samples,)
            Classes, two or more.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight two counts like two rows, one of weight zero like none.

        Returns
        -------
        FormulaClassifier
            Itself.
        """
        started = clock.monotonic()
        self._forget()
        try:
            result = searching.search(self, X, y, sample_weight, started)
        except BaseException:
            self._forget()
            raise
        self._result = result
        for note in result.model.notes:
            if note.is_limit:
                warnings.warn(note.text(FrontEnd.PYTHON), ConvergenceWarning, stacklevel=2)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row; `X` needs only the columns that the rules use.

        Parameters
        ----------
        X : DataFrame, or array of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.asarray(self.classes_[self._chosen(X)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Shares of the classes among the fitted rows with the same prediction.

        Rows count with their sample weights and without class weights, under which the predicted
        class may therefore be the less likely one.

        Parameters
        ----------
        X : DataFrame, or array of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return np.asarray(self._fit_result.shares[self._chosen(X)])

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Confidence of the prediction: training precision, signed for two classes.

        Parameters
        ----------
        X : DataFrame, or array of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: positive where ``classes_[1]`` is predicted. More: the largest value of a
            row is that of the predicted class.
        """
        chosen, shares = self._chosen(X), self._fit_result.shares
        if len(self.classes_) == 2:
            precision = np.maximum(shares[chosen, chosen], np.finfo(float).tiny)
            return np.asarray(np.where(chosen == 1, precision, -precision))
        return np.asarray((shares + np.eye(len(shares)))[chosen])

    def compare(self, X: Any, y: Any, cv: Any = 10, models: str = "simple") -> Comparison:
        """Compare classifiers with these parameters with other models by cross-validation.

        Parameters
        ----------
        X : DataFrame, or array of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        cv : int or splitter, default=10
            Folds on which all models are evaluated.
        models : {"simple", "all"}, default="simple"
            "simple" is a tree of depth 3 and logistic regression; "all" adds XGBoost.

        Returns
        -------
        Comparison
            `str` of it says who is ahead, by how much, with a confidence interval.
        """
        return searching.compare(self, X, y, cv, models)

    def save(self, path: str | Path) -> None:
        """Write model.json, which `load`, `fsm-hpc predict` and `fsm-hpc export` read."""
        model.save(Path(path), self.model_)

    @classmethod
    def load(cls, path: str | Path) -> FormulaClassifier:
        """Load a fitted classifier from model.json."""
        if not Path(path).exists():
            raise FileNotFoundError(f"{path}: no such file; expected a model.json that `fit` wrote")
        known = model.load(Path(path))
        missing = "keep" if known.keeps_missing else "error"
        language = known.language.value
        loaded = cls(known.method, language=language, missing=missing, **known.constraints)
        loaded._result = FitResult.of(known)
        return loaded

    def _chosen(self, X: Any) -> NDArray[np.int64]:
        """The place of each row's predicted class in `classes_`."""
        check_is_fitted(self)
        table = inputs.used_columns(self, X, self.model_)
        return np.asarray(self._fit_result.places[self.model_.choose(table)])
