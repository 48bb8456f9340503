"""The example formulas of a study in words, with their accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean, pstdev

from fsm_hpc.cluster.watch.states import FoldState
from fsm_hpc.report.collect import FoldGroup, Row, Study, label
from fsm_hpc.report.tables.builder import no_better
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.system.numbers import counted


@dataclass(frozen=True, slots=True)
class ExampleFormula:
    """The example formula of a dataset and method as a sentence, with its numbers."""

    method: str
    words: str
    row: Row  # its fold
    anchor: str  # the section of that fold in the page
    facts: tuple[str, ...]
    caveat: str  # empty without problems


def example_formulas(
    study: Study, anchors: Mapping[FoldId, str]
) -> dict[str, list[ExampleFormula]]:
    """By dataset, in the order of the methods."""
    by_dataset: dict[str, list[ExampleFormula]] = {}
    for group in study.groups.values():
        if group.finds_formula:
            row = group.example or group.rows[0]
            by_dataset.setdefault(group.dataset, []).append(_example(group, row, anchors[row.id]))
    return by_dataset


def _example(group: FoldGroup, row: Row, anchor: str) -> ExampleFormula:
    done = row.result
    if done is None:
        return ExampleFormula(_name(group), "There is no formula yet.", row, anchor, (), "")
    caveats = [] if row.state is FoldState.DONE else [f"fold {row.fold} is {row.state.value}"]
    if group.beats_majority is False:
        caveats.append(no_better(group))
    words = done.words or done.formula or ""
    return ExampleFormula(_name(group), words, row, anchor, _facts(group, row), "; ".join(caveats))


def _name(group: FoldGroup) -> str:
    return ", ".join(filter(None, (label(group.method), group.variant)))


def _facts(group: FoldGroup, row: Row) -> tuple[str, ...]:
    values = [100 * done.accuracy.test for done in group.results]
    have, all_ = len(group.results), len(group.rows)
    folds = (f"{have} of " if have < all_ else "") + counted(all_, "fold")
    facts = [f"test accuracy {fmean(values):.1f} ± {pstdev(values):.1f} % over {folds}"]
    if group.majority is not None:
        facts.append(f"majority {100 * group.majority:.1f} %")
    return (*facts, f"size {row.model_size}")
