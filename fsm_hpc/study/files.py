"""The one place that knows a file's name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fsm_hpc.study.fold_id import FoldId


@dataclass(frozen=True, slots=True)
class StudyPaths:
    """The files of a study: results/<study>/..."""

    root: Path

    def fold(self, fold: FoldId) -> FoldPaths:
        return FoldPaths(self.root / fold.dataset / fold.method / f"fold-{fold.fold}")

    def folds_on_disk(self) -> Iterator[tuple[FoldId, FoldPaths]]:
        """Every fold folder, in order."""
        found = []
        for folder in self.root.glob("*/*/fold-*"):
            number = folder.name.removeprefix("fold-")
            if number.isdigit() and folder.is_dir():
                method = folder.parent
                fold = FoldId(method.parent.name, method.name, int(number))
                found.append((fold, FoldPaths(folder)))
        yield from sorted(found)

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


@dataclass(frozen=True, slots=True, order=True)
class FoldPaths:
    """The files of one fold: results/<study>/<dataset>/<method>/fold-<k>/..."""

    folder: Path

    @property
    def study(self) -> StudyPaths:
        return StudyPaths(self.folder.parent.parent.parent)

    @property
    def scan(self) -> Path:
        """The state of the scan after its last step."""
        return self.folder / "scan.json"

    @property
    def result(self) -> Path:
        return self.folder / "result.json"

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
        """Optuna's journal of a baseline."""
        return self.folder / "trials.log"
