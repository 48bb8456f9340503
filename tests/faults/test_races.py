"""Two commands at one moment: each fold has one job, nothing is lost, the answer is the same."""

from __future__ import annotations

import json
import time
from pathlib import Path
from random import Random

import pytest

from tests.faults import ledger, said
from tests.faults.answers import whole
from tests.faults.ledger import EscapedError, LostError, WrongError
from tests.faults.victims import Victim
from tests.support.command_line import said as printed_by
from tests.support.fake_slurm import FakeSlurm

KIND = "races"
PLACE = said.MEDIAN
SENT = (*PLACE, "cluster=slurm", "fold=0,1")
WORDS = {
    "-m": (*SENT, "-m"),
    "seed -m": (*SENT, "seed=7", "-m"),
    "resume": ("resume", *PLACE),
    "cancel": ("cancel", "-y", *PLACE),
    "status": ("status", *PLACE),
    "collect": ("collect",),
    "plan": ("plan", *SENT),
    "fold": said.FOLD,
    "fit": said.QUICK_RULE,
    "here -m": (*said.FOLD, "-m", "cluster=local"),
}
# what races, and the jobs that have to be there when both have ended and `cancel` has not won
ON_SLURM = (
    ("-m", "-m"),
    ("-m", "cancel"),
    ("-m", "seed -m"),
    ("-m", "status"),
    ("-m", "plan"),
    ("resume", "resume"),
    ("resume", "cancel"),
    ("resume", "-m"),
    ("cancel", "cancel"),
)
HERE = (("fold", "fold"), ("fit", "fit"), ("fold", "collect"), ("here -m", "here -m"))
ROUNDS = ledger.pick(1, 4)


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSlurm:
    monkeypatch.chdir(tmp_path)
    return FakeSlurm(tmp_path / "bin", monkeypatch)


def at_once(folder: Path, pair: tuple[str, str], apart_s: float) -> list[int]:
    """Both commands, the second so long after the first; how they ended."""
    running = []
    for number, name in enumerate(pair):
        running.append(Victim(list(WORDS[name]), folder, output=folder / f"{number}.txt"))
        time.sleep(apart_s if number == 0 else 0)
    codes = [victim.end() for victim in running]
    for code, victim in zip(codes, running, strict=True):
        if "Traceback" in victim.said() or code not in (0, 1, 2):
            raise EscapedError(f"{pair}: ended with {code}:\n{victim.said()[-1500:]}")
    return codes


def live_jobs(fake: FakeSlurm) -> int:
    live = [job for job in fake.jobs if not job["is_cancelled"]]
    return sum(int(str(job["count"])) or 1 for job in live)


def states() -> list[str]:
    code, printed = printed_by("status", "--json", *PLACE)
    assert code == 0, printed
    return [one["state"] for one in json.loads(printed)]


SHORT_PAIRS = (("-m", "-m"), ("-m", "cancel"))


@pytest.mark.parametrize("number", range(ROUNDS))
@pytest.mark.parametrize("pair", ON_SLURM if ledger.IS_LONG else SHORT_PAIRS, ids="+".join)
def test_two_commands_at_once_leave_each_fold_one_job(
    fake: FakeSlurm, tmp_path: Path, pair: tuple[str, str], number: int
) -> None:
    with ledger.case(KIND, f"{pair} {number}") as case:
        random = Random(f"{pair}/{number}")
        if "-m" not in pair:
            assert printed_by(*WORDS["-m"])[0] == 0
        if "resume" in pair and random.random() < 0.5:
            assert printed_by(*WORDS["cancel"])[0] == 0
        fake.says(sbatch=random.choice(("ok", "slow")))
        case.tried += 1
        at_once(tmp_path, pair, random.choice((0.0, 0.0, 0.2, 0.6, 1.5)))
        fake.says(sbatch="ok")
        wanted = 4 if "seed -m" in pair else 2
        if live_jobs(fake) > wanted:
            raise WrongError(f"{wanted} folds have jobs: {fake.jobs}")
        if "cancel" not in pair and live_jobs(fake) != wanted:
            raise LostError(f"{wanted} folds have jobs: {fake.jobs}")
        if {"lost", "failed"} & set(states()):
            raise LostError(f"{states()}")
        assert printed_by(*WORDS["cancel"])[0] == 0
        if live_jobs(fake):
            raise WrongError(f"not cancelled: {fake.jobs}")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What a command comes to when no other one is there."""
    found: dict[str, object] = {}
    for name in ("fold", "fit") if ledger.IS_LONG else ("fold",):
        folder = tmp_path_factory.mktemp(name)
        victim = Victim(list(WORDS[name]), folder)
        assert victim.end() == 0, victim.said()
        found[name] = whole(folder)
    return found


@pytest.mark.parametrize("number", range(ROUNDS))
@pytest.mark.parametrize("pair", HERE if ledger.IS_LONG else HERE[:1], ids="+".join)
def test_two_runs_of_one_fold_come_to_one_answer(
    tmp_path: Path, alone: dict[str, object], pair: tuple[str, str], number: int
) -> None:
    with ledger.case(KIND, f"{pair} {number}") as case:
        case.tried += 1
        random = Random(f"{pair}/{number}")
        at_once(tmp_path, pair, random.choice((0.0, 0.0, 0.1, 0.3, 0.6)))
        name = "fit" if "fit" in pair else "fold"
        victim = Victim(list(WORDS[name]), tmp_path)
        if victim.end() != 0:
            raise LostError(f"afterwards: {victim.said()[-1500:]}")
        if whole(tmp_path) != alone[name]:
            raise WrongError(f"{whole(tmp_path)}")
