"""Every scheduler that there is, ready to take jobs: SLURM, this machine, and a third one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fsm_hpc.cluster import schedulers
from fsm_hpc.cluster.schedulers.base import Scheduler
from slurm import daemons
from slurm.settings import Settings
from tests.cluster.slurm.conftest import cluster as cluster

THIRD = Path(__file__).parent / "third"
ROOT = Path(__file__).parents[3]
NAMES = ("local", "slurm", "spool")


@pytest.fixture
def third(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A config folder of the user's with a scheduler in it."""
    (tmp_path / "spool").mkdir()
    monkeypatch.setenv("SPOOL", str(tmp_path / "spool"))
    monkeypatch.setenv("FSM_CONF_DIR", str(THIRD))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    schedulers.named.cache_clear()
    yield
    schedulers.named.cache_clear()


@pytest.fixture(params=NAMES)
def scheduler(
    request: pytest.FixtureRequest, third: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Scheduler]:
    """One after the other, each with the same questions."""
    if request.param == "slurm":
        settings: Settings = request.getfixturevalue("cluster")
        for name, value in daemons.environment(settings).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
    here = schedulers.named(request.param)
    yield here
    here.close()


@pytest.fixture
def wait() -> Callable[[Callable[[], object]], None]:
    """Wait for something that has to come about."""
    import time

    def until(ready: Callable[[], object]) -> None:
        deadline = time.monotonic() + 90
        while not ready():
            assert time.monotonic() < deadline
            time.sleep(0.1)

    return until
