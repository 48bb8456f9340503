"""`make faults`: the long form of the suite, two classes at a time, and the table of it all.

What a run that was ended had behind it is not tried again; `--anew` begins from the start.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.faults import ledger

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "faults"
PAGE = ROOT / "docs" / "explanation" / "fault-injection.md"
HERE = "tests/faults"
RECORDED = ("-p", "tests.faults.recorder")  # every test is a case
PARTS = {
    "kills": [f"{HERE}/test_kills.py", f"{HERE}/test_killed_compiling.py"],
    "damage": [
        f"{HERE}/test_damaged_files.py",
        f"{HERE}/test_damaged_arrays.py",
        "tests/models/test_damaged_model.py",
    ],
    "disks": [f"{HERE}/test_disks.py"],
    "races": [f"{HERE}/test_races.py"],
    "packed": [f"{HERE}/test_packed_folds.py", *RECORDED],
    "overrides": [f"{HERE}/test_overrides.py"],
    "code": [f"{HERE}/test_code_in_data.py"],
    "answers": [f"{HERE}/test_slurm_answers.py"],
    "examples": [*ledger.EXAMPLES, *RECORDED, "-m", "not slow"],
    "slurm": ["tests/cluster/slurm", *RECORDED, "-m", "not slow or faults"],
}
AT_A_TIME = 2
TELL_S = 30.0


def main() -> int:
    """Run all parts, or those that are named; 0 where everything was survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"some of: {', '.join(PARTS)}")
    parser.add_argument("--anew", action="store_true", help="forget what was tried before")
    parser.add_argument("--table", action="store_true", help="only show what has come of it")
    parser.add_argument("--keep", action="store_true", help=f"put the table into {PAGE.name}")
    parser.add_argument("--hours", type=float, default=2.0, help="the most that it may take")
    flags = parser.parse_args()
    unknown = set(flags.parts) - set(PARTS)
    if unknown:
        parser.error(f"expected some of {', '.join(PARTS)}, found {', '.join(sorted(unknown))}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    lines = FOLDER / "cases.jsonl"
    if flags.anew:
        lines.unlink(missing_ok=True)
    deadline = time.monotonic() + flags.hours * 3600
    codes = {} if flags.table else _run(flags.parts or list(PARTS), lines, deadline)
    return _tell(ledger.read(lines), codes, flags.keep)


def _tell(cases: list[ledger.Case], codes: dict[str, int], is_kept: bool) -> int:
    table = ledger.table(cases)
    print(table)
    for one in cases:
        if one.bad:
            print(f"\n{one.kind}, {one.name}: {one.told}")
    for part, code in codes.items():
        if code not in (0, 5):  # 5: nothing was left to try
            print(f"{part} ended with {code}; see {FOLDER / part}.txt")
    if is_kept:
        page = PAGE.read_text(encoding="utf-8")
        block = f"```text\n{table}\n```"
        PAGE.write_text(re.sub(r"```text\n.*?\n```", lambda _: block, page, flags=re.DOTALL))
    return int(any(one.bad for one in cases) or any(code not in (0, 5) for code in codes.values()))


def _run(waiting: Sequence[str], lines: Path, deadline: float) -> dict[str, int]:
    """The exit codes of the parts; what has not ended by the deadline is ended."""
    left, running, codes = list(waiting), dict[str, subprocess.Popen[bytes]](), dict[str, int]()
    told = 0.0
    while left or running:
        while left and len(running) < AT_A_TIME:
            part = left.pop(0)
            running[part] = _start(part, lines)
        time.sleep(0.5)
        if time.monotonic() > told + TELL_S:
            told = time.monotonic()
            tried = sum(one.tried for one in ledger.read(lines))
            print(f"{time.strftime('%H:%M:%S')}  {tried:,} tried; {', '.join(running)}", flush=True)
        if time.monotonic() > deadline:
            left.clear()
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
