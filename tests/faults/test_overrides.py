"""Hostile names and overrides: taken as they are, or refused in one line; never an exception."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fsm_hpc.errors import UserError
from fsm_hpc.study.compose import compose
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.override_syntax import quoted
from fsm_hpc.study.overrides import Override
from tests.faults import ledger
from tests.faults.ledger import EscapedError, WrongError
from tests.support.command_line import said
from tests.support.made_studies import fold_result, put

KIND = "hostile words"
FEW = settings(
    max_examples=ledger.pick(4, 80),
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
FOLD = ["dataset=hepatitis", "method=pivot", "fold=0"]
SIGNS = "[]{}()$\\\"'`,;:=@#%&|<>*?!~^ \t\n\r\x07\x1b\x00\x7f\u2028é名\U0001f600ß\u202e./-+"
names = st.one_of(
    st.text(st.sampled_from(SIGNS + "abc019"), min_size=1, max_size=20),
    st.text(min_size=1, max_size=12),
    st.sampled_from(["null", "true", "1e3", "-", "--help", "~", ".", "..", "con", "a" * 255]),
    st.binary(min_size=1, max_size=8).map(os.fsdecode),
)
COMMANDS = ("status", "collect", "logs", "plan", "cancel", "resume", "report", "explain", "export")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def do(*words: str) -> tuple[int, bytes]:
    try:
        code, printed = said(*words)
    except SystemExit as end:  # of argparse, with its usage
        code, printed = int(end.code or 0), b""
    except Exception as error:
        raise EscapedError(f"{words}: {type(error).__name__}: {error}") from error
    if code not in (0, 1, 2) or b"Traceback" in printed:
        raise EscapedError(f"{words} ended with {code}: {printed[-800:]!r}")
    return code, printed


def test_a_name_is_taken_as_it_is_or_refused(here: Path) -> None:
    @FEW
    @given(names)
    def check(name: str) -> None:
        with ledger.case(KIND, ascii(name), is_new=True) as case:
            case.tried += 1
            word = f"study={quoted(name)}"
            try:
                taken = compose([*FOLD, word]).study
            except UserError:
                return
            if taken != name or Override(word).value != name:
                raise WrongError(f"{name!r} was taken for {taken!r} and {Override(word).value!r}")

    check()


def test_a_study_of_any_name_is_seen_and_collected(here: Path) -> None:
    @FEW
    @given(names)
    def check(name: str) -> None:
        assume(not {"/", "\0"} & set(name) and name not in (".", ".."))
        assume(len(os.fsencode(name)) <= 255 and not name.startswith("."))
        with ledger.case(KIND, f"study {name!a}", is_new=True) as case:
            study = StudyPaths(here / "results" / name)
            put(study, fold_result("bank", "pivot", 0, target=name))
            words = [f"study={quoted(name)}"]
            case.tried += 3
            code, printed = do("status", "--json", *words)
            if code != 0 or [one["dataset"] for one in json.loads(printed)] != ["bank"]:
                raise WrongError(f"{name!r} is not seen: {code}, {printed[-500:]!r}")
            if do("collect", *words)[0] != 0 or do("report", *words)[0] != 0:
                raise WrongError(f"{name!r} is not collected")

    check()


def test_any_word_to_any_command_ends_as_a_command_may(here: Path) -> None:
    put(StudyPaths(here / "results" / "default"), fold_result("bank", "pivot", 0))
    keys = st.one_of(st.sampled_from([*sorted(_numbers()), "study", "dataset", "x.y"]), names)
    values = st.one_of(names, st.sampled_from([f"[{sign}" for sign in SIGNS]))
    overrides = st.one_of(st.builds("{}={}".format, keys, values), names)

    @FEW
    @given(st.sampled_from(COMMANDS), st.lists(overrides, min_size=1, max_size=3))
    def check(command: str, words: list[str]) -> None:
        assume(not any(word in ("-w", "-f") or word.startswith("-w") for word in words))
        with ledger.case(KIND, f"{command} {words!a}", is_new=True) as case:
            case.tried += 1
            do(command, *words)

    check()


# ---------------------------------------------------------------------------- settings and numbers

ODD = ("nan", "inf", "-inf", "-1", "0", "1e400", "9" * 40, '""', "null", "[]", "{}", "x")


def _numbers() -> dict[str, Any]:
    """Every setting with a number in it, and its default."""
    return {key: value for key, value in _flat(compose(FOLD).to_dict()) if _is_number(value)}


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) or value is None


def _flat(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def test_no_setting_takes_what_is_no_number(here: Path) -> None:
    pairs = list(product(sorted(_numbers()), ODD))
    for key, value in pairs[:: ledger.pick(41, 1)]:
        with ledger.case(KIND, f"{key}={value}", is_new=True) as case:
            case.tried += 1
            refuse_odd(key, value)


def refuse_odd(key: str, value: str) -> None:
    """A config that is taken has finite numbers, and none below nothing."""
    try:
        config = compose([*FOLD, f"{key}={value}"])
    except UserError:
        return
    except Exception as error:
        raise EscapedError(f"{key}={value}: {type(error).__name__}: {error}") from error
    taken: Any = config
    for part in key.split("."):
        taken = getattr(taken, part, None)
    if isinstance(taken, float) and (not math.isfinite(taken) or taken < 0):
        raise WrongError(f"{key}={value} was taken as {taken}")
    if isinstance(taken, int) and taken < 0:
        raise WrongError(f"{key}={value} was taken as {taken}")
