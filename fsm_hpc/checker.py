"""Check a claim that a formula is optimal, independently of the program that made the claim.

Usage: python checker.py claim.json.gz [--budget SECONDS]. Exit codes: 0 verified, 1 refuted, 2 not
checkable (malformed or outside the scope), 3 budget used up. This file needs numpy and nothing
else. docs/explanation/checking.md proves in the same four steps that it overlooks no formula.
"""

from __future__ import annotations

import argparse
import ast
import functools
import gzip
import hashlib
import itertools
import json
import math
import re
import sys
import time
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

VERSION = 1  # of this checker, recorded with every outcome
FORMAT = 1  # of the claims that it reads
MAX_BYTES = 1 << 29  # of a claim after decompression
MAX_BOUND = 12  # a truth table of up to six variables fits into 64 bits
MAX_PAIRS = 1 << 17  # pairs of boxes that are bounded at once
RELATIONS = {"median": ">", "pivot": ">=", "interval": "within"}  # of numeric columns
REFUTED, NOT_CHECKABLE, UNFINISHED = OUTCOMES = ("refuted", "not checkable", "not finished")
Array = np.ndarray[Any, Any]


class NotVerifiedError(Exception):
    """The claim is not verified; the arguments are one of OUTCOMES and the reason."""


def require(condition: Any, outcome: str, reason: str) -> None:
    if not condition:
        raise NotVerifiedError(outcome, reason)


@dataclass(frozen=True)
class Propositions:
    """Step 1: the propositions of a column, each chosen by the indices i, j of two thresholds.

    Proposition (i, j) holds on the rows with at_least >= i and at_most <= j: at_least is the index
    of the last threshold that a value reaches, at_most of the first that it does not exceed.
    """

    name: str
    relation: str  # "holds", "is missing", ">", ">=" or "within"
    thresholds: Array
    at_least: Array
    at_most: Array  # 0 unless the relation is "within"

    def text(self, i: int, j: int) -> str:
        name, ends = "`" + self.name.replace("`", "``") + "`", self.thresholds[[i, j]].tolist()
        within = f"{ends[0]!r} <= {name} <= {ends[1]!r}"
        texts = {"holds": name, "is missing": f"{name} is missing", "within": within}
        return texts.get(self.relation, f"{name} {self.relation} {ends[0]!r}")


@dataclass(frozen=True)
class Claim:
    """That `formula` makes `errors` errors, and no formula of size at most `bound` fewer."""

    columns: list[Propositions]
    labels: Array
    weights: Array
    bound: int
    formula: str
    errors: int


def read_claim(data: dict[str, Any]) -> Claim:
    """The claim in the content of a claim file."""
    try:
        scope = {key: data[key] for key in ("format", "language", "constraints", "method")}
        is_scope = [*scope.values()][:3] == [FORMAT, "paper", ""] and data["method"] in RELATIONS
        require(is_scope, NOT_CHECKABLE, f"outside the scope of this checker: {scope}"[:200])
        labels = np.array(data["labels"], dtype=bool)
        weights = np.array(data["weights"] or [1] * len(labels), dtype=np.float64)
        columns = [_column(entry, data["method"], len(labels)) for entry in data["columns"]]
        columns.sort(key=lambda c: len(c.thresholds) ** (1 + (c.relation == "within")))
        bound, errors = data["bound"].__index__(), data["errors"].__index__()
        is_table = labels.shape == weights.shape == (len(labels),) and len(labels) > 0
        is_table &= len({(c.name, c.relation) for c in columns}) == len(columns) > 0
        require(is_table, NOT_CHECKABLE, "expected rows and columns with distinct names")
        is_whole = (weights >= 1).all() and not (weights % 1).any() and weights.sum() < 2**53
        require(is_whole, NOT_CHECKABLE, "expected whole positive weights with a sum below 2**53")
        require(0 < bound <= MAX_BOUND, NOT_CHECKABLE, f"expected a bound up to {MAX_BOUND}")
        rows = json.dumps([data[key] for key in ("columns", "labels", "weights")])
        digest = hashlib.sha256(rows.encode()).hexdigest()
        require(data["table"] == digest, REFUTED, "the rows do not match the stated digest")
        return Claim(columns, labels, weights, bound, str(data["formula"]), errors)
    except (LookupError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise NotVerifiedError(NOT_CHECKABLE, f"malformed: {error!r}"[:200]) from error


def _column(entry: dict[str, Any], method: str, rows: int) -> Propositions:
    name, values = str(entry["name"]), np.array(entry["values"], dtype=np.float64)
    fixed = {"boolean": "holds", "missing": "is missing", "numeric": None}[entry["kind"]]
    missing, listed = np.isnan(values), [0.0] if fixed else entry["thresholds"]
    thresholds = np.unique(values[~missing] if listed == "observed" else np.array(listed, float))
    is_finite = values.shape == (rows,) and np.isfinite([*thresholds, *values[~missing]]).all()
    is_usable = is_finite and 0 < len(thresholds) < (2 if method == "median" else math.inf)
    require(is_usable, NOT_CHECKABLE, f"column {name!r}: expected finite values, thresholds")
    if fixed or method == "median":
        at_least = np.where(values > thresholds[0], 0, -1)
        return Propositions(name, fixed or ">", thresholds, at_least, 0 * at_least)
    at_least = np.where(missing, 0, np.searchsorted(thresholds, values, side="right")) - 1
    at_most = np.searchsorted(thresholds, values, side="left") * (method == "interval")
    return Propositions(name, RELATIONS[method], thresholds, at_least, at_most)


_NUMBER = r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?"
_NAME = r"`(?:[^`]|``)*`|(?!(?:not|and|or)(?![\w./+-]))[^\W\d][\w./+-]*"
_TOKEN = re.compile(
    rf"\s*(?:(?:({_NUMBER})\s*<=\s*)?({_NAME})(?:\s*(<=|>=|>)\s*({_NUMBER})|\s+(is missing)\b)?"
    r"|([()]|(?:not|and|or)\b))"
)


def measure(formula: str, claim: Claim) -> tuple[int, int]:
    """Step 2: size and errors; an invalid formula refutes the claim."""
    chosen: list[Any] = []  # column and threshold indices of each occurrence
    tokens, at = [], 0
    while match := _TOKEN.match(formula, at):
        chosen += [] if match[6] else [_proposition(claim.columns, match)]
        tokens.append(match[6] or f"p{len(chosen) - 1}")
        at = match.end()
    is_whole = not formula[at:].strip() and len({c[0] for c in chosen}) == len({*chosen})
    require(is_whole, REFUTED, "the formula has unknown symbols, or two thresholds for one column")
    columns = [(claim.columns[c], i, j) for c, i, j in chosen]
    truths = [(c.at_least >= i) & (c.at_most <= j) for c, i, j in columns]
    try:  # with names for its propositions it is an expression of Python
        wrong = _holds(ast.parse(" ".join(tokens), mode="eval").body, truths) != claim.labels
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotVerifiedError(REFUTED, f"the formula is malformed: {error}"[:200]) from error
    return len(tokens) - tokens.count("(") - tokens.count(")"), int(claim.weights[wrong].sum())


def _proposition(columns: list[Propositions], match: re.Match[str]) -> tuple[int, ...]:
    low, name, sign, high, missing, _ = match.groups()
    name = name[1:-1].replace("``", "`") if name[0] == "`" else name
    relation = ("within" if sign == "<=" else None) if low else sign or missing or "holds"
    numbers = [float(end) for end in (low, high) if end]
    for number, column in enumerate(columns):
        is_listed = {*numbers} <= {*column.thresholds.tolist()}
        if (column.name, column.relation) == (name, relation) and is_listed:
            ends = [*numbers, -np.inf, -np.inf][:2]  # an end that is not chosen has index 0
            return (number, *np.searchsorted(column.thresholds, ends).tolist())
    raise NotVerifiedError(REFUTED, f"no proposition of the claim: {name!r:.100} {numbers}")


def _holds(tree: Any, truths: list[Array]) -> Any:
    if isinstance(tree, ast.BoolOp):
        parts = [_holds(value, truths) for value in tree.values]
        return np.all(parts, axis=0) if isinstance(tree.op, ast.And) else np.any(parts, axis=0)
    if isinstance(tree, ast.UnaryOp):
        return ~_holds(tree.operand, truths)
    return truths[int(getattr(tree, "id", "p?")[1:])]


class Functions:
    """Step 3: the functions of k variables, as truth tables, that formulas up to the bound define.

    smallest[s] are the functions whose smallest formula has size s. A function of j < k variables
    is omitted where s + 2 (k - j) exceeds the bound.
    """

    def __init__(self, k: int, bound: int) -> None:
        self.k, self.full = k, np.uint64((1 << (1 << k)) - 1)
        tables = [sum(1 << cell for cell in range(1 << k) if cell >> i & 1) for i in range(k)]
        self.variables = np.array(tables, dtype=np.uint64)
        self.smallest = [self.variables[:0], self.variables]
        for size in range(2, bound + 1):
            made = [~self.smallest[size - 1] & self.full]
            made += [np.unique(results) for *_, results in self._joined(size)]
            new = np.setdiff1d(np.concatenate(made), np.concatenate(self.smallest))
            self.smallest.append(new[(size - 2 * self._count(new) <= bound - 2 * k) | (k == 1)])
        every = np.concatenate(self.smallest)
        self.values = every[(self._count(every) == k) | (k == 1)]  # for k = 1 with the constants

    def _joined(self, size: int) -> Any:
        """One operand, the connective, the other operands, and the results."""
        for left in range(1, (size + 1) // 2):
            others = self.smallest[size - 1 - left]
            for function in self.smallest[left]:
                yield function, "and", others, function & others
                yield function, "or", others, function | others

    def _count(self, functions: Array) -> Array:
        """How many variables each function depends on."""
        count = np.zeros(len(functions), dtype=np.int64)
        for i, variable in enumerate(self.variables):
            count += ((functions >> np.uint64(1 << i)) ^ functions) & ~variable & self.full != 0
        return count

    def formula(self, function: Any, texts: list[str]) -> str:
        """A smallest formula of a function, over these propositions."""
        size = next(s for s, functions in enumerate(self.smallest) if function in functions)
        if size == 1:
            return str(texts[self.variables.tolist().index(function)])
        if ~function & self.full in self.smallest[size - 1]:
            return f"not ({self.formula(~function & self.full, texts)})"
        operand, word, others, results = next(j for j in self._joined(size) if function in j[3])
        other = self.formula(others[results == function][0], texts)
        return f"({self.formula(operand, texts)}) {word} ({other})"


class BoxSearch:
    """Step 4: bound the score of every formula; refute the claim where one is better.

    The score is the weight of the positive rows on which a formula holds minus that of the
    negative ones: errors = positive weight - score. A box is a row (column, first i, last i, first
    j, last j). A row of the table is open in a box in which only some propositions hold on it.
    """

    def __init__(self, claim: Claim, end_s: float) -> None:
        self.claim, self.end_s, self.done = claim, end_s, 0.0
        self.at_least = np.array([column.at_least for column in claim.columns])
        self.at_most = np.array([column.at_most for column in claim.columns])
        kind = np.float32 if claim.weights.sum() < 2**24 else np.float64  # so that sums are exact
        self.weights = claim.weights.astype(kind)
        self.goal = int(claim.weights[claim.labels].sum()) - claim.errors
        self.truths: dict[bytes, tuple[Array, Array, Array]] = {}

    def run(self) -> None:
        """Every formula is a function of k columns: a context of k - 2, and a pair after them."""
        columns, most = range(len(self.claim.columns)), (self.claim.bound + 1) // 2
        total = sum(math.comb(len(columns), k) for k in range(1, most + 1))
        ends = [(len(c.thresholds) - 1, c.relation == "within") for c in self.claim.columns]
        boxes = whole = np.array([[c, 0, e, e * (not w), e] for c, (e, w) in enumerate(ends)])
        for _ in range(4):
            boxes = self._divided(boxes, 0)[0]
        for k in range(1, most + 1):
            functions = Functions(k, self.claim.bound)
            for context in itertools.combinations(columns, max(k - 2, 0)):
                last = max(context, default=-1)
                left = boxes[boxes[:, 0] > last]
                right = left if k > 1 else np.array([[0, *[1 << 60] * 4]])  # it holds nowhere
                pairs = (left[:, None, 0] < right[None, :, 0]) | (k == 1)
                self._cover(functions, whole[list(context)], left, right, pairs)
                self.done += math.comb(len(columns) - 1 - last, min(k, 2)) / total

    def _cover(self, functions: Functions, *node: Array) -> None:
        """Bound all formulas in these boxes; divide the boxes where the bound is too weak."""
        stack = [(*node, functions.values)]
        while stack:
            require(time.process_time() < self.end_s, UNFINISHED, f"{self.done:.1%} are done")
            context, left, right, pairs, values = stack.pop()
            left, right = left[pairs.any(axis=1)], right[pairs.any(axis=0)]
            pairs = pairs[pairs.any(axis=1)][:, pairs.any(axis=0)]
            if pairs.size > MAX_PAIRS and len(left) > 1:
                for half in (slice(len(left) // 2), slice(len(left) // 2, None)):
                    stack.append((context, left[half], right, pairs[half], values))
                continue
            widest, limit = self._truth(context)[2].max(initial=0), 0.0
            if widest <= self.weights.sum() / 8:  # a bound over wider boxes is too weak anyway
                pairs, values = self._bounded(context, left, right, pairs, values)
                if not len(values):
                    continue
                for boxes, axis in ((left, 1), (right, 0)):
                    limit = max(limit, (self._truth(boxes)[2] * pairs.any(axis=axis)).max())
                if widest == limit == 0:  # every bound is a score
                    i, j = np.argwhere(pairs)[0]
                    self._refute(functions, values, [*context, left[i], right[j]])
            if widest < limit:
                (left, i), (right, j) = (self._divided(side, limit / 2) for side in (left, right))
                stack.append((context, left, right, pairs[i][:, j], values))
                continue
            at = int(np.argmax(self._truth(context)[2]))
            for part in self._divided(context[at : at + 1], 0)[0]:
                divided = np.where(np.arange(len(context))[:, None] == at, part, context)
                stack.append((divided, left, right, pairs, values))

    def _truth(self, boxes: Array) -> tuple[Array, Array, Array]:
        """The rows on which all propositions of a box hold, its open rows, and their weight."""
        key = boxes.tobytes()
        if key not in self.truths:
            self.truths = dict(list(self.truths.items())[-7:])  # a small cache
            ends, column, kind = boxes[:, 1:, None], boxes[:, 0], self.weights.dtype
            at_least, at_most = self.at_least[column], self.at_most[column]
            every = (at_least >= ends[:, 1]) & (at_most <= ends[:, 2])
            some = (at_least >= ends[:, 0]) & (at_most <= ends[:, 3]) & ~every
            self.truths[key] = (every.astype(kind), some.astype(kind), some @ self.weights)
        return self.truths[key]

    def _divided(self, boxes: Array, limit: float) -> tuple[Array, list[int]]:
        """Divide the boxes with more open weight than the limit; the origin of each part."""
        parts: list[list[int]] = []
        for origin, weight in enumerate(self._truth(boxes)[2]):
            column, i0, i1, j0, j1 = boxes[origin].tolist()
            low, high = self.at_least[column], self.at_most[column]
            low, high = low[(low >= i0) & (low < i1)], high[(high > j0) & (high <= j1)]
            new, is_low = [(i0, i1, j0, j1)], len(low) >= len(high)
            if weight > limit:
                m = int(np.median(low if is_low else high))
                new = [(i0, m, j0, j1), (m + 1, i1, j0, j1)]
                new = new if is_low else [(i0, i1, j0, m - 1), (i0, i1, m, j1)]
            parts += [[column, *part, origin] for part in new if part[0] <= part[3]]
        array = np.array(parts, dtype=int).reshape(-1, 6)
        return array[:, :5], array[:, 5].tolist()

    def _bounded(
        self, context: Array, left: Array, right: Array, pairs: Array, values: Array
    ) -> tuple[Array, Array]:
        """The pairs and the functions with which a formula in these boxes may exceed the goal."""
        every, some, _ = self._truth(context)
        digits = (every + 2 * some).astype(int)  # of each row: 0 false, 1 true, 2 open
        codes = (digits * 3 ** np.arange(len(context))[:, None]).sum(axis=0, dtype=int)
        sums: list[tuple[int, int, Array]] = []  # label, possible cells, weight of these rows
        for first, label in itertools.product(np.unique(codes, return_index=True)[1], (0, 1)):
            rows = np.flatnonzero((codes == codes[first]) & (self.claim.labels == label))
            for pair, weight in self._pair_sums(left, right, rows):
                sums.append((label, cells((*digits[:, first].tolist(), *pair)), weight))
        bound = np.zeros(pairs.shape)  # of all functions at once
        for cell in (1 << c for c in range(1 << (len(context) + 2))):
            gain = np.zeros(pairs.shape, dtype=self.weights.dtype)
            for label, mask, weight in sums:
                if mask == cell or (label and mask & cell):
                    gain += weight if label else -weight
            bound += np.maximum(gain, 0)
        i, j = np.nonzero(pairs & (bound > self.goal))
        masks = np.array([mask for _, mask, _ in sums], dtype=np.uint64)
        common, labels = values[:, None] & masks, [label == 1 for label, _, _ in sums]
        factors = np.where(labels, common != 0, -1.0 * (common == masks)).astype(self.weights.dtype)
        alive, used = np.zeros_like(pairs), np.zeros(len(values), dtype=bool)
        step = max(1, (1 << 22) // max(1, len(values)))
        for part in (slice(start, start + step) for start in range(0, len(i), step)):
            weights = np.array([weight[i[part], j[part]] for _, _, weight in sums])
            exceeds = factors @ weights > self.goal
            alive[i[part], j[part]] = exceeds.any(axis=0)
            used |= exceeds.any(axis=1)
        return alive, values[used]

    def _pair_sums(self, left: Array, right: Array, rows: Array) -> Any:
        """The weight of these rows with each pair of digits, for all pairs of boxes."""
        sides = []
        for boxes in (left, right):
            every, some = (truth[:, rows] for truth in self._truth(boxes)[:2])
            sides.append({1: every, 2: some} if some.any() else {1: every})
        scaled = {d: truth * self.weights[rows] for d, truth in sides[0].items()}
        sums = {(d, e): scaled[d] @ sides[1][e].T for d in scaled for e in sides[1]}
        for d in scaled:
            sums[d, 0] = scaled[d].sum(axis=1)[:, None] - sum(sums[d, e] for e in sides[1])
        for e in (0, *sides[1]):
            total = (sides[1][e] if e else 1 - sum(sides[1].values())) @ self.weights[rows]
            sums[0, e] = total - sum(sums[d, e] for d in scaled)
        return sums.items()

    def _refute(self, functions: Functions, values: Array, boxes: list[Array]) -> None:
        """Show the better formula with these propositions; any member of a box will do."""
        texts = [self.claim.columns[b[0]].text(b[1], b[4]) for b in boxes[: functions.k]]
        formulas = [functions.formula(value, texts) for value in values]
        better = min(formulas, key=lambda formula: measure(formula, self.claim)[1])
        size, errors = measure(better, self.claim)
        assert (size <= self.claim.bound) & (errors < self.claim.errors), "a bound was wrong"
        raise NotVerifiedError(REFUTED, f"{errors} errors with size {size}: {better}")


@functools.cache
def cells(digits: tuple[int, ...]) -> int:
    """The cells of the truth table, one bit each, that a row with these digits may be in."""
    every = range(1 << len(digits))
    return sum(1 << c for c in every if all(d in (c >> i & 1, 2) for i, d in enumerate(digits)))


def check(data: dict[str, Any], budget_s: float = math.inf) -> None:
    """Return if the claim is true; otherwise raise NotVerifiedError."""
    claim = read_claim(data)
    size, errors = measure(claim.formula, claim)
    is_so = size <= claim.bound and errors == claim.errors
    require(is_so, REFUTED, f"the formula has size {size} and makes {errors} errors")
    BoxSearch(claim, time.process_time() + budget_s).run()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("claim", help="a file claim.json.gz")
    parser.add_argument("--budget", type=float, default=math.inf, help="processor seconds")
    given = parser.parse_args()
    try:
        with gzip.open(given.claim) as file:
            check(json.loads(file.read(MAX_BYTES)), given.budget)
    except (OSError, EOFError, ValueError, RecursionError, zlib.error, NotVerifiedError) as error:
        outcome = error.args[0] if isinstance(error, NotVerifiedError) else NOT_CHECKABLE
        print(outcome, error.args[-1], sep=": ")
        return OUTCOMES.index(outcome) + 1
    print(f"verified in {time.process_time():.1f} s of processor time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
