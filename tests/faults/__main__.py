"""`make faults`: the long form of the suite, two parts at a time, and the table of what came of it.

What a run that was ended had behind it is not tried again; `--anew` begins from the start.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from tests.faults import ledger

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "faults"
HERE = "tests/faults"
PARTS = {
    "kills": [f"{HERE}/test_kills.py"],
    "damage": [f"{HERE}/test_damaged_files.py", "tests/models/test_damaged_model.py"],
    "answers": [f"{HERE}/test_slurm_answers.py"],
    "slurm": ["tests/cluster/slurm", "-p", "tests.faults.recorder", "-m", "not slow"],
}
AT_A_TIME = 2
TELL_S = 30.0


def main() -> int:
    """Run all parts; 0 where everything was survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--anew", action="store_true")
    parser.add_argument("--hours", type=float, default=2.0, help="the most that it may take")
    flags = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    lines = FOLDER / "cases.jsonl"
    if flags.anew:
        lines.unlink(missing_ok=True)
    codes = _run(lines, time.monotonic() + flags.hours * 3600)
    cases = ledger.read(lines)
    print(ledger.table(cases))
    for one in cases:
        if one.bad:
            print(f"\n{one.kind}, {one.name}: {one.told}")
    for part, code in codes.items():
        if code not in (0, 5):  # 5: nothing was left to try
            print(f"{part} ended with {code}; see {FOLDER / part}.txt")
    return int(any(one.bad for one in cases) or any(code not in (0, 5) for code in codes.values()))


def _run(lines: Path, deadline: float) -> dict[str, int]:
    """The exit codes of the parts; what has not ended by the deadline is ended."""
    waiting, running, codes = list(PARTS), dict[str, subprocess.Popen[bytes]](), dict[str, int]()
    told = 0.0
    while waiting or running:
        while waiting and len(running) < AT_A_TIME:
            part = waiting.pop(0)
            running[part] = _start(part, lines)
        time.sleep(0.5)
        if time.monotonic() > told + TELL_S:
            told = time.monotonic()
            tried = sum(one.tried for one in ledger.read(lines))
            print(f"{time.strftime('%H:%M:%S')}  {tried:,} tried; {', '.join(running)}", flush=True)
        if time.monotonic() > deadline:
            waiting.clear()
            for process in running.values():
                process.terminate()
        for ended in [part for part, process in running.items() if process.poll() is not None]:
            codes[ended] = running.pop(ended).returncode
    return codes


def _start(part: str, lines: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "FSM_FAULTS": "long", "FSM_FAULTS_FILE": str(lines)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *PARTS[part]]
    memory = Path("/dev/shm")  # a busy disk would make most of the time of short runs
    if memory.is_dir() and part != "slurm":
        command.append(f"--basetemp={memory / f'fsm-faults-{os.getpid()}-{part}'}")
    with (FOLDER / f"{part}.txt").open("ab") as output:
        return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)


if __name__ == "__main__":
    sys.exit(main())
