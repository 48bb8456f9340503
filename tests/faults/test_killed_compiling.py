"""Kill a command while it compiles the solver: the next one compiles what is left, and is right."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from tests.faults import ledger, said
from tests.faults.answers import whole
from tests.faults.ledger import EscapedError, HangError, WrongError
from tests.faults.test_kills import SIGNALS, STOPPED

LIMIT_S = 900.0  # compiling takes a minute on an idle core
BLOWS = 8


def ended(folder: Path, cache: Path, blow: tuple[int, float] | None) -> int:
    """The exit code of a fold whose kernels are kept in `cache`, struck after some seconds."""
    command = [sys.executable, "-m", "fsm_hpc", *said.FOLD]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    with (folder / "output.txt").open("w+") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=output
        )
        try:
            if blow is not None:
                number, after_s = blow
                time.sleep(after_s)
                process.send_signal(number)
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
        whole_run, cut = tmp_path / "whole", tmp_path / "cut"
        for folder in (whole_run, cut):
            folder.mkdir()
        began = time.monotonic()
        ended(whole_run, tmp_path / "cache-of-whole", None)
        seconds = time.monotonic() - began
        for _ in range(BLOWS):
            blow = random.choice(SIGNALS), random.uniform(0.05, 0.7) * seconds
            if ended(cut, tmp_path / "cache", blow) == 0:
                break
            case.tried += 1
        ended(cut, tmp_path / "cache", None)
        if whole(cut / "results") != whole(whole_run / "results"):
            raise WrongError("another result than without the blows")
