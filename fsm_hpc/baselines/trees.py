"""A binary decision tree of any package: its predictions, its scores, and its size as a formula."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.baselines.base import Constant, FittedModel, Size, Task, Values, has_one_class
from fsm_hpc.formulas.formula import Truth

DEPTHS = {"max_depth": [1, 2, 3, 4]}  # of optimal trees, which are tried as a whole
_LIMIT_S = 600.0  # the default of all three packages
_USUAL_SHARE = 0.9  # of its time limit that a fit has a processor
_MOST_REPEATED = 20  # a repeated fit has at most so many times the limit


@dataclass(frozen=True, slots=True)
class Leaf:
    label: bool


@dataclass(frozen=True, slots=True)
class Branch:
    """Rows with a value of at most the threshold go to `below`."""

    column: int
    threshold: float
    below: Node
    above: Node


Node = Leaf | Branch


def from_arrays(tree: Any, label_of: Callable[[int], bool], node: int = 0) -> Node:
    """A tree in the arrays of scikit-learn's `tree_`, which pytrees uses, too."""
    below, above = int(tree.children_left[node]), int(tree.children_right[node])
    if below < 0:
        return Leaf(label_of(node))
    children = (from_arrays(tree, label_of, child) for child in (below, above))
    return Branch(int(tree.feature[node]), float(tree.threshold[node]), *children)


def simplified(node: Node) -> Node:
    """Without splits whose branches predict the same class everywhere."""
    if isinstance(node, Leaf):
        return node
    below, above = simplified(node.below), simplified(node.above)
    return below if below == above else Branch(node.column, node.threshold, below, above)


def symbols(node: Node) -> int:
    """The size of the formula that a simplified tree is: a split is `if test then A else B`.

    `(test and A) or (not test and B)`, shorter where A or B is a constant.
    """
    if isinstance(node, Leaf):
        return 0
    branches = (node.above, node.below)  # the test is `value > threshold`
    constant = [b for b in branches if isinstance(b, Leaf)]
    if len(constant) == 2:
        return 1 if constant[0].label else 2  # test; not test
    if not constant:
        return 6 + sum(map(symbols, branches))
    other = symbols(next(b for b in branches if isinstance(b, Branch)))
    needs_negation = constant[0].label != (constant[0] is node.above)
    return other + (3 if needs_negation else 2)  # test or B, test and A; not test and B, ...


def splits(node: Node) -> int:
    """How many tests the tree has."""
    return 0 if isinstance(node, Leaf) else 1 + splits(node.below) + splits(node.above)


@dataclass(frozen=True, slots=True)
class TreeModel:
    """A tree with the share of positive rows in each leaf, smoothed by one row of each class."""

    root: Node
    shares: dict[int, float]  # by number of the leaf, from left to right
    claims_optimality: bool | None = None

    @property
    def size(self) -> Size:
        tests = splits(self.root)
        return Size(symbols(simplified(self.root)), trees=1, nodes=2 * tests + 1)

    def predict(self, rows: Values) -> Truth:
        labels = np.array([leaf.label for leaf in _leaves(self.root)])
        return np.asarray(labels[_leaf_numbers(self.root, rows)], dtype=bool)

    def scores(self, rows: Values) -> Values:
        shares = np.array([self.shares[number] for number in range(len(self.shares))])
        return np.asarray(shares[_leaf_numbers(self.root, rows)], dtype=np.float64)


# rows, labels, wall-clock seconds -> the tree, and whether the package claims that it is optimal
Solve = Callable[[Values, Truth, float], tuple[Node, bool]]


def optimal(task: Task, fitted: NDArray[np.int64], solve: Solve) -> FittedModel:
    """Fit with a package for optimal trees: these take neither weights nor rows of one class."""
    task.check_unweighted(fitted)
    rows, labels = task.values[fitted], task.labels[fitted]
    if has_one_class(labels):
        return Constant(bool(labels[0]), claims_optimality=True)
    root, is_optimal = _within(task.time_limit_s or _LIMIT_S, partial(solve, rows, labels))
    return make(root, rows, labels, None, is_optimal)


def _within(limit_s: float, solve: Callable[[float], tuple[Node, bool]]) -> tuple[Node, bool]:
    """Solve within so much processor time, although the packages measure wall-clock time.

    On a busy machine, a search that its limit ended is repeated once with a longer one.
    """
    started = time.process_time()
    root, is_optimal = solve(limit_s)
    spent_s = max(time.process_time() - started, limit_s / _MOST_REPEATED)
    if is_optimal or spent_s > _USUAL_SHARE * limit_s:
        return root, is_optimal
    return solve(limit_s * limit_s / spent_s)


def make(
    root: Node,
    rows: Values,
    labels: Truth,
    weights: Values | None,
    claims_optimality: bool | None = None,
) -> TreeModel:
    """A tree that was fitted on these rows."""
    numbers = _leaf_numbers(root, rows)
    count = len(_leaves(root))
    total = np.bincount(numbers, weights, count) + 2
    positive = np.bincount(numbers, labels * (1.0 if weights is None else weights), count) + 1
    return TreeModel(root, dict(enumerate((positive / total).tolist())), claims_optimality)


def _leaves(node: Node) -> list[Leaf]:
    return [node] if isinstance(node, Leaf) else _leaves(node.below) + _leaves(node.above)


def _leaf_numbers(root: Node, rows: Values) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The number of the leaf that each row reaches, leaves counted from left to right."""
    if isinstance(root, Leaf):
        return np.zeros(len(rows), dtype=np.int64)
    is_below = rows[:, root.column] <= root.threshold
    numbers = np.empty(len(rows), dtype=np.int64)
    numbers[is_below] = _leaf_numbers(root.below, rows[is_below])
    numbers[~is_below] = len(_leaves(root.below)) + _leaf_numbers(root.above, rows[~is_below])
    return numbers
