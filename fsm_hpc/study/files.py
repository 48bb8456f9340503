"""The one place that knows a file's name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from fsm_hpc.study.fold_id import ALL, FoldId


@dataclass(frozen=True, slots=True)
class StudyPaths:
    """The files of a study: results/<study>/..."""

    root: Path

    def fold(self, fold: FoldId) -> FoldPaths:
        return FoldPaths(self.root.joinpath(*fold.place, f"fold-{fold.part}"))

    def folds_on_disk(self) -> Iterator[tuple[FoldId, FoldPaths]]:
        """Every fold folder, in order."""
        found = (one for dataset in _folders(self.root) for one in _folds_of(dataset))
        yield from sorted(found, key=lambda item: item[0].order)

    @property
    def settings(self) -> Path:
        """What the study began with: whatever differs from it is a variant."""
        return self.root / "study.json"

    @property
    def index(self) -> Path:
        """Cache of the results of finished folds; can be removed at any time."""
        return self.root / ".index"

    @property
    def lock(self) -> Path:
        """Held by the command that submits or cancels; of a fold, by who verifies its formula."""
        return self.root / ".lock"

    def model(self, dataset: str, method: str) -> ModelPaths:
        """The model that `fit` makes when no other folder is named."""
        return ModelPaths(self.root / dataset / method / "model")

    @property
    def folds_csv(self) -> Path:
        return self.root / "folds.csv"

    @property
    def lengths_csv(self) -> Path:
        return self.root / "lengths.csv"

    @property
    def tables(self) -> Path:
        return self.root / "tables"

    @property
    def plots(self) -> Path:
        return self.root / "plots"

    @property
    def report(self) -> Path:
        return self.root / "report.html"

    @property
    def submissions(self) -> Path:
        """What submitit writes: job scripts, pickles, output."""
        return self.root / "submissions"

    @property
    def generation(self) -> Path:
        """The number of the last submission to a scheduler."""
        return self.root / ".generation.json"


def _folds_of(dataset: Path) -> Iterator[tuple[FoldId, FoldPaths]]:
    for method in _folders(dataset):
        for folder in _folders(method):
            is_variant = "=" in folder.name
            for one in _folders(folder) if is_variant else (folder,):
                if (number := _number(one.name)) is not None:
                    variant = folder.name if is_variant else ""
                    yield FoldId(dataset.name, method.name, number, variant), FoldPaths(one)


def _number(folder: str) -> int | None:
    """The fold that a folder is called after; None where it is none of a fold."""
    number = re.fullmatch(r"fold-(all|0|[1-9][0-9]{0,8})", folder)
    if number is None:
        return None
    return ALL if number[1] == "all" else int(number[1])


def _folders(above: Path) -> list[Path]:
    """The folders in a folder; none where it is not there, or cannot be read."""
    try:
        return [above / entry.name for entry in os.scandir(above) if _is_folder(entry)]
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

    @property
    def _method(self) -> Path:
        """A variant is one folder in between, with a sign that no method has in its name."""
        above = self.folder.parent
        return above.parent if "=" in above.name else above

    @property
    def study(self) -> StudyPaths:
        return StudyPaths(self._method.parent.parent)

    @property
    def id(self) -> FoldId | None:
        """The fold that the folder is called after; None where it is none of a fold."""
        number, method = _number(self.folder.name), self._method
        variant = "" if method == self.folder.parent else self.folder.parent.name
        if number is None:
            return None
        return FoldId(method.parent.name, method.name, number, variant)

    @property
    def scan(self) -> Path:
        """The state of the scan after its last step."""
        return self.folder / "scan.json"

    @property
    def result(self) -> Path:
        return self.folder / "result.json"

    @property
    def alternatives(self) -> Path:
        """All formulas that are about as good, where `scan.alternatives` asked for them."""
        return self.folder / "alternatives.json"

    @property
    def claim(self) -> Path:
        """The claim of optimality with the fitted rows, where `claim` asked for it."""
        return self.folder / "claim.json.gz"

    @property
    def verification(self) -> Path:
        """What the independent checker found out about the formula."""
        return self.folder / "verification.json"

    @property
    def unfinished_alternatives(self) -> Path:
        """How far the search for them has come."""
        return self.folder / ".result.alternatives.json"

    @property
    def log(self) -> Path:
        return self.folder / "log.txt"

    @property
    def submission(self) -> Path:
        """The last submission: config and code of that time, job id."""
        return self.folder / "submission.json"

    @property
    def attempt(self) -> Path:
        """Who works on the fold, or how the last attempt ended."""
        return self.folder / "attempt.json"

    @property
    def trials(self) -> Path:
        """The finished trials of a baseline."""
        return self.folder / "trials.json"

    @property
    def cross_validation(self) -> StudyPaths:
        """Of the fold `all`: the folds that tell what to expect of its model."""
        return StudyPaths(self.folder / "folds")


@dataclass(frozen=True, slots=True)
class ModelPaths:
    """What `fit` writes for its user."""

    folder: Path

    @property
    def model(self) -> Path:
        return self.folder / "model.json"

    @property
    def card(self) -> Path:
        return self.folder / "model.html"

    @property
    def study(self) -> StudyPaths:
        """Where its fold `all` is, unless it is in a study that folds share with it."""
        return StudyPaths(self.folder / "folds")

    def folds(self) -> Iterator[FoldPaths]:
        """Where its fold `all` may be; version 0.2 had the files of one beside model.json."""
        yield from map(FoldPaths, self.study.root.glob("*/*/fold-all"))
        yield FoldPaths(self.folder.parent / "fold-all")
        yield FoldPaths(self.folder)

    def claim(self, of_class: str) -> Path:
        """The claim of optimality; `of_class`: the class where there are more than two, or ""."""
        return self.folder / f"claim{of_class and f'-{quote(of_class, safe=str())}'}.json.gz"
