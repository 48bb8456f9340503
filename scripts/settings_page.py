"""Write docs/settings.md from the fields of the settings classes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import MISSING
from enum import Enum
from pathlib import Path

from fsm_hpc.study.config import Config
from fsm_hpc.system import serialization
from fsm_hpc.system.settings import Scope, Setting, settings_of

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"
HEAD = """# Settings

Every setting can be given on the command line as `key=value`, or in [a config file](hydra.md).
`--cfg job` shows the values of a command. [Your table](data.md) describes the settings `dataset.*`.
Another value of a setting that changes results makes another variant of a fold.

| key | default | meaning | changes results |
|---|---|---|---|
"""


def page() -> str:
    return HEAD + "".join(_rows())


def _rows() -> Iterator[str]:
    for one in settings_of(Config):
        if not one.is_section and one.path[0] != "dataset":
            changes = {Scope.NONE: "", Scope.ALL: "yes"}
            scope = changes.get(one.info.changes, f"of {one.info.changes.value}")
            yield f"| `{one.key}` | {_default(one)} | {one.info.help}{_choices(one)} | {scope} |\n"


def _default(one: Setting) -> str:
    if one.default is MISSING:
        return "by the file of the group"
    return f"`{json.dumps(serialization.plain(one.default))}`"


def _choices(one: Setting) -> str:
    enums = [kind for kind in one.kinds if isinstance(kind, type) and issubclass(kind, Enum)]
    return f": {', '.join(f'`{member.value}`' for member in enums[0])}" if enums else ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
