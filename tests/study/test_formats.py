"""The number of a file format increases when a field is added to it."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.baselines import trials
from fsm_hpc.baselines.trials import Trial
from fsm_hpc.cluster import arrays, cancellations, generations, submissions
from fsm_hpc.search.frontier import UnitRange
from fsm_hpc.search.near_optimal.checkpoint import Checkpoint
from fsm_hpc.search.near_optimal.enumeration import Progress
from fsm_hpc.search.near_optimal.sink import RawFamily
from fsm_hpc.search.proof import Verification
from fsm_hpc.study import verification
from fsm_hpc.study.compose import compose
from fsm_hpc.study.files import FoldPaths, StudyPaths
from tests.support.command_line import said
from tests.support.formats import FORMATS, fields

SNAPSHOT = Path(__file__).parents[1] / "golden" / "formats.json"
PACKAGE = Path(__file__).parents[2] / "fsm_hpc"
FOLD = ("dataset=hepatitis", "method=median", "scan.max_length=1", "scan.splits=2")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A file of every format that one fold and two rules leave on disk."""
    root = tmp_path_factory.mktemp("results")
    words = [*FOLD, f"results_dir={root}", "scan.alternatives=2"]
    assert said(*words)[0] == 0
    paths = StudyPaths(root / "default").fold(compose(words).id)
    progress = Progress((RawFamily(0, (0,), 1, 1, (), ()),), (UnitRange(0, 1),))
    Checkpoint(paths.unfinished_alternatives).save("this", progress)
    trials.save(paths.trials, "this", [Trial({"depth": 1}, 0.5, 1.0)])
    verification.write(paths, Verification("", "verified", "", 1, 0.1))
    found = {path.name: path for path in paths.folder.iterdir()}
    generations.remember(paths.study, 1)
    found |= {path.name: path for path in (paths.study.settings, paths.study.generation)}
    found |= _array(root, paths)
    found |= {name: _fitted(root, classes) for name, classes in _RULES.items()}
    return {name: json.loads(path.read_text()) for name, path in found.items() if name in FORMATS}


_RULES = {"model.json": "ab"}
_TABLE = ("dataset=csv", "dataset.target=y", "method=median", "fit.folds=0")


def _array(root: Path, paths: FoldPaths) -> dict[str, Path]:
    """The files of a job array."""
    submission = submissions.load(paths)
    assert submission is not None
    member = paths, replace(submission, token="a", output=str(root))
    arrays.save([member], "a", True, [1])
    cancellations.cancel([member])
    return {name: root / name for name in (arrays.FILE, cancellations.FILE)}


def _fitted(root: Path, classes: str) -> Path:
    """The model.json of a rule for a small table with these classes."""
    table, out = root / f"{classes}.csv", root / classes
    lines = [f"{number},{classes[number % len(classes)]}" for number in range(30)]
    table.write_text("\n".join(["x,y", *lines]) + "\n")
    code, printed = said("fit", *_TABLE, f"dataset.path={table}", f"out={out}")
    assert code == 0, printed.decode()
    return out / "model.json"


@pytest.mark.parametrize("name", FORMATS)
def test_a_field_is_added_only_with_a_new_number(name: str, written: dict[str, Any]) -> None:
    number, found = str(FORMATS[name].number), fields(name, written[name])
    known: dict[str, dict[str, list[str]]] = json.loads(SNAPSHOT.read_text())
    if os.environ.get("UPDATE_GOLDEN") and number not in known.setdefault(name, {}):
        known[name][number] = found
        SNAPSHOT.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    assert number in known[name], f"{name} {number} is new: UPDATE_GOLDEN=1 stores its fields"
    changed = sorted(set(found) ^ set(known[name][number]))
    assert not changed, (
        f"{name}: other fields than format {number} has: {', '.join(changed)}. Increase FORMAT in "
        "the module that writes the file, then run this test with UPDATE_GOLDEN=1. Remove the "
        f"entry {number} from tests/golden/formats.json only if no release has written it"
    )


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_states_its_format_and_the_version_that_wrote_it(
    name: str, written: dict[str, Any]
) -> None:
    saved = written[name]
    assert saved["format"] == FORMATS[name].number
    places = (saved, saved.get("provenance", {}))
    version = re.compile(r"\d+\.\d+\.\d+(\.dev\d+)?")
    assert any(version.fullmatch(place.get("version", "")) for place in places)


def test_every_file_that_a_later_command_reads_is_written_with_a_number() -> None:
    """Files without one: the answers of a probe, which the command that started it reads."""
    numbered = ("system/serialization.py", "models/model.py")
    sources = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
    writers = {name for name, path in sources.items() if "files.write_json(" in path.read_text()}
    assert writers == {*numbered, "cluster/site/probe.py"}
