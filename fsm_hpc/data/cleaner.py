"""Select the columns, rows and labels of a table, and report what prevents that."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data.decimal_sign import DecimalSign
from fsm_hpc.data.errors import ErrorCollector, setting
from fsm_hpc.data.kinds import texts
from fsm_hpc.data.kinds.numeric import numbers_of
from fsm_hpc.data.raw import RawColumn, RawTable, Rows
from fsm_hpc.data.spec import DatasetSpec

_SHOWN_COLUMNS = 40

# ------------------------------------------------------------------------ columns of the file


def check_settings(spec: DatasetSpec, errors: ErrorCollector) -> None:
    """Report settings that are none of the known values."""
    if spec.missing not in ("drop", "error", "keep"):
        errors.add(f"dataset.missing: expected drop, error or keep, found {spec.missing!r}")
    if spec.decimal not in ("auto", *(sign.value for sign in DecimalSign)):
        errors.add(f"dataset.decimal: expected auto, point or comma, found {spec.decimal!r}")
    if spec.weight is not None and spec.weight in (spec.target, spec.group):
        errors.add(
            f"dataset.weight: expected a column without another use, found {spec.weight!r} again"
        )


def used_columns(raw: RawTable, spec: DatasetSpec, errors: ErrorCollector) -> tuple[str, ...]:
    """The columns to learn from, without those that a wrong setting leaves unclear."""
    lists = spec.listed
    similar = _report_unknown_names(raw, spec, lists, errors)
    named = Counter(name for names in lists.values() for name in set(names))
    for name, count in named.items():
        if count > 1 or name in (spec.target, spec.weight):
            keys = [key for key, names in lists.items() if name in names]
            keys += [key for key in ("target", "weight") if name == getattr(spec, key)]
            where = " and in ".join(keys)
            errors.add(f"{raw.path}: column {name!r}: expected in one list, found in {where}")
    special = (spec.target, spec.group, spec.weight)
    extra = [n for n in raw.columns if n not in (*named, *special) and not spec.infer]
    if extra:
        shown = ", ".join(map(repr, extra[:_SHOWN_COLUMNS]))
        errors.add(
            f"{raw.path}: expected the columns of the {spec.name} table, found also {shown}; leave "
            f"out what is not used with {setting('drop', *extra[:_SHOWN_COLUMNS])}"
        )
    used = [name for name in raw.columns if name not in (*special, *spec.drop)]
    if not used:
        errors.add(f"{raw.path}: expected columns besides {spec.target!r}, found none left")
    unclear = {*extra, *(similar - set(named))}
    return tuple(n for n in used if n not in unclear and raw.columns[n].is_readable)


def _report_unknown_names(
    raw: RawTable,
    spec: DatasetSpec,
    lists: Mapping[str, tuple[str, ...]],
    errors: ErrorCollector,
) -> set[str]:
    """Report names in the settings that no column has; return columns of a similar name."""
    named = [("target ", spec.target)] if spec.target else []
    special = {"group": (spec.group,), "weight": (spec.weight,)}
    for key, names in {**special, **lists, "zero_is_missing": spec.zero_is_missing}.items():
        named += [(f"dataset.{key}: ", name) for name in names if name is not None]
    shown = ", ".join([*list(raw.columns)[:_SHOWN_COLUMNS], "..."][: len(raw.columns)])
    columns = f"; its columns are: {shown}"
    if not spec.target:
        errors.add(f"{raw.path}: dataset.target is not set; expected one of: {shown}")
    similar: set[str] = set()
    for where, name in named:
        if name in raw.columns:
            continue
        matches = difflib.get_close_matches(name, raw.columns, n=1)
        similar |= set(matches)
        hint = f" (did you mean {matches[0]!r}?)" if matches else ""
        absent = f"column {name!r} is not in {raw.path.name}{hint}"
        errors.add(f"{raw.path}: {where}{absent}{columns}")
        columns = ""  # listed once
    return similar


# --------------------------------------------------------------------------------------- rows


def with_missing(column: RawColumn, spec: DatasetSpec) -> RawColumn:
    """The column with cells that mean "missing" as missing values."""
    words = spec.missing_words(column.is_typed)
    numbers = {_number(word) for word in words if word and DecimalSign.POINT.reads(word)}
    zero = {0.0} if column.name in spec.zero_is_missing else set()
    if not column.is_text:
        numbers |= zero
        if not numbers or column.values.dtype.kind not in "iuf":
            return column
        return replace(column, missing=column.missing | np.isin(column.values, list(numbers)))
    column = without_texts(column, words)
    is_code = column.name in spec.categorical or (numbers and texts.looks_like_codes(column.texts))
    numbers = zero if is_code else zero | numbers  # -999 is also -999.0
    if not numbers:
        return column
    sign = column.sign or DecimalSign.POINT
    removed = [at for at, text in enumerate(column.texts) if _is_among(text, sign, numbers)]
    return column.without(removed)


def without_texts(column: RawColumn, words: Iterable[str]) -> RawColumn:
    import pyarrow
    import pyarrow.compute

    known = pyarrow.array(list(words), pyarrow.string())
    return column.without(np.flatnonzero(pyarrow.compute.is_in(column.values, known)))


def _number(word: str) -> float:
    return float(DecimalSign.POINT.normalized(word))


def _is_among(text: str, sign: DecimalSign, numbers: set[float]) -> bool:
    return sign.reads(text) and float(sign.normalized(text)) in numbers


def complete_rows(
    raw: RawTable, columns: Mapping[str, RawColumn], spec: DatasetSpec, errors: ErrorCollector
) -> Rows | None:
    """The rows without a missing value; None if there are none, or if none may be dropped.

    If missing values are kept, only rows without a target are dropped.
    """
    missing = {name: column.missing for name, column in columns.items()}
    if spec.missing == "keep":
        missing = {name: cells for name, cells in missing.items() if name == spec.target}
    counts = worst_first(missing)
    if counts and spec.missing == "error":
        for name, count in counts.items():
            row = columns[name].row_number(int(np.argmax(missing[name])))
            errors.add(
                f"{raw.path}: column {name!r}: expected no missing values, found {count} (row "
                f"{row} first); fill them in, or use dataset.missing=drop or keep"
            )
        return None
    rows = _complete(raw, missing)
    if len(rows):
        return rows
    for name in _columns_that_cost_all(raw, missing, spec.target):
        remedy = f"leave it out with {setting('drop', name)}"
        remedy = "rows without a class cannot be used" if name == spec.target else remedy
        errors.add(
            f"{raw.path}: column {name!r}: expected values, found {counts[name]} of {raw.rows} "
            f"missing, and no row is complete; {remedy}"
        )
    return None


def weights(column: RawColumn) -> NDArray[np.float64]:
    """The weights of errors by row: finite numbers, none negative, not all of them 0."""
    weights = numbers_of(column)
    if (weights < 0).any():
        at = int(np.argmax(weights < 0))
        shown = column.text_by_row()[at] if column.is_text else weights[at]
        raise column.error(
            f"expected weights from 0 on, found {shown} in row {column.row_number(at)}",
            "correct them, or leave dataset.weight out",
        )
    if not weights.any():
        raise column.error("expected some weight above 0, found none", "correct the column")
    return weights


def worst_first(missing: Mapping[str, NDArray[np.bool_]]) -> dict[str, int]:
    """The number of missing cells of each column that has some, the largest first."""
    counts = {name: int(cells.sum()) for name, cells in missing.items() if cells.any()}
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def _columns_that_cost_all(
    raw: RawTable, missing: Mapping[str, NDArray[np.bool_]], target: str
) -> Iterable[str]:
    """Columns without which a row would be complete, the emptiest first."""
    left = dict(missing)
    if target in left and left[target].all():
        del left[target]
        yield target
    while left and not len(_complete(raw, left)):
        worst = max(left, key=lambda name: (name != target, left[name].sum()))
        del left[worst]
        yield worst


def _complete(raw: RawTable, missing: Mapping[str, NDArray[np.bool_]]) -> Rows:
    if not missing:
        return np.arange(raw.rows)
    return np.flatnonzero(~np.logical_or.reduce(list(missing.values())))


# ------------------------------------------------------------------------------------- labels


def rarer_text(target: RawColumn) -> str | None:
    """The rarer of two values; None if both are as frequent, are numbers, or mean yes and no."""
    target = target.as_text()
    distinct, counts = target.texts, target.counts
    is_clear = texts.is_truth(distinct) or texts.are_codes(distinct)
    if is_clear or len(distinct) < 2 or len(set(np.sort(counts)[:2])) == 1:
        return None
    return distinct[int(np.argmin(counts))]


def labels(
    target: RawColumn, spec: DatasetSpec, errors: ErrorCollector
) -> tuple[NDArray[np.bool_], str, str]:
    """The truth value of every row, and the values for true and false in the file."""
    target = target.as_text()
    values = texts.in_order(target.texts)
    shown = ", ".join(values[:6]) + (", ..." if len(values) > 6 else "")
    if len(values) == 1:
        raise target.error(
            f"expected two values in the target, found only {values[0]!r} in all complete rows",
            "a formula needs two classes",
        )
    chosen = {key: getattr(spec, key) for key in ("positive", "negative")}
    for key, value in chosen.items():
        if value is not None and (key, value) != ("negative", "rest"):
            chosen[key] = texts.match(value, values)
            if chosen[key] is None:
                finding = f"expected {value!r} among the target's values, found: {shown}"
                errors.add(target.error(finding, f"set dataset.{key} to one of them"))
    positive, negative = chosen["positive"], chosen["negative"]
    if negative != "rest" and len(values) > 2:
        raise target.error(
            f"expected two values in the target, found {len(values)}: {shown}",
            "to set one value against all others, use dataset.positive=VALUE dataset.negative=rest",
        )
    if positive is None:
        others = [v for v in values if v != negative]
        positive = rarer_text(target) if len(others) == 2 else None
        positive = positive or next((v for v in others if texts.means_true(v)), others[-1])
    rest = [value for value in values if value != positive]
    negative = rest[0] if len(rest) == 1 else f"not {positive}"
    return np.asarray(target.codes == target.texts.index(positive)), positive, negative
