"""Damaged files of a submission: no fold gets a second job, and no command crashes."""

from __future__ import annotations

import shutil
from itertools import islice
from pathlib import Path

import pytest

from fsm_hpc.cluster.submit import transaction
from tests.faults import ledger, said
from tests.faults.ledger import EscapedError, WrongError
from tests.faults.victims import Victim
from tests.support.command_line import said as printed_by
from tests.support.damage import Damage, damages
from tests.support.fake_slurm import FakeSlurm

KIND = "damaged files x commands"
SENT = (*said.MEDIAN, "cluster=slurm", "fold=0,1", "-m")
COMMANDS = (
    ("status", *said.MEDIAN),
    ("resume", *said.MEDIAN),
    SENT,
    ("cancel", "-y", *said.MEDIAN),
)
FILES = ("array.json", "folds.jsonl", "study.json")
CASES = ledger.pick(3, 66)
CHOSEN = [
    pytest.param(FILES[number % len(FILES)], damage, id=f"{number}-{damage.name}")
    for number, damage in enumerate(islice(damages(7), CASES))
]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSlurm:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(transaction, "LOOKS", 1)
    return FakeSlurm(tmp_path / "bin", monkeypatch)


@pytest.mark.parametrize(("name", "damage"), CHOSEN)
def test_a_damaged_array_costs_no_second_job(
    fake: FakeSlurm, name: str, damage: Damage, request: pytest.FixtureRequest
) -> None:
    with ledger.case(KIND, f"array {request.node.callspec.id}") as case:
        assert printed_by(*SENT)[0] == 0
        (output,) = Path("results/default/submissions").iterdir()
        spoilt = (output.parents[1] if name == "study.json" else output) / name
        damage.spoil(spoilt)
        for words in COMMANDS:
            case.tried += 1
            code, printed = printed_by(*words)
            if code not in (0, 1, 2):
                raise EscapedError(f"{words} ended with {code}: {printed[-500:]!r}")
            live = [job for job in fake.jobs if not job["is_cancelled"]]
            if len(live) > 1:
                raise WrongError(f"after {words}: {live}")


ALTERNATIVES = ["alternatives", "rule/model.json", "bound=4", "slack=4", "--threads", "1"]
STATE = Path("rule", ".model.alternatives.json")


@pytest.fixture(scope="module")
def rule(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rule, and the state of a search for its alternatives that was cut."""
    folder = tmp_path_factory.mktemp("rule")
    for words, code in (([*said.RULE, "out=rule"], 0), ([*ALTERNATIVES, "--most", "1"], 1)):
        victim = Victim(words, folder)
        assert victim.end() == code, victim.said()
    assert (folder / STATE).exists()
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage",
    [pytest.param(one, id=f"{n}-{one.name}") for n, one in enumerate(islice(damages(9), 24))],
)
def test_a_damaged_state_of_alternatives_begins_anew(
    rule: Path, tmp_path: Path, damage: Damage, request: pytest.FixtureRequest
) -> None:
    with ledger.case(KIND, f"alternatives {request.node.callspec.id}") as case:
        shutil.copytree(rule, tmp_path, dirs_exist_ok=True)
        damage.spoil(tmp_path / STATE)
        case.tried += 1
        victim = Victim(ALTERNATIVES, tmp_path)
        is_refused = damage.name == "newer"  # a newer version's file is not replaced
        if victim.end() != 2 * is_refused or "Traceback" in victim.said():
            raise EscapedError(victim.said()[-1000:])
        if is_refused != ("written by a newer version" in victim.said()):
            raise EscapedError(victim.said()[-1000:])
