"""What every fault came to: one line for each case in a file, and the table made of them."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

import pytest

IS_LONG = os.environ.get("FSM_FAULTS") == "long"  # as `make faults` sets it
_FILE = os.environ.get("FSM_FAULTS_FILE")


# tests of the rooms that are cases of the table as well, by the class that each file is of
EXAMPLES = {
    "tests/search/test_checking.py": "wrong answers",
    "tests/data/test_median.py": "wrong answers",
    "tests/models/test_exact.py": "wrong answers",
    "tests/models/test_estimator.py": "wrong answers",
    "tests/study/test_result.py": "wrong answers",
    "tests/study/test_variants.py": "a study's identity",
    "tests/cluster/test_variants.py": "a study's identity",
    "tests/cluster/test_transaction.py": "submission",
    "tests/cluster/test_study_lock.py": "submission",
    "tests/cluster/test_getting_on.py": "submission",
    "tests/cluster/test_generations.py": "liveness and order",
    "tests/cluster/test_liveness.py": "liveness and order",
    "tests/system/test_process_identity.py": "liveness and order",
    "tests/cluster/test_afterwards.py": "submission",
    "tests/study/test_resources.py": "submission",
    "tests/study/test_kept_aside.py": "what is on disk",
    "tests/search/test_kept_kernels.py": "what is on disk",
    "tests/system/test_serialization.py": "what is on disk",
    "tests/cli/test_names.py": "hostile words",
    "tests/cluster/test_trust.py": "trust",
}


class FaultError(AssertionError):
    """A fault that was not survived; the column of the table that it counts in."""

    column = "escaped"


class LostError(FaultError):
    """What had been there is gone."""

    column = "lost"


class WrongError(FaultError):
    """The answer is another one than without the fault."""

    column = "wrong"


class HangError(FaultError):
    """A wait that did not end within its limit, or a process that goes on for nobody."""

    column = "hangs"


class EscapedError(FaultError):
    """An exception, or an end, that no user should see."""

    column = "escaped"


class RanError(FaultError):
    """Something in a file was run."""

    column = "ran code"


COLUMNS = ("lost", "wrong", "hangs", "escaped", "ran code")


@dataclass
class Case:
    """One case under way: how many faults it has tried."""

    kind: str
    name: str
    tried: int = 0
    bad: dict[str, int] = field(default_factory=dict)
    told: str = ""


def pick(short: int, long: int) -> int:
    """How many: few in `make test`, many in `make faults`."""
    return long if IS_LONG else short


@contextmanager
def case(kind: str, name: str, is_new: bool = False) -> Iterator[Case]:
    """Try something; what comes of it is written down, and a failure fails the test as well.

    `is_new`: whatever an earlier run has tried, as an example of hypothesis cannot be left out.
    """
    if not is_new and (kind, name) in _known():
        pytest.skip("tried by the run that this one goes on with")
    made = Case(kind, name)
    try:
        yield made
    except Exception as error:
        made.tried = max(made.tried, 1)
        made.bad = {getattr(error, "column", FaultError.column): 1}
        made.told = f"{type(error).__name__}: {error}"[:2000]
        raise
    finally:
        write(made)


def write(made: Case) -> None:
    """Append the case to the file of this run, if there is one."""
    if _FILE and made.tried:
        with Path(_FILE).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(asdict(made)) + "\n")


def read(path: Path) -> list[Case]:
    """Every case once: one that was tried again is what it came to then."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    cases = (Case(**json.loads(line)) for line in lines if line.endswith("}"))
    return list({(one.kind, one.name): one for one in cases}.values())


@cache
def _known() -> set[tuple[str, str]]:
    """The cases that a run which was ended in the middle has behind it, and survived."""
    return {(one.kind, one.name) for one in read(Path(_FILE)) if not one.bad} if _FILE else set()


def table(cases: list[Case]) -> str:
    """A line for each class, in the order in which they were first tried."""
    tried: Counter[str] = Counter()
    bad: dict[str, Counter[str]] = {}
    for one in cases:
        tried[one.kind] += one.tried
        bad.setdefault(one.kind, Counter()).update(one.bad)
    rows: list[tuple[str, ...]] = [("class", "tried", "survived", *COLUMNS)]
    for kind in sorted(tried):
        rows.append(_row(kind, tried[kind], bad[kind]))
    rows.append(_row("all", tried.total(), sum(bad.values(), Counter())))
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)),
            ]
        )
        for row in rows
    )


def _row(kind: str, tried: int, bad: Counter[str]) -> tuple[str, ...]:
    survived = tried - bad.total()
    return (kind, f"{tried:,}", f"{survived:,}", *(f"{bad[column]:,}" for column in COLUMNS))
