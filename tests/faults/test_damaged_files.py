"""Whatever is on disk: one fold's damage is that fold's finding, and every command goes on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.baselines import trials
from fsm_hpc.baselines.trials import Trial
from fsm_hpc.cli.main import main
from fsm_hpc.cluster.submit import plan, resume
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold_id import FoldId
from tests.faults import ledger
from tests.faults.ledger import EscapedError, WrongError
from tests.support.command_line import place_of, said
from tests.support.damage import NAMES, Damage, damages

CASES = ledger.pick(24, 700)
KIND = "damaged files x commands"
WRITTEN = Path(__file__).parents[1] / "golden" / "format_1"
FRESH = FoldId("hepatitis", "median", 3)
SPOILT = (
    FRESH,
    FoldId("heart_disease", "interval", 1),
    FoldId("heart_disease", "pivot", 1),
    FoldId("hepatitis", "random_forest", 0),
    FoldId("german_credit", "pivot", 0),
)
READING = ("logs", "explain", "explain --row 0", "cancel", "cancel -y", "status")
DECIDING = ("collect", "resume", "plan", "report")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> StudyPaths:
    """Folds of format 1, and a fold of this version."""
    root = tmp_path_factory.mktemp("results")
    shutil.copytree(WRITTEN, root / "old")
    fold = [f"dataset={FRESH.dataset}", f"method={FRESH.method}", f"fold={FRESH.fold}"]
    place = [f"results_dir={root}", "study=old"]
    few = ["scan.max_length=2", "solver.threads=1", "scan.alternatives=2"]
    assert main([*fold, *place, *few]) == 0
    made = StudyPaths(root / "old")
    paths = made.fold(on_disk(made, FRESH))
    shutil.copy(paths.alternatives, paths.unfinished_alternatives)
    assert main(["verify", str(paths.folder)]) == 0
    baseline = made.fold(FoldId("hepatitis", "random_forest", 0))
    trials.save(baseline.trials, "this", [Trial({"max_depth": 2}, 0.5, 1.0)])
    return made


def cases() -> Iterator[tuple[FoldId, str, Damage]]:
    for number, damage in enumerate(islice(damages(0), CASES)):
        yield SPOILT[number % len(SPOILT)], NAMES[number // 4 % len(NAMES)], damage


def told(study: StudyPaths) -> dict[str, dict[str, Any]]:
    """What `status --json` says, by fold."""
    code, printed = said("status", "--json", *place_of(study))
    assert code == 0
    return {one["folder"]: one for one in json.loads(printed)}


def on_disk(study: StudyPaths, fold: FoldId) -> FoldId:
    """The fold with its variant: one of other settings has a folder of its own."""
    folds = [known for known, _ in study.folds_on_disk()]
    return next(one for one in folds if one._replace(variant=fold.variant) == fold)


def arguments_of(command: str, study: StudyPaths, fold: FoldId) -> list[str]:
    if command.startswith("explain"):
        return [*command.split(), str(study.fold(fold).folder)]
    if command == "plan":
        words = [f"dataset={fold.dataset}", f"method={fold.method}", "cluster=local"]
        return [command, *words, *place_of(study)]
    return [*command.split(), *place_of(study)]


@pytest.mark.parametrize(
    ("fold", "name", "damage"),
    [pytest.param(*case, id=f"{n}-{case[1]}-{case[2].name}") for n, case in enumerate(cases())],
)
def test_one_folds_damage_is_its_own(
    study: StudyPaths,
    tmp_path: Path,
    fold: FoldId,
    name: str,
    damage: Damage,
    request: pytest.FixtureRequest,
) -> None:
    case_id = request.node.callspec.id
    with ledger.case(KIND, case_id) as case:
        here = StudyPaths(Path(shutil.copytree(study.root, tmp_path / "old")))
        fold = on_disk(here, fold)
        spoilt = here.fold(fold).folder / name
        if not spoilt.exists():
            spoilt = here.fold(fold).submission
        others = {where: one for where, one in told(here).items() if where != str(spoilt.parent)}
        damage.spoil(spoilt)
        case.tried += 1
        after = told(here)
        if {where: after[where] for where in others} != others:
            raise WrongError("another fold is told otherwise")
        number = int(case_id.partition("-")[0])
        for command in READING if number % 4 else (*READING, DECIDING[number // 4 % len(DECIDING)]):
            case.tried += 1
            try_command(command, here, fold)


def try_command(command: str, study: StudyPaths, fold: FoldId) -> None:
    """It ends as a command may."""
    if command == "resume":
        decide_to_resume(study)
    elif (code := said(*arguments_of(command, study, fold))[0]) not in (0, 1, 2):
        raise EscapedError(f"{command} ended with {code}")


def decide_to_resume(study: StudyPaths) -> None:
    """All that `resume` does before it starts folds."""
    decisions, _ = plan.decide(resume.configs(place_of(study)).configs)
    assert decisions


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(one, id=f"{n}-{one.name}")
        for n, one in enumerate(islice(damages(2), CASES // 6))
    ],
)
def test_a_damaged_memory_of_the_study_stops_no_reader(
    study: StudyPaths, tmp_path: Path, damage: Damage, request: pytest.FixtureRequest
) -> None:
    with ledger.case(KIND, f"study {request.node.callspec.id}") as case:
        here = StudyPaths(Path(shutil.copytree(study.root, tmp_path / "old")))
        before = set(told(here))
        damage.spoil(here.settings)
        case.tried += 1
        if set(told(here)) != before:
            raise WrongError("other folds are told")
        for command in ("collect", "logs", "cancel -y", "plan"):
            case.tried += 1
            try_command(command, here, SPOILT[1])
