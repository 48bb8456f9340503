"""A user's shell on the trial SLURM: commands, states, and waiting for them."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fsm_hpc.cluster.watch.columns import to_dict
from fsm_hpc.cluster.watch.selection import select
from fsm_hpc.cluster.watch.states import fold_states
from slurm import daemons
from slurm.settings import Settings

ROOT = Path(__file__).parents[2]
SMALL = ("cluster.cpus=1", "cluster.mem_gb=2", "solver=clingo_dl")
# the paper's plain rules need some ten seconds for length 5 of this fold, and minutes for more:
# long enough to be interrupted in it; LONG with SHORT added ends
LONG = ("dataset=heart_disease", "method=median", "fold=1", *SMALL, "solver.encoding=plain")
SHORT = "scan.max_length=5"
Answers = dict[str, list[tuple[int, int, int, bool]]]


@dataclass(frozen=True)
class Site:
    """A folder of one test, and a shell that points at the cluster."""

    settings: Settings
    folder: Path
    first_on_path: Path | None = None  # to hide or replace a command

    @property
    def environment(self) -> dict[str, str]:
        values = daemons.environment(self.settings)
        values |= {"PYTHONPATH": str(ROOT), "PWD": str(self.folder)}
        if self.first_on_path is not None:
            values["PATH"] = f"{self.first_on_path}{os.pathsep}{values['PATH']}"
        return values

    def fsm(self, *words: str, code: int | None = 0, limit_s: float = 120) -> str:
        """Run `python -m fsm_hpc ...`; its output."""
        done = self.shell(sys.executable, "-m", "fsm_hpc", *words, limit_s=limit_s)
        if code is not None:
            assert done.returncode == code, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def stdout(self, *words: str, limit_s: float = 120) -> str:
        """What `python -m fsm_hpc ...` prints, without its progress on standard error."""
        return self.shell(sys.executable, "-m", "fsm_hpc", *words, limit_s=limit_s).stdout

    def shell(self, *command: str, limit_s: float = 120) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=limit_s,
            stdin=subprocess.DEVNULL,
        )

    def states(self, *words: str) -> list[dict[str, Any]]:
        """What `status --json` says, without a new Python each time one waits for something;
        nothing before the first submission."""
        if not (self.folder / "results").exists():
            return []
        before = dict(os.environ)
        os.environ.update(self.environment)
        try:
            place = f"results_dir={self.folder / 'results'}"
            return [to_dict(one) for one in fold_states(select([place, *words]))[0]]
        finally:
            os.environ.clear()
            os.environ.update(before)

    def state(self, *words: str) -> dict[str, Any]:
        """The state of the one fold there is."""
        (one,) = self.states(*words)
        return one

    def wait(
        self, ready: Callable[[list[dict[str, Any]]], bool], limit_s: float = 90
    ) -> list[dict[str, Any]]:
        """Look at `status` until it is as wanted."""
        deadline = time.monotonic() + limit_s
        while True:
            states = self.states()
            if ready(states):
                return states
            brief = [(s["fold"], s["state"], s["reason"], s["length"]) for s in states]
            assert time.monotonic() < deadline, f"after {limit_s} s: {brief}\n{self.logs()}"
            time.sleep(0.3)

    def wait_for(self, word: str, limit_s: float = 90) -> list[dict[str, Any]]:
        return self.wait(lambda states: all(s["state"] == word for s in states), limit_s)

    def restarts(self) -> int:
        """How often SLURM has started the one job again, as far as the job knows."""
        path = next(self.folder.rglob("attempt.json"), None)
        return 0 if path is None else int(json.loads(path.read_text())["restart"])

    def wait_for_restart(self, limit_s: float = 180) -> None:
        """A second attempt has begun."""
        deadline = time.monotonic() + limit_s
        while self.restarts() == 0:
            assert time.monotonic() < deadline, self.fsm("status") + self.logs()
            time.sleep(0.5)

    def finish(self, expected: Answers) -> None:
        """End an attempt at long lengths, resume it as a short scan, and compare."""
        length = self.file("scan.json")["lengths"][-1]["length"]
        assert length >= 4, "the fold began anew"
        self.fsm("cancel", "-y")
        self.wait_for("cancelled")
        self.fsm("resume", SHORT, "--wait", limit_s=400)
        assert self.answers() == expected

    def wait_for_length(self, length: int, limit_s: float = 90) -> dict[str, Any]:
        """The one fold runs and has come to this length."""

        def there(states: list[dict[str, Any]]) -> bool:
            found = [s["state"] == "running" and (s["length"] or 0) >= length for s in states]
            return bool(found) and all(found)

        return self.wait(there, limit_s)[0]

    def processes(self) -> list[str]:
        """Command lines of what commands of this shell have left running, jobs included."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if f"PWD={self.folder}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                    found.append((entry / "cmdline").read_bytes().decode(errors="replace"))
        return found

    def logs(self) -> str:
        """Logs of folds, what their jobs printed, and what SLURM's daemons complained of."""
        own = [*self.folder.rglob("log.txt"), *self.folder.rglob("*_log.out")]
        told = [f"{path.name}:\n{path.read_text(errors='replace')}" for path in own]
        return "\n".join([*told, *daemons.log_errors(self.settings)])

    def file(self, name: str, fold: str = "heart_disease/median/fold-1") -> dict[str, Any]:
        """A JSON file of a fold."""
        path = self.folder / "results" / "default" / fold / name
        found: dict[str, Any] = json.loads(path.read_text())
        return found

    def answers(self) -> Answers:
        """What every fold found, without times and hosts: equal however it got there."""
        return {
            str(path.parent.relative_to(self.folder / "results" / "default")): answer(path)
            for path in sorted((self.folder / "results" / "default").rglob("result.json"))
        }


def answer(path: Path) -> list[tuple[int, int, int, bool]]:
    """Length, size, errors and proof at every length, and of the final formula."""
    done = json.loads(path.read_text())
    lengths = [(e["length"], e["size"], e["errors"], e["proved"]) for e in done["lengths"]]
    return [*lengths, (done["length_bound"], done["size"], done["errors"], done["proved"])]
