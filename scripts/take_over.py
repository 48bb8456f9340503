"""Give a study what the others beside it have: python -m scripts.take_over NAME.

Two studies of the same folds may differ in nothing but when a scan ends, as paper and paper_plateau
do. A length that one has proved is proved for the other, and a baseline has no scan. Taken over is
the scan.json of another study's fold where it came further than this one's, which has no result or
was cut by its budget, and the result.json of a baseline that this study lacks. The study's own
command, or `resume`, then goes on from there, and takes nothing that is of other rows or settings.
A fold with a file that cannot be read, here or there, is left to the commands, which tell of it. No
job of the study may run meanwhile.
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
Reach = tuple[int, float]  # lengths that are proved, and the share of the next


def take_over(others: Sequence[Path], study: Path) -> int:
    """Copy what is of use; how many folds have more than before."""
    gained = set()
    for other in others:
        for fold, theirs in StudyPaths(other).folds_on_disk():
            ours = StudyPaths(study).fold(fold)
            path = _of_use(theirs, ours)
            if path is not None:
                _keep_other(theirs, ours)
                write_atomically(ours.folder / path.name, path.read_bytes())
                gained.add(fold)
    return len(gained)


def _keep_other(theirs: FoldPaths, ours: FoldPaths) -> None:
    """A scan of other rows or settings is kept under another name before it is replaced."""
    mine, other = scan_file.load(ours.scan), scan_file.load(theirs.scan)
    if mine and other and mine["fingerprint"] != other["fingerprint"]:
        print(f"{ours.scan} is of other rows or settings; kept as {rename_outdated(ours.scan)}")


def _of_use(theirs: FoldPaths, ours: FoldPaths) -> Path | None:
    """The file of the other fold that this one can go on from."""
    try:
        done = result.read(ours.result)
        if done is not None and done.stop_reason != StopReason.TIMEOUT.value:
            return None
        if theirs.scan.exists():
            return theirs.scan if reach(theirs.scan) > reach(ours.scan) else None
        return theirs.result if done is None and result.read(theirs.result) is not None else None
    except UnreadableError:
        return None


def reach(scan: Path) -> Reach:
    """How far a scan has come, the lengths beyond its end among it."""
    state = scan_file.read(scan)
    if state is None:
        return (0, 0.0)
    attempt = state["under_way"] or {}
    return (len(state["lengths"]) + len(state["spare"]), attempt.get("progress") or 0.0)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.take_over", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("name", help="the study that is given to")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder of all studies")
    given = parser.parse_args(arguments)
    study = given.results / given.name
    others = [path.parent for path in sorted(given.results.glob("*/study.json"))]
    gained = take_over([other for other in others if other != study], study)
    print(f"{gained} folds of {given.name} have more to go on from")
    return 0


if __name__ == "__main__":
    sys.exit(main())
