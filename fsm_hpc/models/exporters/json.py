"""A rule as a JSON tree, to be read by a program of your own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fsm_hpc.formulas import text
from fsm_hpc.formulas.formula import Proposition, Relation
from fsm_hpc.models.exporters.conditions import Words, Writer, plain, write
from fsm_hpc.models.model import Model

Tree = dict[str, Any]


def export(model: Model) -> str:
    """`{"target": "y", "classes": {"true": "yes", "false": "no"}, "formula": {"or": [...]}}`."""
    no, yes = map(plain, model.classes)
    classes = {"true": yes, "false": no}
    tree = {"target": model.target, "classes": classes, "formula": write(model, _Json())}
    return json.dumps(tree, indent=1, ensure_ascii=False)


class _Json(Writer[Tree]):
    def number(self, proposition: Proposition) -> Tree:
        low, high = (json.loads(text.number(cut)) for cut in (proposition.low, proposition.high))
        if proposition.relation is Relation.WITHIN:
            return {"column": proposition.column, "between": [low, high]}
        return {"column": proposition.column, proposition.relation.value: low}

    def words(self, words: Words) -> Tree:
        return {"column": words.column, "in": list(words.said) or [True]}

    def negation(self, part: Tree) -> Tree:
        return {"not": part}

    def conjunction(self, parts: Sequence[Tree]) -> Tree:
        return {"and": parts}

    def disjunction(self, parts: Sequence[Tree]) -> Tree:
        return {"or": parts}
