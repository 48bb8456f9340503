"""What a fitted classifier knows: its attributes, rules, explanations, exports, alternatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Formula
from fsm_hpc.models import inputs
from fsm_hpc.models.explanation import RowExplanation, explain_row
from fsm_hpc.models.model import Class, Model, Rule
from fsm_hpc.models.notes import FrontEnd
from fsm_hpc.search.problem import Problem

if TYPE_CHECKING:
    import pandas as pd

    from fsm_hpc.search.near_optimal.rashomon import RashomonSet

T = TypeVar("T")
_KEPT = ("_result", "n_features_in_", "feature_names_in_")


@dataclass(frozen=True)
class FitResult:
    """The result of one fit, which the next fit replaces as a whole."""

    model: Model
    classes: NDArray[Any]  # `classes_`
    places: NDArray[np.int64]  # of the model's classes among these
    shares: NDArray[np.float64]  # of the classes (columns) where each is predicted (rows)
    problems: dict[Class, Problem] = field(default_factory=dict)  # by prediction; not saved
    rashomon_sets: dict[Class, RashomonSet] = field(
        default_factory=dict
    )  # by prediction; not saved

    @staticmethod
    def of(
        model: Model,
        problems: dict[Class, Problem] | None = None,
        classes: NDArray[Any] | None = None,
    ) -> FitResult:
        if classes is None:
            given = np.array(model.classes)
            classes = given if len(given) == 2 else np.unique(given)
        places = np.array([classes.tolist().index(one) for one in model.classes], dtype=np.int64)
        order = np.argsort(places)
        shares = np.array(model.class_shares)[np.ix_(order, order)]
        return FitResult(model, classes, places, shares, problems or {})


def _attribute(get: Callable[[FitResult], T]) -> T:
    """An attribute that a classifier has once it is fitted."""
    return cast(T, property(lambda self: get(self._fit_result)))


class FittedAttributes:
    """Attributes and methods of a fitted classifier, all of them views of its one result."""

    _result: FitResult

    @property
    def _fit_result(self) -> FitResult:
        check_is_fitted(self)
        return self._result

    def __sklearn_is_fitted__(self) -> bool:
        return "_result" in vars(self)

    def _forget(self) -> None:
        for name in _KEPT:
            vars(self).pop(name, None)

    def __getstate__(self) -> dict[str, Any]:
        """A pickle has the rules, not the rows that they were fitted on."""
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[misc]
        if "_result" in state:
            state["_result"] = replace(state["_result"], problems={}, rashomon_sets={})
        return state

    model_ = _attribute(lambda result: result.model)
    classes_ = _attribute(lambda result: result.classes)
    rules_ = _attribute(lambda result: result.model.rules)
    size_ = _attribute(lambda result: sum(rule.size for rule in result.model.rules))
    length_ = _attribute(lambda result: max(rule.length for rule in result.model.rules))
    errors_ = _attribute(lambda result: result.model.errors)
    measure_ = _attribute(lambda result: result.model.measure)
    proved_ = _attribute(lambda result: result.model.proved)
    lower_bound_ = _attribute(lambda result: sum(r.lower_bound for r in result.model.rules))
    proved_length_ = _attribute(lambda result: min(r.proved_length for r in result.model.rules))
    timed_out_ = _attribute(lambda result: result.model.timed_out)
    stop_reason_ = _attribute(lambda result: result.model.stop_reason)

    @property
    def formula_(self) -> Formula:
        if len(self.rules_) > 1:
            raise AttributeError("formula_ is of two classes; rules_ has a formula for each class")
        return self.rules_[0].formula

    @property
    def scan_results_(self) -> pd.DataFrame:
        import pandas as pd

        rows = [
            {"prediction": rule.prediction, **row} for rule in self.rules_ for row in rule.lengths
        ]
        table: pd.DataFrame = pd.DataFrame(rows)
        return table

    # ---------------------------------------------------------------------------------- reading

    def get_rules(self) -> pd.DataFrame:
        """Rules in the order of evaluation, the default prediction last.

        Returns
        -------
        DataFrame
            Columns: rule, prediction, support, precision and recall on the fitted rows. Each
            rule is evaluated by itself, the last line on the rows where no rule holds.
        """
        from fsm_hpc.models.presenter import rules_table

        return rules_table(self.model_)

    def explain(self, row: Any) -> RowExplanation:
        """Explain the prediction for one row.

        Parameters
        ----------
        row : Series, dict, DataFrame with one row, or array of shape (n_features,)
            A mapping needs only the columns that the rules use.

        Returns
        -------
        RowExplanation
            The prediction, the parts of the formula that hold, and those that decide; `print` it.

        Examples
        --------
        >>> from fsm_hpc import FormulaClassifier
        >>> ages = [[22], [35], [47], [51], [62], [30]]
        >>> classifier = FormulaClassifier(length=1).fit(ages, [0, 0, 1, 1, 1, 0])
        >>> classifier.explain([40]).prediction
        0
        """
        import pandas as pd

        check_is_fitted(self)
        if hasattr(row, "to_frame") and getattr(row, "ndim", 0) == 1:
            row = row.to_frame().T.infer_objects()
        elif isinstance(row, dict):
            row = pd.DataFrame([row])
        elif not hasattr(row, "columns"):
            row = np.atleast_2d(np.asarray(row))
        if len(row) != 1:
            raise ValueError(f"explain: expected one row, found {len(row)}")
        return explain_row(self.model_, *inputs.row_facts(self, row, self.model_))

    def export(self, format: str, **options: Any) -> Any:
        """Export the rules.

        Parameters
        ----------
        format : str
            One of `fsm_hpc.models.exporters.FORMATS`, such as "sql", "python", "r" or "excel".
        **options
            Options of the format: `dialect` of "sql", `header` of "excel".

        Returns
        -------
        str

        Examples
        --------
        >>> from fsm_hpc import FormulaClassifier
        >>> ages = [[22], [35], [47], [51], [62], [30]]
        >>> classifier = FormulaClassifier(length=1).fit(ages, [0, 0, 1, 1, 1, 0])
        >>> print(classifier.export("python").splitlines()[0])
        def predict(row):
        """
        from fsm_hpc.models.exporters import export

        return export(self.model_, format, **options)

    def to_sql(self, dialect: str = "ansi") -> str:
        """Export as one SQL expression; `dialect` is ansi, mysql, bigquery or snowflake."""
        return str(self.export("sql", dialect=dialect))

    def to_python(self) -> str:
        """Export as a Python function without imports."""
        return str(self.export("python"))

    def export_text(self) -> str:
        """Export as text: the rules in words, their errors, and what is proved."""
        return str(self.export("text"))

    def _repr_html_(self) -> str:
        """The card of a fitted rule; scikit-learn's own diagram before."""
        if not self.__sklearn_is_fitted__():
            return str(super()._repr_html_inner())  # type: ignore[misc]
        from fsm_hpc.models.card import fragment

        return fragment(self.model_, FrontEnd.PYTHON)

    def _repr_latex_(self) -> str:
        from fsm_hpc.models.presenter import latex

        return latex(self.model_)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """What a notebook shows."""
        shown = {"text/plain": repr(self), "text/html": self._repr_html_()}
        if self.__sklearn_is_fitted__():
            shown["text/latex"] = self._repr_latex_()
        return shown

    # ------------------------------------------------------------------------------ alternatives

    def alternatives(
        self,
        slack: float = 0.01,
        bound: int | None = None,
        time_limit_s: float | None = None,
        label: Any = None,
        most: int | None = None,
    ) -> pd.DataFrame:
        """List all formulas that are about as good as that of a rule (its Rashomon set).

        Parameters
        ----------
        slack : float, default=0.01
            Below 1 a share of the fitted rows, else a number of errors, more than the optimum.
        bound : int, default=None
            Largest size; None means that of the rule's search.
        time_limit_s : float, default=None
            Seconds; ``attrs["complete"]`` tells whether they were enough.
        label : class, default=None
            The class whose rule is meant; needed with more than two classes.
        most : int, default=None
            Stop with more families than this; those with fewest errors are searched first.

        Returns
        -------
        DataFrame
            One family of formulas a row, with `count` and `complete` in `attrs`.
        """
        from fsm_hpc.models import alternatives

        rule, problem = self._of_class(label)
        limits = (bound or rule.length, getattr(self, "n_jobs", None), time_limit_s, most)
        found = alternatives.rashomon_set(rule, problem, slack, *limits)
        self._result.rashomon_sets[rule.prediction] = found
        return alternatives.frame(found)

    def members(self, family: int, most: int = 100_000, label: Any = None) -> pd.DataFrame:
        """List the formulas of one row of `alternatives`, with their errors."""
        from fsm_hpc.models import alternatives

        rule, _ = self._of_class(label)
        known = self._result.rashomon_sets.get(rule.prediction)
        if known is None:
            raise UserError("members: expected a call of alternatives before, found none")
        return alternatives.members(known, family, most)

    def _of_class(self, label: Any) -> tuple[Rule, Problem]:
        """The rule of a class, and the problem that it was fitted on."""
        rules = {rule.prediction: rule for rule in self.rules_}
        if label is None and len(rules) > 1:
            names = ", ".join(map(repr, rules))
            raise UserError(f"label: expected one of the classes {names}, found none")
        rule = self.rules_[0] if label is None else rules.get(label)
        if rule is None:
            names = ", ".join(map(repr, rules))
            raise UserError(f"label: expected a class with a rule, {names}; found {label!r}")
        problem = self._result.problems.get(rule.prediction)
        if problem is None:
            raise UserError(
                "alternatives: expected a classifier that fit was called on, found one that was "
                "loaded, which has no rows"
            )
        return rule, problem
