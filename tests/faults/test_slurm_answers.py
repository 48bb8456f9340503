"""SLURM's commands fail, lie and fall silent: no fold has two jobs, and none is called lost."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from random import Random

import pytest

from fsm_hpc.cluster.schedulers import slurm_commands as slurm
from fsm_hpc.cluster.submit import transaction
from tests.faults import ledger
from tests.faults.ledger import EscapedError, LostError, WrongError
from tests.support.command_line import said
from tests.support.fake_slurm import SPOILT, FakeSlurm

COMMANDS = ("sbatch", "squeue", "sacct", "scontrol", "scancel")
WORDS = ("dataset=hepatitis", "method=median", "cluster=slurm", "fold=0,1")
PLACE = ("dataset=hepatitis", "method=median")
OWN = {"sbatch": ("refuse", "error", "lost", "garbled"), "squeue": ("garbled", "empty")}
SINGLE = [(c, mode) for c in COMMANDS for mode in ("fail", *OWN.get(c, ()), *SPOILT)]
PAIRS = [
    (one, other) for one, other in product(SINGLE, SINGLE) if one[0] < other[0]
]  # two commands that fail at once
DURING = ("-m", "status", "plan", "resume", "cancel", "again")


def words_of(what: str) -> list[str]:
    return {
        "-m": [*WORDS, "-m"],
        "again": [*WORDS, "-m"],
        "plan": ["plan", *WORDS],
        "status": ["status", "--json", *PLACE],
        "resume": ["resume", *PLACE],
        "cancel": ["cancel", "-y", *PLACE],
    }[what]


def chosen() -> list[tuple[tuple[str, str], ...]]:
    single = [(one,) for one in SINGLE]
    pairs = Random("pairs").sample(PAIRS, ledger.pick(0, 30))
    return [*single[:: ledger.pick(15, 1)], *pairs]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSlurm:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(transaction, "LOOKS", 1)
    return FakeSlurm(tmp_path / "bin", monkeypatch)


def do(what: str) -> bytes:
    code, printed = said(*words_of(what))
    if code not in (0, 1, 2):
        raise EscapedError(f"{what} ended with {code}")
    return printed


def refuse_lost() -> None:
    """A silent SLURM never makes a fold lost or failed."""
    code, printed = said("status", "--json", *PLACE)
    if code == 0:
        states = [one["state"] for one in json.loads(printed)]
        if {"lost", "failed"} & set(states):
            raise LostError(f"{states}")


@pytest.mark.parametrize("faults", chosen(), ids=lambda f: "+".join("-".join(one) for one in f))
def test_whatever_slurm_answers_each_fold_has_one_job(
    fake: FakeSlurm, tmp_path: Path, faults: tuple[tuple[str, str], ...]
) -> None:
    with ledger.case("SLURM's answers", str(faults)) as case:
        for begun in (False, True):
            if begun:
                do("-m")
            fake.says(**dict(faults))
            for what in DURING[: 3 if not begun else 4]:
                case.tried += 1
                do(what)
                refuse_lost()
            fake.says(**dict.fromkeys(COMMANDS, "ok"))
            do("again")
            live = [job for job in fake.jobs if not job["is_cancelled"]]
            if sum(int(str(job["count"])) or 1 for job in live) != 2:
                raise WrongError(f"jobs for two folds: {live}")
        fake.says(**dict(faults))
        case.tried += 1
        do("cancel")
        fake.says(**dict.fromkeys(COMMANDS, "ok"))
        do("cancel")
        if any(not job["is_cancelled"] for job in fake.jobs):
            raise WrongError(f"not cancelled: {fake.jobs}")


@pytest.mark.parametrize("text", [b"\xff\xfe", "名|RUNNING||\n".encode(), b"1|\n2|", b"\0" * 99])
def test_no_answer_is_an_exception(
    text: bytes, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    with ledger.case("SLURM's answers", f"bytes {text!r}") as case:
        monkeypatch.setattr(slurm, "run", lambda *_, **__: text.decode(errors="replace"))
        case.tried += 4
        slurm.query(["1", "2_3"])
        slurm.named(["fsm-x"])
        slurm.usage(["1"])
        slurm.max_array_size()
