"""Constraints on formulas: required and forbidden columns, directions, support."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

from fsm_hpc.errors import UserError
from fsm_hpc.system.settings import Scope, setting

if TYPE_CHECKING:  # `status` reads settings, and answers before numpy is loaded
    from fsm_hpc.data.columns import Column

Names = tuple[str, ...]
MOST_REQUIRED = 60  # columns: each is one bit of a word


@dataclass(frozen=True, slots=True)
class ColumnConstraint:
    """The constraints on one column of the one-hot table."""

    sign: int = 0  # 1: a formula may only become true with its proposition, -1: only false
    needs: int = 0  # required names that it satisfies, as bits
    origin: str = ""  # the column of the table that it comes from


PLAIN = ColumnConstraint()


def _constraint(default: Any, help_: str, legacy: Any) -> Any:
    return setting(default, help_, changes=Scope.FORMULAS, legacy=legacy)


@dataclass(frozen=True, slots=True)
class Constraints:
    """conf `rule`: constraints on a formula; a name is a column of the table or a category."""

    require: Names = _constraint((), "columns that the formula depends on", None)
    forbid: Names = _constraint((), "columns that the formula does not use", None)
    increasing: Names = _constraint(
        (),
        "columns whose propositions, when they become true, can only make the formula true",
        None,
    )
    decreasing: Names = _constraint(
        (),
        "columns whose propositions, when they become true, can only make the formula false",
        None,
    )
    min_support: int = _constraint(
        0, "least number of fitted rows where each proposition holds, and where it fails", 0
    )
    max_columns: int | None = _constraint(
        None, "largest number of columns of the table in the formula", None
    )

    def __post_init__(self) -> None:
        for key in LISTS:
            object.__setattr__(self, key, tuple(dict.fromkeys(_names(key, getattr(self, key)))))
        _at_least("min_support", self.min_support, 0)
        _at_least("max_columns", 1 if self.max_columns is None else self.max_columns, 1)
        for one, other in (("require", "forbid"), ("increasing", "decreasing")):
            for name in getattr(self, one):
                if name in getattr(self, other):
                    raise UserError(f"rule.{one} and rule.{other} both name {name!r}; keep one")
        if len(self.require) > MOST_REQUIRED:
            raise UserError(
                f"rule.require: expected at most {MOST_REQUIRED} columns, found {len(self.require)}"
            )

    @property
    def support(self) -> int:
        """Rows that each proposition holds on and fails on at least.

        With required columns it is at least 1: a proposition that holds on every row would make
        `z or required` true, whatever the required column is.
        """
        return max(self.min_support, 1 if self.require else 0)

    @property
    def after_forbidding(self) -> Constraints:
        """The remaining constraints once forbidden columns are removed from the table."""
        return replace(self, forbid=())

    @property
    def binds(self) -> bool:
        """Whether some formula over the remaining columns violates a constraint."""
        return self.after_forbidding != FREE

    @property
    def named(self) -> dict[str, Any]:
        """The constraints that are set, by the names of configs and results."""
        usual = {f.name: f.default for f in fields(self)}
        found = {key: getattr(self, key) for key in usual}
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in found.items()
            if value != usual[key]
        }

    @property
    def text(self) -> str:
        """One line, with names in alphabetical order; empty without constraints."""
        return named_in_words(self.named)

    # -------------------------------------------------------------------------------- a table

    def check(self, columns: Sequence[Column], has_intervals: bool) -> None:
        """Reject unknown names and contradictions."""
        if self == FREE:
            return
        for key in LISTS:
            for name in getattr(self, key):
                if not any(_is_called(c, name) for c in columns):
                    raise UserError(f"rule.{key}: no column is called {name!r}; {_known(columns)}")
        for key in DIRECTIONS if has_intervals else ():
            for name in getattr(self, key):
                if any(c.name == name and c.kind.value == "numeric" for c in columns):
                    raise UserError(
                        f"rule.{key}: {name!r} is numeric, and an interval has no direction; take "
                        "method=pivot or method=median"
                    )
        self._check_directions(columns)
        kept = self.kept(columns)
        if not kept:
            raise UserError("rule.forbid: no column is left; forbid fewer")
        for name in self.require:
            if not any(_is_called(c, name) for c in kept):
                raise UserError(f"rule.require and rule.forbid both name {name!r}; keep one")
        origins = {_origin(c) for name in self.require for c in kept if _is_called(c, name)}
        if self.max_columns is not None and len(origins) > self.max_columns:
            raise UserError(
                f"rule.max_columns={self.max_columns}, but rule.require names {len(origins)} "
                f"columns: {', '.join(sorted(origins))}; require fewer, or allow more"
            )

    def _check_directions(self, columns: Sequence[Column]) -> None:
        for column in columns:
            up, down = (self._directed(key, column) for key in DIRECTIONS)
            if up and down:
                raise UserError(
                    f"rule.increasing and rule.decreasing both name {column.name!r} "
                    f"({up!r} and {down!r}); keep one"
                )

    def kept(self, columns: Iterable[Column]) -> tuple[Column, ...]:
        """The columns that are not forbidden."""
        return tuple(c for c in columns if not any(_is_called(c, name) for name in self.forbid))

    def of_column(self, column: Column) -> ColumnConstraint:
        """The constraints on one column."""
        up, down = (self._directed(key, column) for key in DIRECTIONS)
        needs = (1 << bit for bit, name in enumerate(self.require) if _is_called(column, name))
        return ColumnConstraint(1 if up else -1 if down else 0, sum(needs), _origin(column))

    def _directed(self, key: str, column: Column) -> str | None:
        """The entry of a list that names the column; missing indicators have no direction."""
        own = (column.name,) if column.is_missing_indicator else (column.name, column.source)
        return next((name for name in getattr(self, key) if name in own), None)


LISTS = ("require", "forbid", "increasing", "decreasing")
DIRECTIONS = ("increasing", "decreasing")


def named_in_words(named: Mapping[str, Any]) -> str:
    """`require age, job; min_support 20`: constraints by name."""
    return "; ".join(
        f"{key} {', '.join(sorted(value)) if isinstance(value, (list, tuple)) else value}"
        for key, value in named.items()
    )


def of_named(named: Any) -> Constraints:
    """The constraints of a mapping, as `named` gives it."""
    known = {f.name for f in fields(Constraints)}
    if not isinstance(named, dict) or not set(named) <= known:
        raise UserError(f"expected constraints by name ({', '.join(sorted(known))})")
    return Constraints(**named)


def _is_called(column: Column, name: str) -> bool:
    return name in (column.name, column.source)


def _origin(column: Column) -> str:
    return column.source or column.name


def _known(columns: Sequence[Column]) -> str:
    names = list(dict.fromkeys(map(_origin, columns)))
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return f"its columns are: {', '.join(names[:20])}{more}"


def _names(key: str, found: Any) -> Iterator[str]:
    if isinstance(found, str):
        yield found
        return
    try:
        names = list(found)
    except TypeError:
        names = [None]
    for name in names:
        if not isinstance(name, str):
            raise UserError(f"rule.{key}: expected names of columns, found {found!r}")
        yield name


def _at_least(key: str, found: Any, least: int) -> None:
    if isinstance(found, bool) or not isinstance(found, Integral) or found < least:
        raise UserError(f"rule.{key}: expected a whole number from {least} on, found {found!r}")


FREE = Constraints()
