"""Find the one decimal sign of a whole file, or say why nobody can tell it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fsm_hpc.data import kinds
from fsm_hpc.data.decimal_sign import DecimalSign, are_numbers, is_number, which
from fsm_hpc.data.reader import RawTable
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class _Witness:
    """What the numbers of one column say."""

    name: str
    only: Mapping[DecimalSign, str]  # sign -> a number that the other one cannot read
    either: str | None  # a number that both can read, each in its way


def find(raw: RawTable, names: Iterable[str], spec: DatasetSpec) -> DecimalSign:
    """The sign as set, or else the one by which all numbers of the named columns can be read.

    Where they could be read by both, other columns of the file decide: dropped ones, the target.
    """
    if spec.decimal in (sign.value for sign in DecimalSign):
        return DecimalSign(spec.decimal)
    cells = {name: _present(raw, name, spec) for name in raw.columns if name not in raw.typed}
    read = [name for name in names if name in cells and _is_numeric(name, cells[name], spec)]
    witnesses = [_witness(name, cells[name]) for name in read]
    said = {sign: [w for w in witnesses if sign in w.only] for sign in DecimalSign}
    if all(said.values()):
        raise _contradiction(raw, said)
    for sign, clear in said.items():
        if clear:
            return sign
    unclear = [witness for witness in witnesses if witness.either]
    if not unclear or not raw.may_have_commas:
        return DecimalSign.POINT
    apart = {*read, *spec.categorical, spec.group}
    others = [_witness(n, c) for n, c in cells.items() if n not in apart and _has_numbers(c)]
    hints = {sign for witness in others for sign in witness.only}
    if len(hints) == 1:
        return hints.pop()
    raise _ambiguity(raw, unclear)


# ------------------------------------------------------------------------------------ evidence


def _present(raw: RawTable, name: str, spec: DatasetSpec) -> Counter[str]:
    words = spec.missing_words(raw.has_types)
    return Counter(cell for cell in raw.columns[name] if cell is not None and cell not in words)


def _is_numeric(name: str, cells: Counter[str], spec: DatasetSpec) -> bool:
    if name in (*spec.boolean, *spec.categorical):
        return False
    return name in spec.numeric or (_has_numbers(cells) and not kinds.is_truth(cells))


def _has_numbers(cells: Counter[str]) -> bool:
    """Numbers in most rows: a few words among them are a mistake of their own."""
    if kinds.looks_like_codes(list(cells)):
        return False
    if are_numbers(cells):
        return bool(cells)
    return 2 * sum(count for cell, count in cells.items() if is_number(cell)) > cells.total()


def _witness(name: str, cells: Iterable[str]) -> _Witness:
    only: dict[DecimalSign, str] = {}
    either = None
    for cell, by_point, by_comma in which(cells):  # others, as 12 and 1e5, are the same by both
        if by_point and by_comma:
            either = either or cell
        elif by_point or by_comma:
            only.setdefault(DecimalSign.POINT if by_point else DecimalSign.COMMA, cell)
    return _Witness(name, only, either)


# ------------------------------------------------------------------------------------ refusals


def _contradiction(raw: RawTable, said: Mapping[DecimalSign, Sequence[_Witness]]) -> UserError:
    found, readings = [], []
    for sign, witnesses in said.items():
        cell = witnesses[0].only[sign]
        other = said[sign.other][0].only[sign.other]
        row = raw.row_of(witnesses[0].name, cell)
        found.append(f"decimal {sign.value}s in {_named(witnesses)} ({cell!r} in row {row})")
        readings.append(
            f"dataset.decimal={sign.value} reads {cell!r} as {sign.pointed(cell)} and {other!r} as "
            "no number"
        )
    return UserError(
        f"{raw.path}: expected one decimal sign in the whole file, found {' and '.join(found)}; "
        f"{', '.join(readings)}: choose one and list the other columns in dataset.categorical or "
        "dataset.drop, or write the numbers alike"
    )


def _ambiguity(raw: RawTable, unclear: Sequence[_Witness]) -> UserError:
    cell = unclear[0].either or ""
    first = DecimalSign.COMMA if "," in cell else DecimalSign.POINT
    return UserError(
        f"{raw.path}: {_named(unclear)}: {cell!r} can be read as {first.pointed(cell)} or "
        f"{first.other.pointed(cell)}, and nothing in the file tells which; say "
        f"dataset.decimal={first.value} for the first, dataset.decimal={first.other.value} for the "
        "second"
    )


def _named(witnesses: Sequence[_Witness]) -> str:
    names = ", ".join(repr(witness.name) for witness in witnesses[:_MOST_NAMED])
    left = len(witnesses) - _MOST_NAMED
    return f"column{'s' * (len(witnesses) > 1)} {names}" + (f" and {left} more" * (left > 0))
