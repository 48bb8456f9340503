"""Copy progress from other studies to a study: python -m scripts.reuse_progress NAME.

Two studies may have the same folds and differ only in the stopping rule, like paper and
paper_plateau. A length that is proved in one study is then proved in the other, and baselines are
equal. The script copies scan.json of another study if that scan searched further and the fold has
no result or had timed out. It copies result.json of a baseline that is missing. The study continues
from there with its own command or `resume`, which ignore files of other rows or settings. Folds
with unreadable files are left out. No job of the study may run meanwhile.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from fsm_hpc.search.stop_reason import StopReason
from fsm_hpc.study import result, scan_file
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.system.files import UnreadableError, rename_outdated, write_atomically

RESULTS = Path("results")
Progress = tuple[int, float]  # number of proved lengths, and the searched share of the next one


def reuse(others: Sequence[Path], study: Path) -> int:
    """Copy usable files; returns the number of folds that have more progress than before."""
    changed = set()
    for other in others:
        for fold, source in StudyPaths(other).folds_on_disk():
            target = StudyPaths(study).fold(fold)
            path = _usable_file(source, target)
            if path is not None:
                _rename_if_outdated(source, target)
                write_atomically(target.folder / path.name, path.read_bytes())
                changed.add(fold)
    return len(changed)


def _rename_if_outdated(source: FoldPaths, target: FoldPaths) -> None:
    """Keep a scan of other rows or settings under another name before it is replaced."""
    old, new = scan_file.load(target.scan), scan_file.load(source.scan)
    if old and new and old["fingerprint"] != new["fingerprint"]:
        renamed = rename_outdated(target.scan)
        print(f"{target.scan} is of other rows or settings; renamed to {renamed}")


def _usable_file(source: FoldPaths, target: FoldPaths) -> Path | None:
    """The file of the source fold from which the target fold can continue."""
    try:
        done = result.read(target.result)
        if done is not None and done.stop_reason != StopReason.TIMEOUT.value:
            return None
        if source.scan.exists():
            return source.scan if progress(source.scan) > progress(target.scan) else None
        return source.result if done is None and result.read(source.result) is not None else None
    except UnreadableError:
        return None


def progress(scan: Path) -> Progress:
    """The progress of a scan, including lengths beyond its end."""
    state = scan_file.read(scan)
    if state is None:
        return (0, 0.0)
    attempt = state["under_way"] or {}
    return (len(state["lengths"]) + len(state["spare"]), attempt.get("progress") or 0.0)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.reuse_progress", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("name", help="name of the study that receives the files")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder of all studies")
    given = parser.parse_args(arguments)
    study = given.results / given.name
    others = [path.parent for path in sorted(given.results.glob("*/study.json"))]
    count = reuse([other for other in others if other != study], study)
    print(f"{count} folds of {given.name} have more progress than before")
    return 0


if __name__ == "__main__":
    sys.exit(main())
