"""A setting as one typed field: its default, help, range, and whether its value changes results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, dataclass, field, fields
from enum import Enum
from typing import Any

from fsm_hpc.errors import UserError

_INFO = "setting"
ALWAYS_STATED = object()  # the legacy value of what every result states


class Scope(Enum):
    """The methods whose results a setting changes."""

    NONE = "none"
    ALL = "all"
    FORMULAS = "formulas"
    BASELINES = "baselines"


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """What is known of a setting beside its name, type and default."""

    help: str = ""
    least: float | None = None
    changes: Scope = Scope.NONE
    result_name: str = ""  # in the settings of a result, where that is not its key
    legacy: Any = ALWAYS_STATED  # the value of results that do not state it
    runs_code: bool = False  # never taken from a results folder

    def concerns(self, finds_formula: bool) -> bool:
        """Whether it changes results of formula methods, or of baselines."""
        return self.changes in (Scope.ALL, Scope.FORMULAS if finds_formula else Scope.BASELINES)


def setting(
    default: Any = MISSING,
    help: str = "",
    *,
    least: float | None = None,
    changes: Scope = Scope.NONE,
    result_name: str = "",
    legacy: Any = ALWAYS_STATED,
    runs_code: bool = False,
) -> Any:
    """A field of a settings class; a function as default makes the value."""
    info = SettingInfo(help, least, changes, result_name, legacy, runs_code)
    if isinstance(default, Callable):  # type: ignore[arg-type]
        return field(default_factory=default, metadata={_INFO: info})
    return field(default=default, metadata={_INFO: info})


def info_of(of: Field[Any]) -> SettingInfo:
    found: SettingInfo = of.metadata.get(_INFO, SettingInfo())
    return found


def check_least(section: str, settings: Any) -> None:
    """Refuse numbers below the least that their fields allow."""
    for name, least in _limits(type(settings)):
        value = getattr(settings, name)
        if value is not None and not value >= least:
            raise UserError(f"{section}.{name}: expected at least {least}, found {value}")


def _limits(kind: type[Any]) -> Iterator[tuple[str, float]]:
    for one in fields(kind):
        if (least := info_of(one).least) is not None:
            yield one.name, least
