"""The page of 350 made-up folds: seconds to write it, and to load, sort and filter it."""

from __future__ import annotations

import contextlib
import io
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fsm_hpc.cli.main import main as command_line
from fsm_hpc.study.files import StudyPaths
from tests.support.browser import browser
from tests.support.made_studies import large_study


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        study = large_study(Path(folder))
        print(f"write    {seconds(lambda: write(study)):.2f} s")
        print(f"size     {study.report.stat().st_size / 1e6:.1f} MB")
        with browser() as opened:
            measure(opened.new_page(), study.report)
    return 0


def write(study: StudyPaths) -> None:
    place = [f"results_dir={study.root.parent}", f"study={study.root.name}"]
    with contextlib.redirect_stdout(io.StringIO()):
        command_line(["report", *place, "--paper"])


def measure(page: Any, path: Path) -> None:
    """What a reader waits for; in the browser's own clock, laid out anew each time."""
    print(f"load     {seconds(lambda: page.goto(path.as_uri())):.2f} s")
    sort = "sortBy(document.querySelector('#table-folds th:nth-child(5) button'))"
    box = "document.getElementById('fold-filter')"
    for name, work in (
        ("sort", sort),
        ("filter", f"{box}.value = 'bank pivot'; filterBy({box})"),
        ("clear", f"{box}.value = ''; filterBy({box})"),
        ("open all", "document.querySelectorAll('details').forEach((d) => { d.open = true; })"),
    ):
        timed = f"() => {{ const t = performance.now(); {work}; void document.body.offsetHeight; "
        milliseconds = page.evaluate(timed + "return performance.now() - t; }")
        print(f"{name:<8} {milliseconds / 1000:.3f} s")


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    raise SystemExit(main())
