"""The fields and choices of every file format: of its types, and of a file that was written."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, is_dataclass
from enum import Enum
from typing import Annotated, Any, Literal

from msgspec import Meta

from fsm_hpc.baselines import trials
from fsm_hpc.cluster import arrays, attempts, cancellations, generations, submissions
from fsm_hpc.formulas.formula import Formula
from fsm_hpc.models import model
from fsm_hpc.search.frontier import Frontier
from fsm_hpc.search.near_optimal import checkpoint as alternatives_checkpoint
from fsm_hpc.search.proof import Verification
from fsm_hpc.study import alternatives, fingerprint, result, scan_file, variants, verification
from fsm_hpc.study.config import Config
from fsm_hpc.system.serialization import OpenSchema


@dataclass(frozen=True)
class FileFormat:
    """One kind of file: its number, the types that it is read with, and parts with free names."""

    number: int
    kinds: tuple[Any, ...] = ()
    names: tuple[str, ...] = ()  # of fields that no type declares
    free: tuple[str, ...] = ()  # objects whose names are values: columns, packages, settings


def _under(place: str, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{place}.{name}" for name in names)


def declared(hint: Any) -> Iterator[str]:
    """`accuracy`, `accuracy.train`, `end.=timeout`: names and choices in a dataclass or TypedDict,
    and in those within."""
    if typing.get_origin(hint) is Annotated:
        base, *more = typing.get_args(hint)
        yield from declared(base)
        for one in more:
            yield from _added_by(one)
    elif hint is Formula:  # stands in files as text
        return
    elif is_dataclass(hint) or typing.is_typeddict(hint):
        for name, field in typing.get_type_hints(hint, include_extras=True).items():
            yield name
            yield from (f"{name}.{inner}" for inner in declared(field))
    elif isinstance(hint, type) and issubclass(hint, Enum):
        yield from (f"={member.value}" for member in hint)
    elif typing.get_origin(hint) is Literal:
        yield from (f"={option}" for option in typing.get_args(hint))
    elif typing.get_origin(hint) in (list, tuple, dict, types.UnionType, typing.Union):
        for option in typing.get_args(hint):
            yield from declared(option)


def _added_by(annotation: Any) -> Iterator[str]:
    """What an annotation says of the values: their fields, their choices, their form."""
    if isinstance(annotation, OpenSchema):
        yield from declared(annotation.kind)
    elif isinstance(annotation, Meta) and annotation.pattern:
        pattern = annotation.pattern.removeprefix("^").removesuffix(r"\Z")
        yield f"~{pattern[1:-1] if pattern[0] == '(' else pattern}"


def observed(value: Any, free: tuple[str, ...] = (), place: str = "") -> Iterator[str]:
    """The names in the content of a file; not those within its free objects."""
    if isinstance(value, list):
        for item in value:
            yield from observed(item, free, place)
    elif isinstance(value, dict) and place not in free:
        for name, item in value.items():
            inner = f"{place}.{name}" if place else name
            yield inner
            yield from observed(item, free, inner)


_CONFIG = tuple(sorted(set(declared(Config))))
_LEGACY = [n for n, key in fingerprint.KEYS.items() if key in fingerprint.LEGACY_DEFAULTS]
_SETTINGS = (*result.FoldSettings.__annotations__, "patience", "max_length", "trials")
_FRONTIER = tuple(f"best.frontier.{name}" for name in (*Frontier.__dataclass_fields__, "checksum"))
_ATTEMPT = attempts.Attempt("", "1", 0, "", 1, 0.0)

FORMATS = {
    "result.json": FileFormat(
        result.FORMAT,
        (result.FoldResult,),
        _under("settings", (*_SETTINGS, *_LEGACY)),
        ("settings", "rows", "phrases", "provenance.packages", "model.parameters", "measures"),
    ),
    "scan.json": FileFormat(
        scan_file.FORMAT,
        (scan_file.ScanRow,),
        tuple(n for p in ("under_way", "splits.under_way", "final") for n in _under(p, _FRONTIER)),
    ),
    "submission.json": FileFormat(
        submissions.FORMAT, (submissions.Submission,), _under("config", _CONFIG), ("config",)
    ),
    "attempt.json": FileFormat(
        attempts.FORMAT, (attempts.Attempt,), _under("earlier", attempts._brief(_ATTEMPT))
    ),
    "array.json": FileFormat(
        arrays.FORMAT,
        (arrays.JobArray,),
        _under("first.config", _CONFIG),
        ("first.config",),
    ),
    "cancelled.json": FileFormat(
        cancellations.FORMAT, (cancellations.Cancellations,), free=("folds",)
    ),
    ".generation.json": FileFormat(generations.FORMAT, names=("generation",)),
    "study.json": FileFormat(
        variants.FORMAT,
        (variants._SavedSettings,),
        _under("settings", variants.KEYS),
        ("settings", "variants", "apart"),
    ),
    "trials.json": FileFormat(trials.FORMAT, (trials._Saved,), free=("trials.parameters",)),
    "verification.json": FileFormat(verification.FORMAT, (Verification,)),
    "alternatives.json": FileFormat(alternatives.FORMAT, free=("families.cuts",)),
    ".result.alternatives.json": FileFormat(alternatives_checkpoint.FORMAT),
    "model.json": FileFormat(
        model.FORMAT,
        (model.Model,),
        free=(
            "settings",
            "constraints",
            "provenance.packages",
            "figures",
            "rules.stability",
            "notes.values",
        ),
    ),
}


def fields(name: str, written: Any) -> list[str]:
    """All fields of a format: what its types declare, and what a file of it has."""
    kind = FORMATS[name]
    from_types = {field for one in kind.kinds for field in declared(one)}
    return sorted(from_types | set(kind.names) | set(observed(written, kind.free)))
