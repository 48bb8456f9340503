"""Choose the columns, rows and labels of a table that count, or say why it has none."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data import kinds
from fsm_hpc.data.complaints import Complaints
from fsm_hpc.data.decimal_sign import DecimalSign
from fsm_hpc.data.reader import RawTable
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.data.text_column import TextColumn, setting

Gaps: TypeAlias = Mapping[str, NDArray[np.bool_]]  # column -> where its cells are missing
_SHOWN_COLUMNS = 40

# ------------------------------------------------------------------------ columns of the file


def check_settings(spec: DatasetSpec, complaints: Complaints) -> None:
    """Words that are one of a few."""
    if spec.missing not in ("drop", "error", "keep"):
        complaints.add(f"dataset.missing: expected drop, error or keep, found {spec.missing!r}")
    if spec.decimal not in ("auto", *(sign.value for sign in DecimalSign)):
        found = spec.decimal
        complaints.add(f"dataset.decimal: expected auto, point or comma, found {found!r}")
    if spec.weight is not None and spec.weight in (spec.target, spec.group):
        complaints.add(f"dataset.weight: expected a column of its own, found {spec.weight!r} again")


def used_columns(raw: RawTable, spec: DatasetSpec, complaints: Complaints) -> tuple[str, ...]:
    """The columns to learn from, but for those that cannot be looked at before a name is mended."""
    lists = {
        "numeric": spec.numeric,
        "boolean": spec.boolean,
        "categorical": spec.categorical,
        "drop": spec.drop,
    }
    meant = _complain_of_names(raw, spec, lists, complaints)
    named = Counter(name for names in lists.values() for name in set(names))
    for name, count in named.items():
        if count > 1 or name in (spec.target, spec.weight):
            keys = [key for key, names in lists.items() if name in names]
            keys += [key for key in ("target", "weight") if name == getattr(spec, key)]
            where = " and in ".join(keys)
            complaints.add(f"{raw.path}: column {name!r}: expected in one list, found in {where}")
    apart = (spec.target, spec.group, spec.weight)
    extra = [n for n in raw.columns if n not in named and n not in apart and not spec.infer]
    if extra:
        shown = ", ".join(map(repr, extra[:_SHOWN_COLUMNS]))
        complaints.add(
            f"{raw.path}: expected the columns of the {spec.name} table, found also {shown}; leave "
            f"out what is not used with {setting('drop', *extra[:_SHOWN_COLUMNS])}"
        )
    used = [name for name in raw.columns if name not in (*apart, *spec.drop)]
    if not used:
        complaints.add(f"{raw.path}: expected columns besides {spec.target!r}, found none left")
    unclear = {*extra, *raw.unreadable, *(meant - set(named))}
    return tuple(name for name in used if name not in unclear)


def _complain_of_names(
    raw: RawTable,
    spec: DatasetSpec,
    lists: Mapping[str, tuple[str, ...]],
    complaints: Complaints,
) -> set[str]:
    """Tell of names that no column has; those that they seem to mean."""
    wanted = [("target ", spec.target)] if spec.target else []
    wanted += [("dataset.group: ", spec.group)] if spec.group is not None else []
    wanted += [("dataset.weight: ", spec.weight)] if spec.weight is not None else []
    for key, names in (*lists.items(), ("zero_is_missing", spec.zero_is_missing)):
        wanted += [(f"dataset.{key}: ", name) for name in names]
    shown = ", ".join([*list(raw.columns)[:_SHOWN_COLUMNS], "..."][: len(raw.columns)])
    columns = f"; its columns are: {shown}"
    if not spec.target:
        complaints.add(f"{raw.path}: dataset.target is not set; expected one of: {shown}")
    meant: set[str] = set()
    for where, name in wanted:
        if name in raw.columns:
            continue
        near = difflib.get_close_matches(name, raw.columns, n=1)
        meant |= set(near)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        absent = f"column {name!r} is not in {raw.path.name}{hint}"
        complaints.add(f"{raw.path}: {where}{absent}{columns}")
        columns = ""  # they are told already
    return meant


# --------------------------------------------------------------------------------------- rows


def gaps(
    raw: RawTable, names: Iterable[str], spec: DatasetSpec, sign: DecimalSign | None
) -> dict[str, NDArray[np.bool_]]:
    """Where the cells of each column are missing, in the order of the file."""
    wanted = set(names)
    return {name: _gaps(raw, name, spec, sign) for name in raw.columns if name in wanted}


def _gaps(
    raw: RawTable, name: str, spec: DatasetSpec, sign: DecimalSign | None
) -> NDArray[np.bool_]:
    words = spec.missing_words(raw.has_types)
    cells = set(raw.columns[name])
    absent = cells & set(words)
    present = [cell for cell in cells - absent if cell is not None]
    numbers = {0.0} if name in spec.zero_is_missing else set()
    said = [word for word in words if word and DecimalSign.POINT.reads(word)]
    is_code = name in spec.categorical or (said and kinds.looks_like_codes(present))
    if not is_code:
        numbers |= {_number(word, DecimalSign.POINT) for word in said}  # -999 is -999.0, too
    if numbers:
        way = DecimalSign.POINT if sign is None or name in raw.typed else sign
        absent |= {cell for cell in present if way.reads(cell) and _number(cell, way) in numbers}
    return np.fromiter(map(absent.__contains__, raw.columns[name]), dtype=bool, count=raw.rows)


def _number(text: str, sign: DecimalSign) -> float:
    return float(sign.pointed(text))


def complete_rows(
    raw: RawTable, missing: Gaps, spec: DatasetSpec, complaints: Complaints
) -> NDArray[np.int64] | None:
    """The rows without a gap; None where there are none, or none are allowed to be dropped.

    Where missing values are kept, only a gap in the target costs a row.
    """
    if spec.missing == "keep":
        missing = {name: cells for name, cells in missing.items() if name == spec.target}
    counts = worst_first(missing)
    if counts and spec.missing == "error":
        for name, count in counts.items():
            row = raw.row_numbers[int(np.flatnonzero(missing[name])[0])]
            complaints.add(
                f"{raw.path}: column {name!r}: expected no missing values, found {count} (row "
                f"{row} first); fill them in, or use dataset.missing=drop or keep"
            )
        return None
    rows = _without_gaps(raw, missing)
    if len(rows):
        return rows
    for name in _columns_that_cost_all(raw, missing, spec.target):
        todo = f"leave it out with {setting('drop', name)}"
        todo = "a row without a class teaches nothing" if name == spec.target else todo
        complaints.add(
            f"{raw.path}: column {name!r}: expected values, found {counts[name]} of {raw.rows} "
            f"missing, and no row is complete; {todo}"
        )
    return None


def weights(column: TextColumn, sign: DecimalSign | None) -> NDArray[np.float64]:
    """What an error on each row counts: finite numbers, none below 0, not all of them 0."""
    found = kinds.numbers(column, sign or DecimalSign.POINT).astype(np.float64)
    wrong = np.flatnonzero(found < 0)
    if len(wrong):
        at = int(wrong[0])
        raise column.error(
            f"expected weights from 0 on, found {column.values[at]} in row {column.rows[at]}",
            "mend them, or leave dataset.weight out",
        )
    if not found.any():
        raise column.error("expected some weight above 0, found none", "mend the column")
    return found


def worst_first(missing: Gaps) -> dict[str, int]:
    """How many cells each column lacks, where it lacks some."""
    counts = {name: int(cells.sum()) for name, cells in missing.items() if cells.any()}
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def _columns_that_cost_all(raw: RawTable, missing: Gaps, target: str) -> Iterable[str]:
    """Columns without which some row is complete, the emptiest first."""
    left = dict(missing)
    if target in left and left[target].all():
        del left[target]
        yield target
    while left and not len(_without_gaps(raw, left)):
        worst = max(left, key=lambda name: (name != target, left[name].sum()))
        del left[worst]
        yield worst


def _without_gaps(raw: RawTable, missing: Gaps) -> NDArray[np.int64]:
    if not missing:
        return np.arange(raw.rows)
    return np.flatnonzero(~np.logical_or.reduce(list(missing.values())))


# ------------------------------------------------------------------------------------- labels


def rarer_text(target: TextColumn) -> str | None:
    """The rarer of two values; None where both are as frequent, are numbers, or mean yes and no."""
    (value, count), *others = Counter(target.values).most_common()[::-1]
    is_clear = kinds.is_truth(target.distinct) or kinds.are_codes(target.distinct)
    return None if is_clear or not others or count == others[0][1] else value


def labels(
    target: TextColumn, spec: DatasetSpec, complaints: Complaints
) -> tuple[NDArray[np.bool_], str, str]:
    """The truth value of every row, and what true and false are called in the file."""
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
                complaints.add(target.error(found, f"set dataset.{key} to one of them"))
    positive, negative = chosen["positive"], chosen["negative"]
    if negative != "rest" and len(values) > 2:
        raise target.error(
            f"expected two values in the target, found {len(values)}: {shown}",
            "to set one value against all others, use dataset.positive=VALUE dataset.negative=rest",
        )
    if positive is None:
        others = [v for v in values if v != negative]
        positive = rarer_text(target) if len(others) == 2 else None
        positive = positive or next((v for v in others if kinds.means_true(v)), others[-1])
    rest = [value for value in values if value != positive]
    negative = rest[0] if len(rest) == 1 else f"not {positive}"
    return np.array([value == positive for value in target.values], dtype=bool), positive, negative
