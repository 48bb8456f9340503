"""A raw table -> typed columns and a target."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data import answers, cleaner, convention, kinds, reader, store
from fsm_hpc.data.columns import Column, Kind, same_names
from fsm_hpc.data.complaints import MOST_TOLD, Complaints
from fsm_hpc.data.decimal_sign import DecimalSign
from fsm_hpc.data.kinds import RawKind
from fsm_hpc.data.reader import RawTable
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.data.text_column import TextColumn, assignment, setting
from fsm_hpc.data.typed_columns import columns_of, groups_of, kind_of, truth_words, with_gaps
from fsm_hpc.errors import shortened
from fsm_hpc.system.numbers import counted, listed

if TYPE_CHECKING:
    import pandas as pd

_MUCH = 0.2  # of the rows: losing more to missing values is worth a warning
_SHOWN_GAPS = 10
READ_AS_MISSING = "read as missing"
_MANY = 9  # categories; fewer may be grades such as A1, 10k


@dataclass(frozen=True)
class Dataset:
    """A table that a fold can be learnt from: one-hot columns and a truth value for each row."""

    name: str
    columns: tuple[Column, ...]
    labels: NDArray[np.bool_]
    target: str
    positive: str
    negative: str
    dropped_rows: int
    notes: tuple[str, ...] = ()
    path: Path | None = None
    place: str = ""
    kinds: tuple[tuple[str, RawKind], ...] = ()  # of the columns in the file
    groups: NDArray[Any] | None = None  # of the rows, where folds keep groups whole
    weights: NDArray[np.float64] | None = None  # of the rows, none of them 0
    kept_rows: Sequence[int] = ()  # of the file, from 0
    own_labels: NDArray[np.bool_] | None = None  # of the target, where others stand in its place
    keeps_missing: bool = False  # whether rows with missing values are among the rows
    # of Boolean columns: how the file says true, and false
    truth_words: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return len(self.labels)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what a solver or a baseline gets to see, wherever the file was."""
        digest = hashlib.sha256(f"{self.target}\0{self.positive}\0{self.rows}".encode())
        digest.update(np.packbits(self.labels).tobytes())
        for column in self.columns:
            named = f"\0{column.name}\0{column.kind.value}\0{column.source}\0{column.category}\0"
            digest.update(named.encode())
            digest.update(np.ascontiguousarray(column.values, dtype=np.float64).tobytes())
        if self.weights is not None:
            digest.update(b"\0weights\0" + self.weights.tobytes())
        return digest.hexdigest()

    def table(self) -> pd.DataFrame:
        """The one-hot table with numbers as they are, for the baselines."""
        import pandas as pd

        frame: pd.DataFrame = pd.DataFrame({c.name: c.values for c in self.columns})
        return frame

    def phrases(self) -> dict[str, tuple[str, str]]:
        """How a Boolean column is said in words: (its source, its category)."""
        return {
            c.name: (c.source or c.name, "missing" if c.is_gap else c.category or "true")
            for c in self.columns
            if c.kind is Kind.BOOLEAN
        }


def load(spec: DatasetSpec, data_dir: Path | None, allow_changed_data: bool = False) -> Dataset:
    """The table of a dataset config, checked, without missing values, one-hot."""
    found = store.find(spec, data_dir, allow_changed_data)
    raw = reader.inspect(found.content, found.path, spec)
    dataset = replace(from_table(raw, spec), path=found.path, place=found.place)
    if spec.labels is None:
        return dataset
    classes = (dataset.negative, dataset.positive)
    theirs = answers.read(Path(spec.labels).expanduser(), raw.rows, dataset.kept_rows, classes)
    return replace(dataset, labels=theirs, own_labels=dataset.labels)


def target_values(
    spec: DatasetSpec, data_dir: Path | None, allow_changed_data: bool = False
) -> list[str]:
    """The different values of the target, in order; none where it is no column of the table."""
    found = store.find(spec, data_dir, allow_changed_data)
    raw = reader.inspect(found.content, found.path, spec)
    if spec.target not in raw.columns:
        return []
    complaints = Complaints(raw.path)  # which `load` tells
    names = cleaner.used_columns(raw, spec, complaints)
    missing = cleaner.gaps(raw, {*names, spec.target} - raw.unreadable, spec, None)
    kept = cleaner.complete_rows(raw, missing, spec, complaints)
    texts = _texts(raw, missing, kept)
    return kinds.in_order(texts[spec.target].values) if spec.target in texts else []


def from_table(raw: RawTable, spec: DatasetSpec) -> Dataset:
    """Columns as the spec lists them, rows with missing values dropped and counted.

    Whatever is wrong with the table is told at once.
    """
    complaints = Complaints(raw.path, raw.problems)
    cleaner.check_settings(spec, complaints)
    names = cleaner.used_columns(raw, spec, complaints)
    if not raw.rows:
        raise complaints.error()
    sign = labelled = None
    with complaints.heard():
        weight = (spec.weight,) if spec.weight is not None else ()
        sign = convention.find(raw, (*names, *weight), spec)
    apart = {spec.target, spec.weight or spec.target}
    missing = cleaner.gaps(raw, {*names, *apart} - raw.unreadable, spec, sign)
    kept = cleaner.complete_rows(raw, missing, spec, complaints)
    keeps = spec.missing == "keep" and kept is not None
    texts = _texts(raw, missing, kept)
    complete, weights = 0 if kept is None else len(kept), None
    with complaints.heard():
        weights, kept, texts = _weighed(raw, spec, sign, missing, kept, texts)
    if keeps:
        _complain_of_empty(raw.path, names, texts, complaints)
    if spec.target in texts:
        with complaints.heard():
            labelled = cleaner.labels(texts[spec.target], spec, complaints)
    kinds: list[tuple[str, RawKind]] = []
    columns: list[Column] = []
    words: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    for text in (texts[name] for name in names if name in texts):
        with complaints.heard():
            way = DecimalSign.POINT if text.name in raw.typed else sign
            kind = kind_of(text, spec, raw, way)
            made = list(columns_of(text, kind, spec, way))
            words |= {c.name: truth_words(text, c) for c in made if c.name == text.name}
            columns += made if kept is None else with_gaps(text.name, made, missing, kept)
            kinds.append((text.name, kind))
    _complain_of_same_names(columns, raw.path, complaints)
    complaints.settle()
    assert labelled is not None
    assert kept is not None
    labels, positive, negative = labelled
    groups = None if spec.group is None else groups_of(raw.columns[spec.group])[kept]
    table = Dataset(
        spec.name,
        tuple(columns),
        labels,
        spec.target,
        positive,
        negative,
        dropped_rows=raw.rows - complete,
        kinds=tuple(kinds),
        groups=groups,
        weights=weights,
        kept_rows=kept.tolist(),
        truth_words=words,
        keeps_missing=keeps,
    )
    told = (*missing_texts(raw, missing), *raw.notes) if spec.infer else raw.notes
    told += tuple(_notes(table, spec, texts, cleaner.worst_first(missing), sign))
    if complete > table.rows:
        told = (*told, f"{counted(complete - table.rows, 'row')} of weight 0 left out")
    told = (*_choice(table, spec, texts), *told)
    return replace(table, notes=tuple(map(shortened, told)))


# ------------------------------------------------------------------------------------ columns


def _texts(
    raw: RawTable, missing: cleaner.Gaps, kept: NDArray[np.int64] | None
) -> dict[str, TextColumn]:
    """The columns in the rows to keep; where there are none, each in the rows that it has."""
    texts = {}
    for name, gaps in missing.items():
        rows = (np.flatnonzero(~gaps) if kept is None else kept[~gaps[kept]]).tolist()
        cells = [str(raw.columns[name][row]) for row in rows]
        numbers = [raw.row_numbers[row] for row in rows]
        if rows:
            texts[name] = TextColumn(raw.path, name, cells, numbers)
    return texts


def _complain_of_empty(
    path: Path, names: Iterable[str], texts: Mapping[str, TextColumn], complaints: Complaints
) -> None:
    for name in names:
        if name not in texts:
            complaints.add(
                f"{path}: column {name!r}: expected values, found none; leave it out with "
                f"{setting('drop', name)}"
            )


def _weighed(
    raw: RawTable,
    spec: DatasetSpec,
    sign: DecimalSign | None,
    missing: cleaner.Gaps,
    kept: NDArray[np.int64] | None,
    texts: dict[str, TextColumn],
) -> tuple[NDArray[np.float64] | None, NDArray[np.int64] | None, dict[str, TextColumn]]:
    """The weights of the rows; those of weight 0 are out before anything is made of the others."""
    if spec.weight is None or spec.weight not in texts or kept is None:
        return None, kept, texts
    way = DecimalSign.POINT if spec.weight in raw.typed else sign
    weights = cleaner.weights(texts[spec.weight], way)
    kept = kept[~missing[spec.weight][kept]][weights > 0]  # a row without a weight has none
    return weights[weights > 0], kept, _texts(raw, missing, kept)


def _complain_of_same_names(columns: Iterable[Column], path: Path, complaints: Complaints) -> None:
    for twins in same_names(columns):
        sources = " and ".join(repr(c.source or c.name) for c in twins)
        complaints.add(
            f"{path}: expected different column names after one-hot, found {twins[0].name!r} "
            f"twice, from {sources}; rename one of them"
        )


# -------------------------------------------------------------------------------------- notes


def _choice(table: Dataset, spec: DatasetSpec, texts: Mapping[str, TextColumn]) -> Iterator[str]:
    """Which class the rule predicts, before anything else, and why where the table decides it."""
    if not spec.infer:
        return
    yes, no = table.positive, table.negative
    is_chosen = spec.positive is None and spec.negative is None
    if is_chosen and cleaner.rarer_text(texts[table.target]) == yes:
        yes = f"{yes} (the rarer class, {int(table.labels.sum())} of {counted(table.rows, 'row')})"
        no = f"{no}; for the other way round set {assignment('positive', no)}"
    yield f"target: {table.target} is true where it is {yes}, false where {no}"


def missing_texts(raw: RawTable, missing: cleaner.Gaps) -> Iterator[str]:
    """Texts that were read as missing, by column, so that none of them is lost in silence."""
    found = []
    for name, gaps in missing.items():
        cells = zip(raw.columns[name], gaps.tolist(), strict=True)
        texts = Counter(cell for cell, is_missing in cells if is_missing and cell)
        found += [f"{text!r} in {name} ({count})" for text, count in texts.most_common()]
    if found:
        more = [f"{len(found) - _SHOWN_GAPS} more"] * (len(found) > _SHOWN_GAPS)
        shown = ", ".join([*found[:_SHOWN_GAPS], *more])
        todo = "if these are values, set dataset.usual_missing_values=[]"
        yield f"{READ_AS_MISSING}: {shown}; {todo}"


def _notes(
    table: Dataset,
    spec: DatasetSpec,
    texts: Mapping[str, TextColumn],
    missing: Mapping[str, int],
    sign: DecimalSign | None,
) -> Iterator[str]:
    """What a user should know about the table before believing a formula."""
    if spec.infer:
        for kind in RawKind:
            names = [name for name, found in table.kinds if found is kind]
            yield f"{kind.value}: {listed(names) or 'none'}"
    if sign is DecimalSign.COMMA:
        yield "numbers are read with decimal commas: 1.234,5 is 1234.5"
    if table.keeps_missing:
        kept = {name: n for name, n in missing.items() if name != table.target}
        if kept:
            yield f"missing values are kept ({_cells(kept)}): no comparison holds on them"
        missing = {name: n for name, n in missing.items() if name == table.target}
    if table.dropped_rows:
        yield _loss(table, spec, missing)
    if spec.infer:
        doubts = [doubt for name, kind in table.kinds for doubt in _doubts(texts[name], kind)]
        yield from doubts[:MOST_TOLD]
        if len(doubts) > MOST_TOLD:
            yield f"and {counted(len(doubts) - MOST_TOLD, 'more note')} of this kind"


def _loss(table: Dataset, spec: DatasetSpec, missing: Mapping[str, int]) -> str:
    """What missing values cost; a warning where it is much."""
    lost, rows = table.dropped_rows, table.rows + table.dropped_rows
    shown = _cells(missing)
    if lost <= _MUCH * rows:
        return f"{counted(lost, 'row')} with missing values dropped ({shown})"
    worst = next((name for name in missing if name != table.target), None)
    is_given = worst is not None and worst in (*spec.numeric, *spec.boolean, *spec.categorical)
    todo = "; leave such a column out with "
    todo += "dataset.drop instead of listing its kind" if is_given else setting("drop", worst or "")
    return (
        f"warning: {100 * lost / rows:.0f} % of the rows ({lost} of {rows}) are dropped for "
        f"missing values: {shown}{todo if worst else ''}"
    )


def _cells(missing: Mapping[str, int]) -> str:
    cells = [f"{name} {count}" for name, count in missing.items()]
    more = [counted(len(cells) - _SHOWN_GAPS, "more column")] if len(cells) > _SHOWN_GAPS else []
    return ", ".join([*cells[:_SHOWN_GAPS], *more])


def _doubts(text: TextColumn, kind: RawKind) -> Iterator[str]:
    distinct = text.distinct
    todo = f"leave it out with {text.setting('drop')}"
    if len(distinct) == 1:
        yield f"{text.name} is constant ({distinct[0]}) and of no use; {todo}"
    elif len(distinct) == len(text.values) > 9 and (
        kind is RawKind.CATEGORICAL or all(value.isdecimal() for value in distinct)
    ):
        yield f"{text.name} has another value in every row; if it is an id, {todo}"
    if kind is RawKind.CATEGORICAL:
        if len(distinct) > _MANY and kinds.have_units(distinct):
            yield (
                f"warning: {text.name} counts as {len(distinct)} categories, as {distinct[0]!r} is "
                "no number; if it is one with a unit, remove the unit from the column"
            )
        for group in kinds.spellings(distinct):
            yield f"{text.name}: {' and '.join(group)} count as different categories"
