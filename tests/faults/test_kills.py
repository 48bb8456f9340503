"""Kill a command at any instant, say it again until it ends: nothing is lost, nothing is wrong."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.faults import ledger, victims
from tests.faults.ledger import EscapedError, LostError, WrongError
from tests.faults.victims import Blow, Instant, Victim

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGUSR2)
SMALL = ("dataset=hepatitis", "solver.threads=1")
FEW = ("fit.folds=2", "scan.splits=2")
STOPPED = (0, 130, *(-number for number in SIGNALS))  # how a command may end that was struck
# what differs between two runs of the same command
PASSING = {"seconds", "provenance", "peak_rss_mb", "scan_s", "final_s", "total_s"}
BLOWS = ledger.pick(2, 6)  # at one command, before it is let go on to its end
Answer = dict[str, Any]


def whole(study: Path) -> Answer:
    """All that results and rules say, but for times and hosts."""
    found = [*study.rglob("result.json"), *study.rglob("model.json")]
    return {str(p.relative_to(study)): _lasting(json.loads(p.read_text())) for p in sorted(found)}


def proofs(study: Path) -> Answer:
    """What clingo-dl alone promises: errors, size and proof at every length."""
    kept = ("length", "size", "errors", "proved")
    answers = whole(study)
    return {
        name: [[entry[key] for key in kept] for entry in one["lengths"]]
        + [one["length_bound"], one["size"], one["errors"], one["proved"]]
        for name, one in answers.items()
    }


def tables(study: Path) -> Answer:
    """What `collect` writes."""
    found = [study / "folds.csv", study / "lengths.csv", *(study / "tables").glob("[!.]*")]
    return {str(path.relative_to(study)): path.read_text() for path in sorted(found)}


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lasting(one) for key, one in value.items() if key not in PASSING}
    return [_lasting(one) for one in value] if isinstance(value, list) else value


@dataclass(frozen=True)
class Command:
    """What is killed, when, and what it has to come to."""

    words: tuple[str, ...]
    instants: tuple[Instant, ...]
    answer: Callable[[Path], Answer] = whole


_FOLD = (*victims.OF_FILES, *victims.OF_ATTEMPTS)
_SCAN = (*_FOLD, *victims.OF_SCANS)
COMMANDS = {
    "native": Command(
        (*SMALL, "method=pivot", "fold=1", "solver=native", "scan.max_length=7"), _SCAN
    ),
    "clingo_dl": Command(
        (*SMALL, "method=median", "fold=1", "solver=clingo_dl", "scan.max_length=4"),
        (*_SCAN, *victims.OF_CLINGO),
        proofs,
    ),
    "portfolio": Command(
        (*SMALL, "method=interval", "fold=1", "solver.head_start_s=0", "scan.max_length=4"),
        (*_SCAN, *victims.OF_CLINGO),
        proofs,
    ),
    "random_forest": Command(
        (*SMALL, "method=random_forest", "fold=1", "method.trials=2"),
        (*_FOLD, *victims.OF_TRIALS),
    ),
    "xgboost": Command(
        (*SMALL, "method=xgboost", "fold=1", "method.trials=3"), (*_FOLD, *victims.OF_TRIALS)
    ),
    "fit": Command(
        ("fit", *SMALL, "method=median", "solver=native", *FEW, "scan.max_length=3"),
        (*_SCAN, *victims.OF_RULES),
    ),
    "collect": Command(
        ("collect", "study=default"), (*victims.OF_FILES, *victims.OF_REPORTS), tables
    ),
}


def begin(name: str, folder: Path) -> None:
    """What has to be there before the command."""
    if name == "collect":
        written = Path(__file__).parents[1] / "version_0_1" / "old"
        shutil.copytree(written, folder / "results" / "default")


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Answer]:
    """What each command comes to when nobody interrupts it, and how long that takes."""
    known: dict[str, Answer] = {}

    def of(name: str) -> Answer:
        if name not in known:
            folder = tmp_path_factory.mktemp(name)
            begin(name, folder)
            victim = Victim(list(COMMANDS[name].words), folder)
            assert victim.end() == 0, victim.said()
            known[name] = COMMANDS[name].answer(folder / "results" / "default")
        return known[name]

    return of


def blows(command: Command, random: Random) -> list[Blow]:
    """By the clock, or at an instant of the command's own."""
    made = []
    for _ in range(BLOWS):
        number = random.choice(SIGNALS)
        if random.random() < 0.4:
            made.append(Blow(number, after_s=random.uniform(0.0, 1.2)))
        else:
            chosen = random.choice(command.instants)
            made.append(Blow(number, instant=chosen, count=random.choice((1, 1, 2, 3, 5))))
    return made


def kept(study: Path) -> dict[str, int]:
    """What must never become less: lengths, trials, results."""
    found = {str(p): 1 for p in [*study.rglob("result.json"), *study.rglob("model.json")]}
    for path in study.rglob("scan.json"):
        scan = json.loads(path.read_text())
        found[str(path)] = sum(len(one["lengths"]) for one in scan.get("ladders", [scan]))
    for path in study.rglob("trials.log"):
        text = path.read_text()
        found[str(path)] = text.count('"op_code": 6') + text.count('"op_code":6')
    return found


def strike(command: Command, folder: Path, blow: Blow | None) -> bool:
    """Run the command under a blow; whether that ended it. What there was is there still."""
    before = kept(folder / "results")
    victim = Victim(list(command.words), folder, blow)
    code = victim.end()
    said = victim.said()
    if "Traceback" in said or code not in (STOPPED if blow else (0,)):
        raise EscapedError(f"{blow}: ended with {code}:\n{said}")
    after = kept(folder / "results")
    less = [name for name, count in before.items() if after.get(name, 0) < count]
    if less:
        raise LostError(f"{blow}: {less}: {before} became {after}")
    return code != 0


CASES = [
    pytest.param(name, number, id=f"{name}-{number}")
    for number in range(ledger.pick(1, 18))
    for name in COMMANDS
]


@pytest.mark.parametrize(("name", "number"), CASES)
def test_a_killed_command_said_again_ends_as_if_never_interrupted(
    tmp_path: Path, expected: Callable[[str], Answer], name: str, number: int
) -> None:
    command = COMMANDS[name]
    with ledger.case(f"kills: {name}", str(number)) as case:
        begin(name, tmp_path)
        dealt = blows(command, Random(f"{name}/{number}"))
        for blow in dealt:
            case.tried += strike(command, tmp_path, blow)
        strike(command, tmp_path, None)
        answer = command.answer(tmp_path / "results" / "default")
        if answer != expected(name):
            differ = [key for key in answer if answer[key] != expected(name).get(key)]
            raise WrongError(f"after {', '.join(map(str, dealt))}: other {differ or 'files'}")
