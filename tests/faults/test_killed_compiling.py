"""Kill a command while it compiles the solver: the next one compiles what is left, and is right."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from tests.faults import ledger, said
from tests.faults.answers import Answer, whole
from tests.faults.ledger import EscapedError, HangError, WrongError
from tests.faults.test_kills import SIGNALS, STOPPED

LIMIT_S = 900.0  # compiling takes a minute on an idle core
BLOWS, TRIES = 8, 20


def ended(folder: Path, blow: tuple[int, float] | None) -> int:
    """The exit code of a fold that has its kernels beside it, struck after some seconds."""
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "fsm_hpc", *said.FOLD]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "kernels")}
    with (folder / "output.txt").open("w+") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=output
        )
        try:
            if blow is not None:
                number, after_s = blow
                with suppress(subprocess.TimeoutExpired):
                    process.wait(after_s)
                process.send_signal(number)  # does nothing where it was quicker
            code = process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise HangError(f"no end after {LIMIT_S:g} s") from None
        output.seek(0)
        told = output.read()
    if "Traceback" in told or code not in (STOPPED if blow else (0,)):
        raise EscapedError(f"{blow}: ended with {code}:\n{told}")
    return code


@pytest.mark.skipif(not ledger.IS_LONG, reason="compiles the solver several times: make faults")
def test_a_killed_compilation_is_gone_on_with(tmp_path: Path) -> None:
    random = Random("compile")
    with ledger.case("kills: compile", "native") as case:
        lives = (tmp_path / f"life-{life}" for life in itertools.count())
        began = time.monotonic()
        right = _answer(next(lives))
        seconds = time.monotonic() - began
        here = next(lives)
        for _ in range(TRIES):
            if case.tried == BLOWS:
                break
            blow = random.choice(SIGNALS), random.uniform(0.02, 0.5) * seconds
            if ended(here, blow) != 0:
                case.tried += 1
                continue
            _refuse_another(here, right)
            here = next(lives)
        _refuse_another(here, right)


def _answer(folder: Path) -> Answer:
    ended(folder, None)
    return whole(folder / "results")


def _refuse_another(folder: Path, right: Answer) -> None:
    if _answer(folder) != right:
        raise WrongError("another result than without the blows")
