"""The settings classes as structured configs, so that Hydra knows every key and default."""

from __future__ import annotations

import typing
from dataclasses import MISSING, field, fields, is_dataclass, make_dataclass
from functools import cache, partial
from typing import Any

from fsm_hpc.study.building import MANDATORY, plain_values
from fsm_hpc.study.config import Config
from fsm_hpc.study.keys import INTERNAL

NAME = "settings"  # first in the defaults list of conf/config.yaml


@cache
def register() -> None:
    """Put the schema where Hydra looks for it."""
    from hydra.core.config_store import ConfigStore

    ConfigStore.instance().store(name=NAME, node=_schema(Config), provider="fsm_hpc")


def _schema(kind: Any) -> type[Any]:
    """A class with the same keys and defaults; OmegaConf would make an integer 1 of 1.5, and knows
    enumerations by other names, so that types of values are left to `building.build`."""
    hints = typing.get_type_hints(kind)
    made: list[tuple[str, Any, Any]] = []
    for one in fields(kind):
        if one.name in INTERNAL:
            continue
        hint = hints[one.name]
        if is_dataclass(hint):
            section = _schema(hint)
            made.append((one.name, section, field(default_factory=section)))
        else:
            made.append((one.name, Any, field(default_factory=partial(_default, one))))
    return make_dataclass(kind.__name__, made)


def _default(one: Any) -> Any:
    if one.default_factory is not MISSING:
        return plain_values(one.default_factory())
    return MANDATORY if one.default is MISSING else plain_values(one.default)
