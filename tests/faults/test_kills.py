"""Kill a command at any instant, say it again until it ends: nothing is lost, nothing is wrong."""

from __future__ import annotations

import itertools
import json
import pkgutil
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from tests.faults import ledger, said, victims
from tests.faults.answers import Answer, families, outcomes, proofs, tables, whole
from tests.faults.ledger import EscapedError, LostError, WrongError
from tests.faults.victims import Blow, Instant, Victim

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGUSR2)
STOPPED = (0, 130, *(-number for number in SIGNALS))  # how a command may end that was struck
PAPER = Path(__file__).parents[2] / "results" / "paper"
HITS = ledger.pick(1, 8)  # that a case wants; a command that was quicker begins anew
TRIES = ledger.pick(3, 24)


@dataclass(frozen=True)
class Command:
    """What is killed, when, and what it has to come to."""

    words: tuple[str, ...]
    instants: tuple[Instant, ...]
    answer: Callable[[Path], Answer] = whole
    keeps_best: bool = False  # a signal to stop ends it with 0 and the best so far


_FOLD = (*victims.OF_FILES, *victims.OF_ATTEMPTS)
_SCAN = (*_FOLD, *victims.OF_SCANS)
COMMANDS = {
    "native": Command(said.NATIVE, _SCAN),
    "clingo_dl": Command(said.CLINGO_DL, (*_SCAN, *victims.OF_CLINGO), proofs),
    "portfolio": Command(said.PORTFOLIO, (*_SCAN, *victims.OF_CLINGO), proofs),
    "random_forest": Command(said.RANDOM_FOREST, (*_FOLD, *victims.OF_TRIALS)),
    "xgboost": Command(said.XGBOOST, (*_FOLD, *victims.OF_TRIALS)),
    "fit": Command(said.FIT, (*_SCAN, *victims.OF_RULES), keeps_best=True),
    "alternatives": Command(
        ("alternatives", "rule/model.json", "slack=1", "--threads", "1", "--csv", "all.csv"),
        (*victims.OF_FILES, *victims.OF_ALTERNATIVES, *victims.OF_SETS),
        families,
    ),
    "scan.alternatives": Command(said.WITH_ALTERNATIVES, (*_SCAN, *victims.OF_SETS)),
    "collect": Command(
        ("collect", "study=default"), (*victims.OF_FILES, *victims.OF_REPORTS), tables
    ),
    "verify": Command(
        ("verify", "study=default"), (*victims.OF_FILES, *victims.OF_CLAIMS), outcomes
    ),
}
IN_SHORT = ("native", "clingo_dl", "fit", "collect")


class Undisturbed:
    """What each command comes to when nobody interrupts it, and how long that takes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, tuple[Answer, float]] = {}

    def answer(self, name: str) -> Answer:
        return self._of(name)[0]

    def seconds(self, name: str) -> float:
        return self._of(name)[1]

    def begin(self, name: str, folder: Path) -> None:
        """What has to be there before the command."""
        folder.mkdir(exist_ok=True)
        if name == "collect":
            written = Path(__file__).parents[1] / "golden" / "format_1"
            shutil.copytree(written, folder / "results" / "default")
        if name == "verify":
            place = Path("heart_disease", "median")
            for fold in ("fold-0", "fold-1"):
                source, target = PAPER / place / fold, folder / "results" / "default" / place / fold
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("verification.json"))
        if name == "alternatives":
            shutil.copytree(self._rule(), folder / "rule")

    def _of(self, name: str) -> tuple[Answer, float]:
        if name not in self._known:
            folder = self._folder / name
            self.begin(name, folder)
            began = time.monotonic()
            self._run(COMMANDS[name].words, folder)
            spent_s = time.monotonic() - began
            self._known[name] = COMMANDS[name].answer(folder / "results" / "default"), spent_s
        return self._known[name]

    def _rule(self) -> Path:
        made = self._folder / "rule"
        if not made.exists():
            self._run((*said.RULE, "out=rule"), self._folder)
        return made

    def _run(self, words: tuple[str, ...], folder: Path) -> None:
        victim = Victim(list(words), folder)
        assert victim.end() == 0, victim.said()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    return Undisturbed(tmp_path_factory.mktemp("undisturbed"))


def some_blow(command: Command, random: Random, seconds: float) -> Blow:
    """By the clock, or at an instant of the command's own."""
    number = random.choice(SIGNALS)
    if random.random() < 0.4:
        return Blow(number, after_s=random.uniform(0.0, seconds))
    chosen = random.choice(command.instants)
    return Blow(number, instant=chosen, count=random.choice((1, 1, 1, 2, 3)))


def kept(study: Path) -> dict[str, int]:
    """What must never become less: lengths, trials, results, outcomes."""
    names = ("result.json", "model.json", "verification.json")
    found = {str(path): 1 for name in names for path in study.rglob(name)}
    found |= {str(path.with_name("scan.json")): 10**6 for path in study.rglob("result.json")}
    for path in study.rglob("scan.json"):
        scan = json.loads(path.read_text())
        lengths = sum(len(one["lengths"]) for one in scan.get("ladders", [scan]))
        found[str(path)] = max(found.get(str(path), 0), lengths)
    for path in study.rglob("trials.json"):
        found[str(path)] = len(json.loads(path.read_text())["trials"])
    return found


def strike(command: Command, folder: Path, blow: Blow | None) -> bool:
    """Run the command under a blow; whether that ended it. What there was is there still."""
    before = kept(folder / "results")
    victim = Victim(list(command.words), folder, blow)
    code = victim.end()
    told = victim.said()
    if "Traceback" in told or code not in (STOPPED if blow else (0,)):
        raise EscapedError(f"{blow}: ended with {code}:\n{told}")
    after = kept(folder / "results")
    less = [name for name, count in before.items() if after.get(name, 0) < count]
    if less:
        raise LostError(f"{blow}: {less}: {before} became {after}")
    return code != 0


CASES = [
    pytest.param(name, number, id=f"{name}-{number}")
    for number in range(ledger.pick(1, 9))
    for name in (COMMANDS if ledger.IS_LONG else IN_SHORT)
]


def is_unfinished(command: Command, folder: Path, right: Answer) -> bool:
    """Whether a struck command kept the best so far, which it has to complete when said again."""
    return command.keeps_best and command.answer(folder / "results" / "default") != right


def refuse_another(command: Command, folder: Path, right: Answer, dealt: list[Blow]) -> None:
    answer = command.answer(folder / "results" / "default")
    if answer != right:
        differ = [key for key in answer if answer[key] != right.get(key)]
        raise WrongError(f"after {', '.join(map(str, dealt))}: other {differ or 'files'}")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_function_at_which_a_command_is_killed_exists(name: str) -> None:
    for instant in COMMANDS[name].instants:
        assert callable(pkgutil.resolve_name(instant.place))


@pytest.mark.parametrize(("name", "number"), CASES)
def test_a_killed_command_said_again_ends_as_if_never_interrupted(
    tmp_path: Path, undisturbed: Undisturbed, name: str, number: int
) -> None:
    command, random = COMMANDS[name], Random(f"{name}/{number}")
    with ledger.case(f"kills: {name}", str(number)) as case:
        lives = (tmp_path / f"life-{life}" for life in itertools.count())
        folder, dealt, right = next(lives), list[Blow](), undisturbed.answer(name)
        undisturbed.begin(name, folder)
        for _ in range(TRIES):
            if case.tried == HITS:
                break
            dealt.append(some_blow(command, random, undisturbed.seconds(name)))
            if strike(command, folder, dealt[-1]) or is_unfinished(command, folder, right):
                case.tried += 1
                continue
            refuse_another(command, folder, right, dealt)
            folder, dealt = next(lives), []
            undisturbed.begin(name, folder)
        strike(command, folder, None)
        refuse_another(command, folder, right, dealt)
