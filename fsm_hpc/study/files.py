"""The names of all files of studies, folds and models."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, overload
from urllib.parse import quote

from fsm_hpc.study.fold_id import ALL, FoldId


class _HasFolder(Protocol):
    @property
    def folder(self) -> Path: ...


class _File:
    """A file or folder of that name, as an attribute of a class with a `folder`."""

    def __init__(self, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, owner: None, kind: type) -> _File: ...
    @overload
    def __get__(self, owner: _HasFolder, kind: type) -> Path: ...
    def __get__(self, owner: _HasFolder | None, kind: type) -> Path | _File:
        return self if owner is None else owner.folder / self.name


@dataclass(frozen=True, slots=True)
class StudyPaths:
    """The files of a study: results/<study>/..."""

    root: Path

    settings = _File("study.json")  # the settings that the study started with
    index = _File(".index")  # cache of the results of finished folds; can be removed at any time
    lock = _File(".lock")  # held by a command that submits or cancels, or verifies a fold
    folds_csv = _File("folds.csv")
    lengths_csv = _File("lengths.csv")
    tables = _File("tables")
    plots = _File("plots")
    report = _File("report.html")
    submissions = _File("submissions")  # files of submitit: job scripts, pickles, output
    generation = _File(".generation.json")  # the number of the last submission to a scheduler

    @property
    def folder(self) -> Path:
        return self.root

    def fold(self, fold: FoldId) -> FoldPaths:
        return FoldPaths(self.root.joinpath(*fold.place, f"fold-{fold.part}"))

    def folds_on_disk(self) -> Iterator[tuple[FoldId, FoldPaths]]:
        """Every fold folder, in order."""
        folds = (fold for dataset in _folders(self.root) for fold in _folds_of(dataset))
        yield from sorted(folds, key=lambda item: item[0].order)

    def model(self, dataset: str, method: str) -> ModelPaths:
        """The default folder of a model of `fit`."""
        return ModelPaths(self.root / dataset / method / "model")


def _folds_of(dataset: Path) -> Iterator[tuple[FoldId, FoldPaths]]:
    for method in _folders(dataset):
        for folder in _folders(method):
            is_variant = "=" in folder.name
            for path in _folders(folder) if is_variant else (folder,):
                if (number := _number(path.name)) is not None:
                    variant = folder.name if is_variant else ""
                    yield FoldId(dataset.name, method.name, number, variant), FoldPaths(path)


def _number(folder: str) -> int | None:
    """The fold of a folder name; None for any other name."""
    number = re.fullmatch(r"fold-(all|0|[1-9][0-9]{0,8})", folder)
    if number is None:
        return None
    return ALL if number[1] == "all" else int(number[1])


def _folders(parent: Path) -> list[Path]:
    """The folders in a folder; none if it does not exist or cannot be read."""
    try:
        return [parent / entry.name for entry in os.scandir(parent) if _is_folder(entry)]
    except OSError:
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


@dataclass(frozen=True, slots=True, order=True)
class FoldPaths:
    """The files of one fold: results/<study>/<dataset>/<method>/[<variant>/]fold-<k>/..."""

    folder: Path

    scan = _File("scan.json")  # the state of the scan after its last step
    result = _File("result.json")
    alternatives = _File("alternatives.json")  # near-optimal formulas, with scan.alternatives
    unfinished_alternatives = _File(".result.alternatives.json")  # checkpoint of their search
    claim = _File("claim.json.gz")  # claim of optimality with the fitted rows, with scan.claim
    verification = _File("verification.json")  # outcome of the independent checker
    log = _File("log.txt")
    submission = _File("submission.json")  # the last submission: config, code, job id
    attempt = _File("attempt.json")  # the running attempt, or how the last one ended
    trials = _File("trials.json")  # the finished trials of a baseline

    @property
    def _method(self) -> Path:
        """The folder of the method; a variant is one folder in between, with `=` in its name."""
        parent = self.folder.parent
        return parent.parent if "=" in parent.name else parent

    @property
    def study(self) -> StudyPaths:
        return StudyPaths(self._method.parent.parent)

    @property
    def id(self) -> FoldId | None:
        """The fold of the folder name; None for any other name."""
        number, method = _number(self.folder.name), self._method
        variant = "" if method == self.folder.parent else self.folder.parent.name
        if number is None:
            return None
        return FoldId(method.parent.name, method.name, number, variant)

    @property
    def cross_validation(self) -> StudyPaths:
        """Of the fold `all`: the folds that estimate the accuracy of its model."""
        return StudyPaths(self.folder / "folds")


@dataclass(frozen=True, slots=True)
class ModelPaths:
    """The files that `fit` writes."""

    folder: Path

    model = _File("model.json")
    card = _File("model.html")

    @property
    def study(self) -> StudyPaths:
        """The study of its fold `all`, unless that is in a study with other folds."""
        return StudyPaths(self.folder / "folds")

    def folds(self) -> Iterator[FoldPaths]:
        """Possible folders of its fold `all`; version 0.2 wrote its files next to model.json."""
        yield from map(FoldPaths, self.study.root.glob("*/*/fold-all"))
        yield FoldPaths(self.folder.parent / "fold-all")
        yield FoldPaths(self.folder)

    def claim(self, of_class: str) -> Path:
        """The claim of optimality; `of_class`: the class if there are more than two, or ""."""
        return self.folder / f"claim{of_class and f'-{quote(of_class, safe=str())}'}.json.gz"
