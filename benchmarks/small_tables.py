"""Random small tables, and the optimum of each question about them by trying everything."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from tests.support.brute_force import fewest_errors


@dataclass(frozen=True)
class Question:
    """What is the least objective of a model of this table within the bound?

    `bound`: the depth of a tree, or the size of a formula. The objective is the number of errors,
    plus `penalty` for each leaf of a tree. `method`: how formulas take numbers.
    """

    rows: tuple[tuple[float, ...], ...]
    labels: tuple[int, ...]
    bound: int
    penalty: float = 0.0
    method: str = ""  # of a formula; none for a tree

    @staticmethod
    def of(content: dict[str, Any]) -> Question:
        rows = tuple(tuple(row) for row in content["rows"])
        return Question(**content | {"rows": rows, "labels": tuple(content["labels"])})

    @property
    def content(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def is_boolean(self) -> bool:
        return all(value in (0, 1) for row in self.rows for value in row)

    @property
    def cells(self) -> int:
        return len(self.rows) * len(self.rows[0])

    def smaller(self) -> Iterator[Question]:
        """The same about the table without one column, or without one row."""
        for column in range(len(self.rows[0]) if len(self.rows[0]) > 1 else 0):
            rows = tuple(row[:column] + row[column + 1 :] for row in self.rows)
            yield replace(self, rows=rows)
        for row in range(len(self.rows)):
            labels = self.labels[:row] + self.labels[row + 1 :]
            if len(set(labels)) == 2:  # some packages refuse a single class
                yield replace(self, rows=self.rows[:row] + self.rows[row + 1 :], labels=labels)

    def optimum(self) -> float:
        return formula_optimum(self) if self.method else tree_optimum(self)

    def errors(self, predictions: list[int]) -> int:
        pairs = zip(predictions, self.labels, strict=True)
        return sum(prediction != label for prediction, label in pairs)


def random_table(seed: int, is_boolean: bool) -> tuple[tuple[tuple[float, ...], ...], Any]:
    """Rows and labels of both classes: of a noisy rule or at random, in part with equal rows."""
    generator = random.Random(seed)
    count = generator.randint(4, 20 if is_boolean else 14)
    columns = generator.randint(2, 6) if is_boolean else generator.randint(1, 3)
    values = (0, 1) if is_boolean else [0.5 * step for step in range(generator.randint(3, 6))]
    different = count if generator.random() < 0.5 else max(2, count // 2)
    pool = [tuple(generator.choice(values) for _ in range(columns)) for _ in range(different)]
    rows = tuple(pool if different == count else generator.choices(pool, k=count))
    share = generator.choice([0.0, 0.1, 0.5])  # of labels that do not follow the rule
    middle = 0.5 * (values[0] + values[-1])
    used = generator.sample(range(columns), min(columns, 3))
    labels = [int(sum(row[c] > middle for c in used) % 2) for row in rows]
    labels = [y if generator.random() >= share else generator.randint(0, 1) for y in labels]
    if len(set(labels)) == 1:
        labels[0] = 1 - labels[0]
    return rows, tuple(labels)


# ----------------------------------------------------------------------------------------- trees


def tree_optimum(question: Question) -> float:
    """The least errors plus penalties of a tree, over all tests in all nodes."""
    every = (1 << len(question.rows)) - 1
    positive = sum(1 << i for i, label in enumerate(question.labels) if label)
    tests = [test for test in _tests(question) if test not in (0, every)]

    @cache
    def least(rows: int, depth: int) -> float:
        ones = (rows & positive).bit_count()
        best = min(ones, rows.bit_count() - ones) + question.penalty
        for test in tests if depth else ():
            if rows & test and rows & ~test:
                best = min(best, least(rows & test, depth - 1) + least(rows & ~test, depth - 1))
        return best

    return least(every, question.bound)


def _tests(question: Question) -> Iterator[int]:
    """The rows, as bits, that each test of a column against a threshold selects."""
    for values in zip(*question.rows, strict=True):
        for threshold in sorted(set(values)):
            yield sum(1 << i for i, value in enumerate(values) if value <= threshold)


# -------------------------------------------------------------------------------------- formulas


def problem_of(question: Question) -> Problem:
    """The question as our solvers read it."""
    columns = []
    for number, values in enumerate(zip(*question.rows, strict=True)):
        kind = Kind.BOOLEAN if question.is_boolean else Kind.NUMERIC
        content = np.array(values, dtype=bool if question.is_boolean else float)
        columns.append(Column(f"c{number}", kind, content))
    return Problem.build(columns, np.array(question.labels, bool), Method(question.method))


def formula_optimum(question: Question) -> int:
    """The fewest errors of a formula, over all formulas."""
    return int(fewest_errors(problem_of(question), question.bound)[-1])
