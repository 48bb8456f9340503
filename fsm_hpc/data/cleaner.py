"""Choose the columns, rows and labels of a table that count, or say why it has none."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data import kinds
from fsm_hpc.data.reader import RawTable
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.data.text_column import TextColumn, setting
from fsm_hpc.errors import UserError

# ------------------------------------------------------------------------ columns of the file


def used_columns(raw: RawTable, spec: DatasetSpec) -> tuple[str, ...]:
    lists = {
        "numeric": spec.numeric,
        "boolean": spec.boolean,
        "categorical": spec.categorical,
        "drop": spec.drop,
    }
    _require_target(raw, spec)
    for key, names in (*lists.items(), ("zero_is_missing", spec.zero_is_missing)):
        for name in names:
            if name not in raw.columns:
                raise UserError(f"{raw.path}: dataset.{key}: {_absent(name, raw)}")
    named = Counter(name for names in lists.values() for name in set(names))
    for name, count in named.items():
        if count > 1 or name == spec.target:
            keys = [key for key, names in lists.items() if name in names]
            where = " and in ".join(keys + ["target"] * (name == spec.target))
            raise UserError(f"{raw.path}: column {name!r}: expected in one list, found in {where}")
    extra = [name for name in raw.columns if name not in named and name != spec.target]
    if extra and not spec.infer:
        raise UserError(
            f"{raw.path}: expected the columns of the {spec.name} table, found also {extra[0]!r}; "
            f"leave it out with {setting('drop', extra[0])}"
        )
    used = tuple(n for n in raw.columns if n != spec.target and n not in spec.drop)
    if not used:
        raise UserError(f"{raw.path}: expected columns besides {spec.target!r}, found none left")
    return used


def _require_target(raw: RawTable, spec: DatasetSpec) -> None:
    if not spec.target:
        shown = ", ".join(raw.columns)
        raise UserError(f"{raw.path}: dataset.target is not set; expected one of: {shown}")
    if spec.target not in raw.columns:
        raise UserError(f"{raw.path}: target {_absent(spec.target, raw)}")


def _absent(name: str, raw: RawTable) -> str:
    near = difflib.get_close_matches(name, raw.columns, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    shown = list(raw.columns)[:40]
    more = ", ..." if len(raw.columns) > 40 else ""
    where = raw.path.name
    return f"column {name!r} is not in {where}{hint}; its columns are: {', '.join(shown)}{more}"


# --------------------------------------------------------------------------------------- rows


def complete_rows(
    raw: RawTable, names: Iterable[str], spec: DatasetSpec
) -> tuple[list[int], dict[str, int]]:
    """The rows to keep, and for each column how many of its cells are missing."""
    if spec.missing not in ("drop", "error"):
        raise UserError(f"dataset.missing: expected drop or error, found {spec.missing!r}")
    is_missing = {name: _missing(raw, name, spec) for name in raw.columns if name in set(names)}
    incomplete = np.logical_or.reduce(list(is_missing.values()))
    counts = {name: int(cells.sum()) for name, cells in is_missing.items() if cells.any()}
    worst = max(counts, key=lambda name: counts[name], default="")
    if counts and spec.missing == "error":
        row = int(np.flatnonzero(is_missing[worst])[0]) + 1
        raise UserError(
            f"{raw.path}: column {worst!r}: expected no missing values, found {counts[worst]} (row "
            f"{row} first); fill them in, or use dataset.missing=drop"
        )
    if incomplete.all():
        todo = f"leave it out with {setting('drop', worst)}"
        todo = "a row without a class teaches nothing" if worst == spec.target else todo
        raise UserError(
            f"{raw.path}: column {worst!r}: expected values, found {counts[worst]} of {raw.rows} "
            f"missing, and no row is complete; {todo}"
        )
    return [int(row) for row in np.flatnonzero(~incomplete)], counts


def _missing(raw: RawTable, name: str, spec: DatasetSpec) -> NDArray[np.bool_]:
    distinct = set(raw.columns[name])
    absent = distinct & {"", *spec.missing_values}
    if name in spec.zero_is_missing:
        absent |= set(filter(_is_zero, distinct))
    return np.fromiter(map(absent.__contains__, raw.columns[name]), dtype=bool, count=raw.rows)


def _is_zero(value: str) -> bool:
    try:
        return float(value) == 0
    except ValueError:
        return False


def labels(target: TextColumn, spec: DatasetSpec) -> tuple[NDArray[np.bool_], str, str]:
    values = kinds.in_order(target.values)
    shown = ", ".join(values[:6]) + (", ..." if len(values) > 6 else "")
    if len(values) == 1:
        raise target.error(
            f"expected two values in the target, found only {values[0]!r} in all complete rows",
            "a formula has nothing to tell apart",
        )
    chosen = {key: getattr(spec, key) for key in ("positive", "negative")}
    for key, wanted in chosen.items():
        if wanted is not None and (key, wanted) != ("negative", "rest"):
            chosen[key] = kinds.match(wanted, values)
            if chosen[key] is None:
                found = f"expected {wanted!r} among the target's values, found: {shown}"
                raise target.error(found, f"set dataset.{key} to one of them")
    positive, negative = chosen["positive"], chosen["negative"]
    if negative != "rest" and len(values) > 2:
        raise target.error(
            f"expected two values in the target, found {len(values)}: {shown}",
            "to set one value against all others, use dataset.positive=VALUE dataset.negative=rest",
        )
    if positive is None:
        others = [v for v in values if v != negative]
        positive = next((v for v in others if kinds.means_true(v)), others[-1])
    rest = [value for value in values if value != positive]
    negative = rest[0] if len(rest) == 1 else f"not {positive}"
    return np.array([value == positive for value in target.values], dtype=bool), positive, negative
