"""Find settings, code and solvers that differ between folds of one average."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fsm_hpc.report.collect import DatasetVariant, FoldGroup, Study, label
from fsm_hpc.study.result import FoldResult
from fsm_hpc.system.numbers import number_ranges

_OF_BASELINES = ("optuna", "scikit-learn", "xgboost")
_SHARED_BY_METHODS = ("data", "folds", "seed", "validation_fraction")


@dataclass(frozen=True, slots=True)
class Mixture:
    """A setting in which the folds of a method, or the methods of a dataset, differ."""

    dataset: str
    method: str | None  # None: the methods differ from each other
    text: str
    variant: str = ""

    def __str__(self) -> str:
        return f"{self.where('*')} mixes {self.text}"

    def where(self, methods: str) -> str:
        """`bank/pivot`; `methods` replaces several methods."""
        return "/".join(filter(None, (self.dataset, self.method or methods, self.variant)))

    def is_of(self, group: FoldGroup) -> bool:
        """Whether it concerns averages of these folds."""
        is_same = (self.dataset, self.variant) == group.dataset_variant
        return is_same and self.method in (None, group.method)


def find(study: Study) -> tuple[Mixture, ...]:
    """All mixtures in a study."""
    inside = [m for group in study.groups.values() for m in _in_group(group)]
    return (*inside, *(m for key in study.dataset_variants for m in _in_dataset(study, key)))


def _in_group(group: FoldGroup) -> Iterable[Mixture]:
    by_fold = {row.fold: _aspects(row.result) for row in group.rows if row.result is not None}
    first = next(iter(by_fold.values()), {})
    if all(aspects == first for aspects in by_fold.values()):
        return
    for name in dict.fromkeys(name for aspects in by_fold.values() for name in aspects):
        folds: dict[str, list[int]] = {}
        for fold, aspects in by_fold.items():
            folds.setdefault(_short(aspects.get(name)), []).append(fold)
        if len(folds) > 1:
            parts = [f"{name} {value} ({fold_list(numbers)})" for value, numbers in folds.items()]
            yield Mixture(group.dataset, group.method, " and ".join(parts), group.variant)


def _aspects(done: FoldResult) -> dict[str, Any]:
    """Everything that averaged folds must share."""
    aspects = {name: value for name, value in done.settings.items() if name != "fold"}
    origin = done.provenance
    if done.formula is None:  # other versions of libraries give other models
        packages = origin.get("packages") or {}
        aspects |= {name: packages[name] for name in _OF_BASELINES if packages.get(name)}
    return aspects | {
        "solver": done.solver,
        "version": origin.get("version"),
        "code": origin.get("code"),
    }


def _in_dataset(study: Study, key: DatasetVariant) -> Iterable[Mixture]:
    """Settings that compared methods must share, and do not."""
    groups = [g for g in study.groups.values() if g.dataset_variant == key and g.results]
    for name in _SHARED_BY_METHODS:
        methods: dict[str, list[str]] = {}
        for group in groups:
            value = _short(group.results[0].settings.get(name))
            methods.setdefault(value, []).append(label(group.method))
        if len(methods) > 1:
            parts = [f"{name} {value} ({', '.join(labels)})" for value, labels in methods.items()]
            yield Mixture(key.dataset, None, " and ".join(parts), key.variant)


def fold_list(numbers: list[int]) -> str:
    """`fold 3`, `folds 0-4, 7`."""
    return f"fold{'s' if len(numbers) > 1 else ''} {number_ranges(numbers)}"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 16 else text[:8]
