"""Copy the finished folds of a study into results/: python -m scripts.keep_study FOLDER NAME.

FOLDER is the running study, NAME its name in results/ of this repository. The script copies
result.json and scan.json of finished folds that are new or have searched further than the kept
ones; then `collect` writes the tables. It refuses files that contain a path of this machine. The
study may be running meanwhile.
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
COMPLETE = ("paper", "paper_plateau")  # studies in results/ with every fold of their experiment
IN_PROGRESS = ("more", "peers")  # studies in results/ with missing folds
SHOWN = ("--paper", "--compare", "--names")  # as `make paper` collects


def finished(study: Path) -> Iterator[FoldPaths]:
    """The folds with a result, except those that a later run resumes."""
    for file in sorted(study.rglob("result.json")):
        paths = FoldPaths(file.parent)
        if result.read(paths.result) is not None and not _is_resumed(paths.scan):
            yield paths


def _is_resumed(scan: Path) -> bool:
    """Whether a later run resumed the scan without finishing it."""
    if not scan.exists():  # a baseline
        return False
    state = json.loads(scan.read_text(encoding="utf-8"))
    final = state.get("final") or {}
    return state.get("stop_reason") is None or final.get("end") is None


def has_absolute_path(path: Path) -> bool:
    return '"/' in path.read_text(encoding="utf-8").replace('"/"', "")


def keep(source: Path, target: Path) -> int:
    """Copy new or improved folds; returns their number."""
    copied = 0
    for paths in finished(source):
        files = [path for path in (paths.result, paths.scan) if path.exists()]
        if any(map(has_absolute_path, files)):
            print(f"not copied, contains an absolute path: {paths.folder}", file=sys.stderr)
            continue
        folder = target / paths.folder.relative_to(source)
        if not is_further(paths.result, folder / paths.result.name):
            continue
        folder.mkdir(parents=True, exist_ok=True)
        for path in files:
            shutil.copyfile(path, folder / path.name)
        copied += 1
    return copied


def is_further(new: Path, kept: Path) -> bool:
    """Whether the new result replaces the kept one.

    It does if that one is missing or lacks scores, or if it timed out and the new one searched
    further. A fold may have run on two machines; the result of the finished scan is kept.
    """
    before, after = result.read(kept), result.read(new)
    if before is None or after is None:
        return after is not None
    if before.scores is None and after.scores is not None:  # a refitted ensemble
        return True
    had_timed_out = before.stop_reason == StopReason.TIMEOUT.value
    return had_timed_out and (
        after.stop_reason != before.stop_reason or after.seconds.scan > before.seconds.scan
    )


def _keep_settings(new: Path, kept: Path) -> None:
    """Keep the study.json with more settings: each machine of a study may have only some."""
    counts = [len(json.loads(p.read_text())["settings"]) if p.exists() else 0 for p in (new, kept)]
    if counts[0] > counts[1]:
        shutil.copyfile(new, kept)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.keep_study", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path, help="the running study")
    parser.add_argument("name", help="its name in results/")
    parser.add_argument(
        "--page", action="store_true", help="write figures and report.html.gz as well"
    )
    given = parser.parse_args(arguments)
    target = RESULTS / given.name
    copied = keep(given.folder, target)
    _keep_settings(StudyPaths(given.folder).settings, StudyPaths(target).settings)
    print(f"{copied} new or improved folds in {given.name}")
    shutil.rmtree(StudyPaths(target).tables, ignore_errors=True)  # some are no longer written
    study = (f"results_dir={RESULTS}", f"study={given.name}")
    ended = fsm_hpc(["collect", *study, *SHOWN, *(["--plots"] if given.page else [])])
    if given.page and not ended:
        ended = fsm_hpc(["report", *study, *SHOWN])
        _compress(StudyPaths(target).report)
    return ended


def _compress(page: Path) -> None:
    """Compress without a time stamp, so that equal pages give equal bytes."""
    page.with_name(f"{page.name}.gz").write_bytes(gzip.compress(page.read_bytes(), mtime=0))
    page.unlink()


if __name__ == "__main__":
    sys.exit(main())
