"""Keep what is finished of a study: python -m scripts.keep_study FOLDER NAME.

FOLDER is the study where it runs, NAME the one in results/ of this repository. Copied are
result.json and scan.json of folds that have a result, are not going on and add to what is kept;
then `collect` makes the tables. A fold that names a place of the machine it ran on is refused. The
study may go on running.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from fsm_hpc.cli.main import main as fsm_hpc
from fsm_hpc.search.stop_reason import StopReason
from fsm_hpc.study import result
from fsm_hpc.study.files import FoldPaths, StudyPaths

RESULTS = Path(__file__).parents[1] / "results"
SHOWN = ("--paper", "--compare", "--names")  # as `make paper` collects


def finished(study: Path) -> Iterator[FoldPaths]:
    """The folds with a result, but for those that a later run is going on with."""
    for found in sorted(study.rglob("result.json")):
        paths = FoldPaths(found.parent)
        if result.read(paths.result) is not None and not _goes_on(paths.scan):
            yield paths


def _goes_on(scan: Path) -> bool:
    """Whether its scan has come further than a finished one."""
    if not scan.exists():  # a baseline has none
        return False
    state = json.loads(scan.read_text(encoding="utf-8"))
    final = state.get("final") or {}
    return state.get("stop_reason") is None or final.get("end") is None


def names_a_place(path: Path) -> bool:
    return '"/' in path.read_text(encoding="utf-8").replace('"/"', "")


def keep(source: Path, target: Path) -> int:
    """Copy what is new; how many folds that were."""
    copied = 0
    for paths in finished(source):
        files = [path for path in (paths.result, paths.scan) if path.exists()]
        if any(map(names_a_place, files)):
            print(f"left out, as it names a place of that machine: {paths.folder}", file=sys.stderr)
            continue
        place = target / paths.folder.relative_to(source)
        if not is_further(paths.result, place / paths.result.name):
            continue
        place.mkdir(parents=True, exist_ok=True)
        for path in files:
            shutil.copyfile(path, place / path.name)
        copied += 1
    return copied


def is_further(new: Path, kept: Path) -> bool:
    """Whether a result adds to the kept one: there is none, or its scan was cut and went on since.

    The same fold may have run in two places; the one whose scan came to its own end is kept.
    """
    before, after = result.read(kept), result.read(new)
    if before is None or after is None:
        return after is not None
    was_cut = before.stop_reason == StopReason.TIMEOUT.value
    return was_cut and (
        after.stop_reason != before.stop_reason or after.seconds.scan > before.seconds.scan
    )


def _keep_settings(new: Path, kept: Path) -> None:
    """What the study began with; a study in two places began with fewer tables in each."""
    known = [
        len(json.loads(path.read_text())["settings"]) if path.exists() else 0
        for path in (new, kept)
    ]
    if known[0] > known[1]:
        shutil.copyfile(new, kept)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.keep_study", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path, help="the study where it runs")
    parser.add_argument("name", help="in results/ of this repository")
    parser.add_argument("--page", action="store_true", help="figures and report.html.gz, too")
    given = parser.parse_args(arguments)
    target = RESULTS / given.name
    copied = keep(given.folder, target)
    _keep_settings(StudyPaths(given.folder).settings, StudyPaths(target).settings)
    print(f"{copied} folds are new in {given.name}")
    place = (f"results_dir={RESULTS}", f"study={given.name}")
    ended = fsm_hpc(["collect", *place, *SHOWN, *(["--plots"] if given.page else [])])
    if given.page and not ended:
        ended = fsm_hpc(["report", *place, *SHOWN])
        _compress(StudyPaths(target).report)
    return ended


def _compress(page: Path) -> None:
    """The same page gives the same bytes: no time in it."""
    page.with_name(f"{page.name}.gz").write_bytes(gzip.compress(page.read_bytes(), mtime=0))
    page.unlink()


if __name__ == "__main__":
    sys.exit(main())
