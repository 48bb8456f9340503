"""Infer the decimal sign of a whole file, or report why it is ambiguous."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fsm_hpc.data.cleaner import without_texts
from fsm_hpc.data.decimal_sign import DecimalSign, are_numbers
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds import texts
from fsm_hpc.data.kinds.numeric import are_codes
from fsm_hpc.data.raw import RawColumn, RawTable
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class DecimalEvidence:
    """Numbers of one column that determine the decimal sign, or that leave it open."""

    name: str
    only: Mapping[DecimalSign, str]  # sign -> a number that the other one cannot read
    either: str | None  # a number that both can read, each in its way


def find(raw: RawTable, names: Iterable[str], spec: DatasetSpec) -> DecimalSign:
    """The sign in the settings, or else the only one by which all named columns can be parsed.

    If both can parse them, other columns of the file decide: dropped ones, the target.
    """
    if spec.decimal in (sign.value for sign in DecimalSign):
        return DecimalSign(spec.decimal)
    words = spec.missing_words(is_typed=False)
    untyped = {name: column for name, column in raw.columns.items() if not column.is_typed}
    columns = {name: without_texts(column, words) for name, column in untyped.items()}
    numeric = [name for name in names if name in columns and _is_numeric(columns[name], spec)]
    evidence = [_evidence(columns[name]) for name in numeric]
    by_sign = {sign: [item for item in evidence if sign in item.only] for sign in DecimalSign}
    if all(by_sign.values()):
        raise _contradiction(raw, by_sign)
    for sign, items in by_sign.items():
        if items:
            return sign
    ambiguous = [item for item in evidence if item.either]
    if not ambiguous or not raw.may_have_commas:
        return DecimalSign.POINT
    excluded = {*numeric, *spec.categorical, spec.group}
    others = [_evidence(c) for n, c in columns.items() if n not in excluded and _has_numbers(c)]
    signs = {sign for item in others for sign in item.only}
    if len(signs) == 1:
        return signs.pop()
    raise _ambiguity(raw, ambiguous)


# ------------------------------------------------------------------------------------ evidence


def _is_numeric(column: RawColumn, spec: DatasetSpec) -> bool:
    kind = spec.kind_of(column.name)
    if kind is not None:
        return kind is KindName.NUMERIC
    return _has_numbers(column) and not texts.is_truth(column.first_texts(50))


def _has_numbers(column: RawColumn) -> bool:
    """Numbers in most rows; a few words among them are reported elsewhere."""
    if are_codes(column):
        return False
    if column.numbers is not None or are_numbers(column.texts):
        return len(column.values) > 0
    are_numeric = [are_numbers((text,)) for text in column.texts]
    return bool(2 * column.counts[are_numeric].sum() > column.counts.sum())


def _evidence(column: RawColumn) -> DecimalEvidence:
    numbers = column.numbers
    is_plain = numbers is not None and numbers.is_plain
    if numbers is not None and is_plain and not numbers.has_points:
        return DecimalEvidence(column.name, {}, None)
    only: dict[DecimalSign, str] = {}
    either = None
    for text in column.each_text():
        if "." not in text and "," not in text:
            continue  # both signs parse 12 and 1e5 alike
        by_point, by_comma = (sign.reads(text) for sign in DecimalSign)
        if by_point and by_comma:
            either = either or text
        elif by_point or by_comma:
            only.setdefault(DecimalSign.POINT if by_point else DecimalSign.COMMA, text)
            if len(only) == 2 or is_plain:
                break  # plain numbers have no decimal comma
    return DecimalEvidence(column.name, only, either)


# -------------------------------------------------------------------------------------- errors


def _contradiction(
    raw: RawTable, by_sign: Mapping[DecimalSign, Sequence[DecimalEvidence]]
) -> UserError:
    found, readings = [], []
    for sign, evidence in by_sign.items():
        cell = evidence[0].only[sign]
        other = by_sign[sign.other][0].only[sign.other]
        row = raw.columns[evidence[0].name].row_of(cell)
        found.append(f"decimal {sign.value}s in {_named(evidence)} ({cell!r} in row {row})")
        readings.append(
            f"dataset.decimal={sign.value} reads {cell!r} as {sign.normalized(cell)} and {other!r} "
            "as no number"
        )
    return UserError(
        f"{raw.path}: expected one decimal sign in the whole file, found {' and '.join(found)}; "
        f"{', '.join(readings)}: choose one and list the other columns in dataset.categorical or "
        "dataset.drop, or write all numbers in the same way"
    )


def _ambiguity(raw: RawTable, ambiguous: Sequence[DecimalEvidence]) -> UserError:
    cell = ambiguous[0].either or ""
    first = DecimalSign.COMMA if "," in cell else DecimalSign.POINT
    return UserError(
        f"{raw.path}: {_named(ambiguous)}: {cell!r} can be read as {first.normalized(cell)} or "
        f"{first.other.normalized(cell)}, and no other cell of the file decides; set "
        f"dataset.decimal={first.value} for the first, dataset.decimal={first.other.value} for the "
        "second"
    )


def _named(evidence: Sequence[DecimalEvidence]) -> str:
    names = ", ".join(repr(item.name) for item in evidence[:_MOST_NAMED])
    left = len(evidence) - _MOST_NAMED
    return f"column{'s' * (len(evidence) > 1)} {names}" + (f" and {left} more" * (left > 0))
