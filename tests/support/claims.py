"""Random small claims, and the best formula for each by trying every one."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import random
from collections.abc import Iterator
from typing import Any

Data = dict[str, Any]
MOST_CHOICES = 400  # ways to choose one proposition of each column


def with_digest(claim: Data) -> Data:
    """The claim with the digest of its own rows."""
    rows = json.dumps([claim[key] for key in ("columns", "labels", "weights")])
    return claim | {"table": hashlib.sha256(rows.encode()).hexdigest()}


def random_claim(generator: random.Random) -> Data:
    """A true claim about a random table."""
    while True:
        claim = _random_table(generator)
        choices = 1
        for column in claim["columns"]:
            choices *= len(propositions(column, claim["method"]))
        if choices <= MOST_CHOICES:
            errors, formula = best_formula(claim, claim["bound"])
            return with_digest(claim | {"formula": formula, "errors": errors})


def _random_table(generator: random.Random) -> Data:
    rows = generator.randint(1, 12)
    method = generator.choice(["median", "pivot", "interval"])
    columns: list[Data] = []
    for position in range(generator.randint(1, 4)):
        if generator.random() < 0.4:
            name = generator.choice(["a`b", "x", "not", "or y"]) + str(position)
            values = [generator.randint(0, 1) for _ in range(rows)]
            columns.append({"name": name, "kind": "boolean", "values": values})
        else:
            columns += _numeric(generator, f"n{position}", method, rows)
    weights = [generator.choice([1, 2, 7, 100, 20_000_000]) for _ in range(rows)]
    return {
        "format": 1,
        "method": method,
        "language": "paper",
        "constraints": "",
        "bound": generator.randint(1, 6),
        "columns": columns,
        "labels": [generator.randint(0, 1) for _ in range(rows)],
        "weights": generator.choice([None, weights]),
    }


def _numeric(generator: random.Random, name: str, method: str, rows: int) -> Iterator[Data]:
    distinct = [round(1.5 * step - 2, 2) for step in range(generator.randint(1, 4))]
    pool = distinct + [None] * generator.randint(0, 1)
    values = [generator.choice(distinct), *(generator.choice(pool) for _ in range(rows - 1))]
    known = sorted(value for value in values if value is not None)
    thresholds: Any = "observed"
    if method == "median":
        thresholds = [(known[(len(known) - 1) // 2] + known[len(known) // 2]) / 2]
    elif generator.random() < 0.3:
        thresholds = sorted({generator.choice([-3.0, -2.0, -0.5, 0.1, 5.5]) for _ in range(3)})
    yield {"name": name, "kind": "numeric", "values": values, "thresholds": thresholds}
    if None in values:
        missing = [int(value is None) for value in values]
        yield {"name": name, "kind": "missing", "values": missing}


def propositions(column: Data, method: str) -> list[tuple[str, int]]:
    """The text of each proposition, and the rows on which it holds as bits."""
    name, values = "`" + column["name"].replace("`", "``") + "`", column["values"]
    if column["kind"] != "numeric":
        ending = " is missing" if column["kind"] == "missing" else ""
        return [(name + ending, _rows(values, 1, 1))]
    listed = column["thresholds"]
    numbers = sorted({v for v in values if v is not None}) if listed == "observed" else listed
    if method == "median":
        above = [_rows(values, t, math.inf) & ~_rows(values, t, t) for t in numbers]
        return [(f"{name} > {t!r}", rows) for t, rows in zip(numbers, above, strict=True)]
    if method == "pivot":
        return [(f"{name} >= {t!r}", _rows(values, t, math.inf)) for t in numbers]
    pairs = itertools.combinations_with_replacement(numbers, 2)
    return [(f"{a!r} <= {name} <= {b!r}", _rows(values, a, b)) for a, b in pairs]


def _rows(values: list[Any], low: float, high: float) -> int:
    return sum(1 << i for i, v in enumerate(values) if v is not None and low <= v <= high)


def best_formula(claim: Data, bound: int) -> tuple[int, str]:
    """The fewest errors of a formula up to a size, and such a formula."""
    choices = (propositions(column, claim["method"]) for column in claim["columns"])
    found = (_best_over(chosen, claim, bound) for chosen in itertools.product(*choices))
    return min(found)


def _best_over(chosen: tuple[tuple[str, int], ...], claim: Data, bound: int) -> tuple[int, str]:
    """The same over one proposition of each column: all truths that formulas reach, by size."""
    every = (1 << len(claim["labels"])) - 1
    by_size: list[dict[int, str]] = [{}, {truth: text for text, truth in chosen}]
    for size in range(2, bound + 1):
        new = {every & ~truth: f"not ({text})" for truth, text in by_size[size - 1].items()}
        for left in range(1, size - 1):
            pairs = itertools.product(by_size[left].items(), by_size[size - 1 - left].items())
            for (first, first_text), (second, second_text) in pairs:
                new.setdefault(first & second, f"({first_text}) and ({second_text})")
                new.setdefault(first | second, f"({first_text}) or ({second_text})")
        known = {truth for smaller in by_size for truth in smaller}
        by_size.append({truth: text for truth, text in new.items() if truth not in known})
    return min(
        (errors_of(truth, claim), text) for formulas in by_size for truth, text in formulas.items()
    )


def errors_of(truth: int, claim: Data) -> int:
    """The weight of the rows on which this truth is not the label."""
    labels = claim["labels"]
    weights = claim["weights"] or [1] * len(labels)
    return sum(
        w for i, (y, w) in enumerate(zip(labels, weights, strict=True)) if truth >> i & 1 != y
    )
