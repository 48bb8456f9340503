"""The independent checker verifies true claims and refutes false ones."""

from __future__ import annotations

import ast
import gzip
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc import checker
from tests.support.claims import (
    Data,
    best_formula,
    errors_of,
    propositions,
    random_claim,
    with_digest,
)

SOURCE = Path(checker.__file__)
EXIT_CODES = {"verified": 0, "refuted": 1, "not checkable": 2, "not finished": 3}


def outcome_of(claim: Any, budget_s: float = float("inf")) -> tuple[str, str]:
    try:
        checker.check(claim, budget_s)
    except checker.NotVerifiedError as error:
        return error.args
    return "verified", ""


def false_claims(claim: Data, generator: random.Random) -> Iterator[tuple[str, Data]]:
    """Claims that differ from a true one and are false."""
    for change in (-1, 1):
        yield "errors", claim | {"errors": claim["errors"] + change}
    row = generator.randrange(len(claim["labels"]))
    labels = list(claim["labels"])
    labels[row] = 1 - labels[row]
    yield "label", claim | {"labels": labels}
    yield "label with its digest", with_digest(claim | {"labels": labels})
    weights = list(claim["weights"] or [1] * len(labels))
    weights[row] += 1
    yield "weight", claim | {"weights": weights}
    better, _ = best_formula(claim, claim["bound"] + 1)
    if better < claim["errors"]:
        yield "bound", claim | {"bound": claim["bound"] + 1}
    smallest, _ = best_formula(claim, 1)
    if smallest > claim["errors"]:
        yield "bound below the size", claim | {"bound": 1}
    text, truth = propositions(claim["columns"][0], claim["method"])[0]
    if errors_of(truth, claim) > claim["errors"]:
        yield "another formula", claim | {"formula": text, "errors": errors_of(truth, claim)}


def check_random_claims(seed: int, count: int) -> None:
    generator = random.Random(seed)
    for number in range(count):
        claim = random_claim(generator)
        assert outcome_of(claim) == ("verified", ""), (seed, number, json.dumps(claim))
        for change, false in false_claims(claim, generator):
            found = outcome_of(false)
            assert found[0] == "refuted", (seed, number, change, found, json.dumps(false))


def test_true_claims_are_verified_and_false_ones_refuted() -> None:
    check_random_claims(seed=0, count=150)


@pytest.mark.slow
def test_ten_thousand_random_claims_have_the_right_outcome() -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    check_random_claims(seed, count=1_300)  # with about seven false claims each


def test_a_refutation_shows_a_better_formula_that_the_checker_has_counted() -> None:
    values = [0.0, 1.0, 2.0, 3.0]
    column = {"name": "x", "kind": "numeric", "values": values, "thresholds": "observed"}
    claim = simple_claim([column], [0, 0, 1, 1], formula="x >= 1", errors=1)
    assert outcome_of(claim) == ("refuted", "0 errors with size 1: `x` >= 2.0")


def simple_claim(columns: list[Data], labels: list[int], formula: str, errors: int) -> Data:
    return with_digest(
        {
            "format": 1,
            "method": "pivot",
            "language": "paper",
            "constraints": "",
            "bound": 2,
            "columns": columns,
            "labels": labels,
            "weights": None,
            "formula": formula,
            "errors": errors,
        }
    )


TRUE = simple_claim([{"name": "a", "kind": "boolean", "values": [0, 1]}], [0, 1], "a", 0)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"language": "dnf"},
        {"constraints": "require a"},
        {"method": "neural"},
        {"bound": 13},
        {"bound": 1.5},
        {"errors": "0"},
        {"labels": []},
        {"labels": [[0, 1]]},
        {"weights": [0.5, 1]},
        {"weights": [1]},
        {"weights": [1 << 60, 1]},
        {"columns": []},
        {"columns": [{"name": "a", "kind": "colour", "values": [0, 1]}]},
        {"columns": [{"name": "a", "kind": "numeric", "values": [0, 1], "thresholds": []}]},
        {"columns": [{"name": "a", "kind": "numeric", "values": [0, float("inf")]}]},
        {"columns": [{"name": "a", "kind": "boolean", "values": [0]}]},
        {"columns": 2 * [{"name": "a", "kind": "boolean", "values": [0, 1]}]},
    ],
)
def test_what_is_outside_the_scope_or_malformed_is_named_and_not_judged(change: Data) -> None:
    outcome, reason = outcome_of(TRUE | change)
    assert outcome == "not checkable"
    assert reason


@pytest.mark.parametrize(
    "formula",
    [
        "",
        "b",
        "a and",
        "a a",
        "(a",
        "a)",
        "not",
        "a >= 1",
        "a xor a",
        "a; import os",
        "not " * 5000,
    ],
)
def test_what_is_not_a_formula_over_the_columns_is_refuted(formula: str) -> None:
    assert outcome_of(TRUE | {"formula": formula})[0] == "refuted"


@pytest.mark.parametrize("key", sorted(TRUE))
def test_a_claim_without_one_of_its_fields_is_not_checkable(key: str) -> None:
    assert outcome_of({k: v for k, v in TRUE.items() if k != key})[0] == "not checkable"


def test_the_checker_is_one_short_file_that_needs_numpy_alone() -> None:
    text = SOURCE.read_text(encoding="utf-8")
    imported = {
        (node.module if isinstance(node, ast.ImportFrom) else alias.name) or ""
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    assert {name.split(".")[0] for name in imported} - sys.stdlib_module_names == {"numpy"}
    assert text.count("\n") <= 400


def run(*arguments: str, folder: Path) -> tuple[int, str]:
    command = [sys.executable, "-I", str(SOURCE), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("claim", "outcome"),
    [
        (TRUE, "verified"),
        (TRUE | {"errors": 1}, "refuted"),
        (TRUE | {"bound": 99}, "not checkable"),
        ([], "not checkable"),
    ],
)
def test_the_command_prints_the_outcome_and_its_exit_code_says_it(
    claim: Any, outcome: str, tmp_path: Path
) -> None:
    (tmp_path / "claim.json.gz").write_bytes(gzip.compress(json.dumps(claim).encode()))
    code, printed = run("claim.json.gz", folder=tmp_path)
    assert (code, printed.startswith(outcome)) == (EXIT_CODES[outcome], True)


WHOLE = gzip.compress(b"{", mtime=0)


@pytest.mark.parametrize(
    "content", [b"", b"{", WHOLE[:-4], WHOLE], ids=["empty", "plain", "cut", "half an object"]
)
def test_a_damaged_file_is_not_checkable(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "claim.json.gz").write_bytes(content)
    assert run("claim.json.gz", folder=tmp_path)[0] == 2


def test_a_spent_budget_says_how_much_is_done() -> None:
    outcome, reason = outcome_of(TRUE, budget_s=-1.0)
    assert (outcome, reason) == ("not finished", "0.0% are done")
