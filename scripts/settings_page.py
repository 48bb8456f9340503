"""Write docs/settings.md from the fields of the settings classes."""

from __future__ import annotations

import json
import typing
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from fsm_hpc.study.building import plain_values
from fsm_hpc.study.config import Config
from fsm_hpc.study.keys import INTERNAL
from fsm_hpc.system.settings import Scope, info_of

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"
HEAD = """# Settings

Every setting can be given on the command line as `key=value`, or in [a config file](hydra.md).
`--cfg job` shows the values of a command. [Your table](data.md) describes the settings `dataset.*`.
Another value of a setting that changes results makes another variant of a fold.

| key | default | meaning | changes results |
|---|---|---|---|
"""


def page() -> str:
    return HEAD + "".join(_rows(Config, ""))


def _rows(kind: Any, prefix: str) -> Iterator[str]:
    hints = typing.get_type_hints(kind)
    for one in fields(kind):
        if one.name in INTERNAL:
            continue
        key, hint, info = prefix + one.name, hints[one.name], info_of(one)
        if is_dataclass(hint):
            if key != "dataset":
                yield from _rows(hint, f"{key}.")
            continue
        meaning = info.help + _choices(hint)
        changes = {Scope.NONE: "", Scope.ALL: "yes"}.get(info.changes, f"of {info.changes.value}")
        yield f"| `{key}` | {_default(one)} | {meaning} | {changes} |\n"


def _default(one: Any) -> str:
    if one.default is MISSING and one.default_factory is MISSING:
        return "by the file of the group"
    value = one.default if one.default is not MISSING else one.default_factory()
    return f"`{json.dumps(plain_values(value))}`"


def _choices(hint: Any) -> str:
    kinds = [hint, *typing.get_args(hint)]
    found = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Enum)]
    return f": {', '.join(f'`{member.value}`' for member in found[0])}" if found else ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
