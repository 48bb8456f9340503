"""A rule as a JSON tree, to be read by a program of your own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fsm_hpc.data.kinds.writer import Words, Writer
from fsm_hpc.formulas import text
from fsm_hpc.formulas.formula import Proposition, Relation
from fsm_hpc.models.exporters.conditions import plain, write
from fsm_hpc.models.model import Model

Tree = dict[str, Any]


def export(model: Model) -> str:
    """`{"target": "y", "classes": {"true": "yes", "false": "no"}, "formula": {"or": [...]}}`.

    Of several classes it has `rules`, the first that holds is the answer, and `otherwise`.
    """
    tree: Tree = {"target": model.target}
    if len(model.rules) == 1:
        no, yes = map(plain, model.classes)
        formula = write(model, model.formula, _Json())
        tree |= {"classes": {"true": yes, "false": no}, "formula": formula}
    else:
        rules = [(plain(r.prediction), write(model, r.formula, _Json())) for r in model.rules]
        tree["rules"] = [{"class": answer, "formula": formula} for answer, formula in rules]
        tree["otherwise"] = plain(model.otherwise)
    tree["missing values"] = "no comparison holds" if model.keeps_missing else "no answer"
    return json.dumps(tree, indent=1, ensure_ascii=False)


class _Json(Writer[Tree]):
    language = "json"

    def number(self, proposition: Proposition) -> Tree:
        low, high = text.number(proposition.low), text.number(proposition.high)
        return self.compare(proposition.column, proposition, (low, high))

    def compare(self, cell: str, proposition: Proposition, literals: tuple[str, str]) -> Tree:
        low, high = map(json.loads, literals)
        if proposition.relation is Relation.WITHIN:
            return {"column": cell, "between": [low, high]}
        return {"column": cell, proposition.relation.value: low}

    def text(self, value: str) -> str:
        return json.dumps(value)

    def missing(self, column: str) -> Tree:
        return {"column": column, "is missing": True}

    def words(self, words: Words) -> Tree:
        return {"column": words.column, "in": list(words.texts) or [True]}

    def negation(self, part: Tree) -> Tree:
        return {"not": part}

    def conjunction(self, parts: Sequence[Tree]) -> Tree:
        return {"and": parts}

    def disjunction(self, parts: Sequence[Tree]) -> Tree:
        return {"or": parts}

    def exclusion(self, left: Tree, right: Tree) -> Tree:
        return {"xor": [left, right]}

    def equivalence(self, left: Tree, right: Tree) -> Tree:
        return {"iff": [left, right]}

    def implication(self, left: Tree, right: Tree) -> Tree:
        return {"implies": [left, right]}

    def threshold(self, count: int, parts: Sequence[Tree]) -> Tree:
        return {"at_least": count, "of": parts}
