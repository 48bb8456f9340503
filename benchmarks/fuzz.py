"""Random small problems of every kind, solved by native with boxes and held against brute force.

    python -m benchmarks.fuzz --problems 40000
    python -m benchmarks.fuzz --seed 7 --first 123 --problems 1      one problem again

Every language, method, rule for cuts, kept missing values, weights, objectives and constraints. The
seed is printed; a problem is the same for the same seed and number. The exit code is 1 after a
crash or a difference.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import time
import traceback
from collections.abc import Sequence

from fsm_hpc.search.solvers.native.compiling import ensure_compiled
from tests.support.fuzzing import difference, random_case

TOLD_EVERY_S = 60.0


def failures(seed: int, numbers: Sequence[int]) -> list[str]:
    """What goes wrong with the problems of these numbers, in words."""
    found: list[str] = []
    started = told_at = time.monotonic()
    for done, number in enumerate(numbers, 1):
        wrong = _failure(seed, number)
        if wrong:
            found.append(wrong)
            print(wrong, flush=True)
        if time.monotonic() - told_at > TOLD_EVERY_S or done == len(numbers):
            told_at = time.monotonic()
            print(f"{done} problems, {len(found)} failures, {told_at - started:.0f} s", flush=True)
    return found


def _failure(seed: int, number: int) -> str:
    case = random_case(seed, number)
    try:
        wrong = difference(case)
    except Exception:
        wrong = traceback.format_exc()
    return wrong and f"seed {seed}, problem {number}: {wrong}\n{case}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--problems", type=int, default=40_000)
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    parser.add_argument("--first", type=int, default=0, help="number of the first problem")
    given = parser.parse_args(arguments)
    ensure_compiled()
    print(f"seed {given.seed}", flush=True)
    return bool(failures(given.seed, range(given.first, given.first + given.problems)))


if __name__ == "__main__":
    sys.exit(main())
