"""Write the generated pages of docs/reference: settings, commands and files.

python -m scripts.reference            report pages that are not current
python -m scripts.reference --write    write them
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import types
import typing
from collections.abc import Callable, Iterator
from dataclasses import MISSING, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml

from fsm_hpc.cli import usage
from fsm_hpc.formulas.formula import Formula
from fsm_hpc.models.model import Model
from fsm_hpc.report import rows_csv
from fsm_hpc.search.proof import Verification
from fsm_hpc.study.config import Config
from fsm_hpc.study.result import FoldResult
from fsm_hpc.study.scan_file import ScanRow
from fsm_hpc.system import serialization
from fsm_hpc.system.serialization import OpenSchema
from fsm_hpc.system.settings import Scope, Setting, settings_of

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
MEANINGS = FOLDER / "fields.yaml"
_NOTE = "<!-- generated: python -m scripts.reference --write -->\n\n"

# ------------------------------------------------------------------------------------- settings

_SETTINGS_HEAD = """# Settings

Give any setting in a command as `key=value`, or in [a config file](configuration.md).
`--cfg job` prints the values of a command. The last column says whether the setting
changes results. If it does, another value creates a [variant](../how-to/sweep-settings.md) of a
fold. [Table formats](tables.md) explains `dataset.*`.
"""
_SECTIONS = {
    "dataset": "Dataset",
    "method": "Method",
    "language": "Language",
    "solver": "Solver",
    "cuts": "Thresholds",
    "cluster": "Cluster",
    "objective": "Objective",
    "rule": "Constraints",
    "scan": "Scan over lengths",
    "final": "Final formula",
    "fit": "The command fit",
    "": "General",
}


def settings_page() -> str:
    parts = [_SETTINGS_HEAD]
    for section, title in _SECTIONS.items():
        rows = [_setting_row(one) for one in _settings() if _section(one) == section]
        head = "| key | type | default | meaning | changes results |\n|---|---|---|---|---|\n"
        parts.append(f"\n## {title}\n\n{head}{''.join(rows)}")
    return "".join(parts)


def _settings() -> Iterator[Setting]:
    return (one for one in settings_of(Config) if not one.is_section and one.is_setting)


def _section(one: Setting) -> str:
    return one.path[0] if len(one.path) > 1 else ""


def _setting_row(one: Setting) -> str:
    scopes = {Scope.NONE: "no", Scope.ALL: "yes"}
    scope = scopes.get(one.info.changes, f"of {one.info.changes.value}")
    meaning = one.info.help or _meanings()["settings"][one.key]
    if meaning.startswith("Table: "):
        meaning, scope = meaning.removeprefix("Table: "), "if the table differs"
    cells = (f"`{one.key}`", _type_text(one.hint), _default(one), _cell(meaning.rstrip(".")), scope)
    return f"| {' | '.join(cells)} |\n"


def _meanings() -> dict[str, dict[str, str]]:
    meanings: dict[str, dict[str, str]] = yaml.safe_load(MEANINGS.read_text(encoding="utf-8"))
    return meanings


def _default(one: Setting) -> str:
    if one.default is MISSING:
        return "set by the group file"
    return f"`{json.dumps(serialization.plain(one.default))}`"


# ------------------------------------------------------------------------------------- commands

_COMMANDS_HEAD = """# Commands

`fsm-hpc COMMAND` and `python -m fsm_hpc COMMAND` are the same. All commands take `key=value`
arguments ([settings](settings.md)) and options in any order.
[Exit codes](states.md#exit-codes) are the same for all commands. `--config-dir FOLDER` (`-cd`) adds
a folder with config files, and `--config-name NAME` (`-cn`) selects another primary config.
"""


_COMMON = ("help", "config_dir", "config_name")


def commands_page() -> str:
    known = [usage.load_command(name) for name in usage.names()]
    parts = [_COMMANDS_HEAD]
    for group in usage.Group:
        for command in (one for one in known if one.group is group):
            parts.append(_command(command))
    return "".join(parts)


def _command(command: usage.Command) -> str:
    title = "Run (without a command)" if command.name == usage.RUN else command.name
    parser = command.parser()
    call = f"{parser.prog} {command.call}".strip()
    own = (action for action in parser._actions if action.dest not in _COMMON)
    rows = "".join(map(_option_row, own))
    options = f"| option | meaning |\n|---|---|\n{rows}\n" if rows else ""
    rows = "".join(f"| `{key}` | {_cell(text)} |\n" for key, text in command.settings.items())
    settings = f"| setting | meaning |\n|---|---|\n{rows}\n" if rows else ""
    examples = "\n".join(f"python -m fsm_hpc {example}" for example in command.examples)
    return (
        f"\n## {title}\n\n{command.help}\n\n```text\n{call}\n```\n\n"
        f"{options}{settings}```text\n{examples}\n```\n"
    )


def _option_row(action: argparse.Action) -> str:
    names = ", ".join(f"`{name}`" for name in action.option_strings)
    choices = ", ".join(f"`{one}`" for one in action.choices or ())
    value = "" if action.nargs == 0 or choices else f" `{action.metavar or action.dest.upper()}`"
    meaning = _cell(action.help or "") + (f": {choices}" if choices else "")
    return f"| {names}{value} | {meaning} |\n"


# ---------------------------------------------------------------------------------------- files

_FILES_HEAD = """# Result files

A finished fold of a study has its files in `results/<study>/<dataset>/<method>/fold-<k>/`. A
variant has one more folder between method and fold. `collect` writes `folds.csv` and `lengths.csv`
into `results/<study>/`. All JSON files are UTF-8 text. `format` is the number of the file format.
`version` is the version of the program that wrote the file. A file of a newer format is refused.

In the tables, `lengths[].errors` is the field `errors` of each element of the list `lengths`.
"""
_FILES: dict[str, tuple[str, Any]] = {
    "result.json": ("The result of one fold.", FoldResult),
    "scan.json": ("The state of a scan, from which a fold resumes.", ScanRow),
    "model.json": ("A rule of `fit`, with everything that is needed to apply it.", Model),
    "verification.json": ("The outcome of `verify` for one fold.", Verification),
}


def files_page() -> str:
    meanings = _meanings()
    parts = [_FILES_HEAD]
    for name, (title, kind) in _FILES.items():
        described = meanings[name]
        alike = [path for path, text in described.items() if text.startswith("Same fields")]
        fields = {p: k for p, k in fields_of(kind) if not p.startswith(_inside(alike))}
        fields |= _derived(described)
        parts.append(_table(name, title, fields, described))
    claim = dict.fromkeys(meanings["claim.json"], "")
    parts.append(_table("claim.json", _CLAIM, claim, meanings["claim.json"], has_types=False))
    for name, columns in _csv_columns().items():
        fields = dict.fromkeys(columns, "")
        parts.append(_table(name, _LINES[name], fields, meanings[name], has_types=False))
    return "".join(parts)


def _inside(paths: list[str]) -> tuple[str, ...]:
    return tuple(f"{path}{mark}" for path in paths for mark in (".", "[]."))


_CLAIM = (
    "A claim of optimality for the checker, compressed as `claim.json.gz`; it contains the table."
)
_LINES = {
    "folds.csv": "One line for each fold; fields are empty where the fold has no such value.",
    "lengths.csv": "One line for each fold and length.",
}


def _csv_columns() -> dict[str, list[str]]:
    """The columns of the CSV files of a study."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in _LINES]
        rows_csv.write(typing.cast(Any, types.SimpleNamespace(rows=())), *paths)
        return {path.name: path.read_text(encoding="utf-8").strip().split(",") for path in paths}


def _derived(meanings: dict[str, str]) -> dict[str, str]:
    """Fields of a file that belong to no type."""
    return {name: "" for name, text in meanings.items() if text.startswith("Derived: ")}


def _table(
    name: str,
    title: str,
    fields: dict[str, str],
    meanings: dict[str, str],
    has_types: bool = True,
) -> str:
    undescribed = sorted(fields.keys() - meanings.keys())
    unknown = sorted(meanings.keys() - fields.keys())
    if undescribed or unknown:
        raise ValueError(f"fields.yaml, {name}: describe {undescribed}; remove {unknown}")
    titles = ("field", "type", "meaning") if has_types else ("field", "meaning")
    lines = [titles, ("---",) * len(titles)]
    for field, kind in sorted(fields.items(), key=lambda item: [*meanings].index(item[0])):
        meaning = _cell(meanings[field].removeprefix("Derived: "))
        lines.append((f"`{field}`", kind, meaning) if has_types else (f"`{field}`", meaning))
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"\n## {name}\n\n{title}\n\n{table}"


def fields_of(hint: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """All fields of a dataclass or TypedDict with their types, including nested ones."""
    for name, inner in typing.get_type_hints(hint, include_extras=True).items():
        path = f"{prefix}{name}"
        yield path, _type_text(inner)
        nested, is_list = _nested(inner)
        if nested is not None:
            yield from fields_of(nested, f"{path}[]." if is_list else f"{path}.")


def _nested(hint: Any) -> tuple[Any, bool]:
    """The dataclass or TypedDict in a type, and whether it is in a list."""
    if typing.get_origin(hint) is Annotated:
        base, *more = typing.get_args(hint)
        schemas = [one.kind for one in more if isinstance(one, OpenSchema)]
        return _nested(schemas[0] if schemas else base)
    if hint is Formula:
        return None, False
    if is_dataclass(hint) or typing.is_typeddict(hint):
        return hint, False
    is_list = typing.get_origin(hint) in (list, tuple)
    if is_list or typing.get_origin(hint) in (types.UnionType, typing.Union):
        for option in typing.get_args(hint):
            found, inner_list = _nested(option)
            if found is not None:
                return found, is_list or inner_list
    return None, False


# ---------------------------------------------------------------------------------------- types


def _type_text(hint: Any) -> str:
    """`number or null` for `float | None`."""
    names = dict.fromkeys(_names(hint))
    return " or ".join(names)


def _names(hint: Any) -> Iterator[str]:
    if typing.get_origin(hint) is Annotated:
        base, *more = typing.get_args(hint)
        schemas = [one.kind for one in more if isinstance(one, OpenSchema)]
        yield from _names(schemas[0] if schemas else base)
    elif typing.get_origin(hint) in (types.UnionType, typing.Union):
        for option in typing.get_args(hint):
            yield from _names(option)
    elif typing.get_origin(hint) is Literal:
        yield ", ".join(f"`{option}`" for option in typing.get_args(hint))
    elif isinstance(hint, type) and issubclass(hint, Enum):
        yield ", ".join(f"`{member.value}`" for member in hint)
    elif typing.get_origin(hint) in (list, tuple, *_SEQUENCES):
        yield "list"
    else:
        yield _PLAIN.get(hint, "object")


_SEQUENCES = (typing.get_origin(typing.Sequence[int]),)
_PLAIN: dict[Any, str] = {
    str: "text",
    Path: "text",
    Formula: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    type(None): "null",
    Any: "any",
}


def _cell(text: str) -> str:
    sentence = text[:1].upper() + text[1:]
    return sentence.replace("|", "\\|").replace("<", "&lt;")


# ----------------------------------------------------------------------------------------- main

PAGES: dict[str, Callable[[], str]] = {
    "settings.md": settings_page,
    "commands.md": commands_page,
    "files.md": files_page,
}


def outdated() -> list[str]:
    """The pages that differ from the code."""
    return [name for name in PAGES if (FOLDER / name).read_text(encoding="utf-8") != page(name)]


def page(name: str) -> str:
    return _NOTE + PAGES[name]()


def main(arguments: list[str]) -> int:
    if arguments == ["--write"]:
        for name in PAGES:
            (FOLDER / name).write_text(page(name), encoding="utf-8")
        return 0
    for name in (found := outdated()):
        print(f"docs/reference/{name} is outdated; update it: python -m scripts.reference --write")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
