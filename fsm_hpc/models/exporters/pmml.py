"""A rule as PMML 4.4: a rule set for scoring engines, of which the first rule that holds counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any
from xml.etree import ElementTree  # nosec B405 - it writes, and parses nothing
from xml.etree.ElementTree import Element  # nosec B405

from fsm_hpc.data.kinds.writer import Words, Writer
from fsm_hpc.errors import UserError
from fsm_hpc.formulas import text
from fsm_hpc.formulas.formula import Proposition, Relation
from fsm_hpc.models.exporters.conditions import (
    common_type,
    is_number,
    one_line,
    plain,
    predictions,
    write,
)
from fsm_hpc.models.model import Model

Part = Callable[[bool], Element]  # whether it is to hold, or not to hold -> the predicate
_TYPES = {bool: "boolean", int: "integer", float: "double", str: "string"}
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def export(model: Model) -> str:
    """A RuleSetModel; numbers are doubles, dates are days since 1970-01-01, the rest is text."""
    root = Element("PMML", version="4.4", xmlns="http://www.dmg.org/PMML-4_4")
    _add(root, "Header", description=one_line(model.words))
    classes = [plain(value) for value in model.classes]
    taken = {source.name for source in model.sources}
    target = model.target if model.target not in taken else f"predicted {model.target}"
    fields = _add(root, "DataDictionary")
    for source in model.sources:
        kinds = ("continuous", "double") if is_number(source) else ("categorical", "string")
        _add(fields, "DataField", name=source.name, optype=kinds[0], dataType=kinds[1])
    kind = _TYPES[common_type(classes)]
    answers = _add(fields, "DataField", name=target, optype="categorical", dataType=kind)
    for value in classes:
        _add(answers, "Value", value=_literal(value))
    rules = _add(root, "RuleSetModel", functionName="classification", algorithmName="fsm_hpc")
    schema = _add(rules, "MiningSchema")
    missing = {} if model.keeps_missing else {"missingValueTreatment": "returnInvalid"}
    for source in model.sources:
        _add(schema, "MiningField", name=source.name, invalidValueTreatment="asIs", **missing)
    _add(schema, "MiningField", name=target, usageType="target")
    otherwise, *scores = map(_literal, predictions(model))
    rule_set = _add(rules, "RuleSet", defaultScore=otherwise)
    _add(rule_set, "RuleSelectionMethod", criterion="firstHit")
    for rule, score in zip(model.rules, scores, strict=True):
        condition = write(model, rule.formula, _Pmml())(True)
        _add(rule_set, "SimpleRule", score=score).append(condition)
    ElementTree.indent(root, " ")
    return ElementTree.tostring(root, encoding="unicode")


class _Pmml(Writer[Part]):
    """Predicates of PMML have no negation, so that each part can be written as its opposite."""

    language = "pmml"

    def number(self, proposition: Proposition) -> Part:
        cell, relation = proposition.column, proposition.relation
        low, high = (text.number(float(end)) for end in (proposition.low, proposition.high))
        if relation is Relation.ABOVE:
            return _test(cell, "greaterThan", "lessOrEqual", low)
        least = _test(cell, "greaterOrEqual", "lessThan", low)
        if relation is Relation.AT_LEAST:
            return least
        return self.conjunction([least, _test(cell, "lessOrEqual", "greaterThan", high)])

    def words(self, words: Words) -> Part:
        tests = [_test(words.column, "equal", "notEqual", word) for word in words.in_each_case]
        return self.disjunction(tests)

    def missing(self, column: str) -> Part:
        return _test(column, "isMissing", "isNotMissing")

    def present(self, column: str, part: Part) -> Part:
        return self.conjunction([self.negation(self.missing(column)), part])

    def negation(self, part: Part) -> Part:
        return lambda holds: part(not holds)

    def conjunction(self, parts: Sequence[Part]) -> Part:
        return lambda holds: _joined("and" if holds else "or", [part(holds) for part in parts])

    def disjunction(self, parts: Sequence[Part]) -> Part:
        return lambda holds: _joined("or" if holds else "and", [part(holds) for part in parts])

    def exclusion(self, left: Part, right: Part) -> Part:
        """Without PMML's own xor, which PMML4S takes for something else."""
        only_left = self.conjunction([left, self.negation(right)])
        return self.disjunction([only_left, self.conjunction([self.negation(left), right])])

    def threshold(self, count: int, parts: Sequence[Part]) -> Part:
        return self.disjunction([self.conjunction(some) for some in combinations(parts, count)])


def _test(column: str, operator: str, opposite: str, value: str | None = None) -> Part:
    given = {} if value is None else {"value": value}
    return lambda holds: _element(
        "SimplePredicate", field=column, operator=operator if holds else opposite, **given
    )


def _joined(operator: str, parts: Sequence[Element]) -> Element:
    if len(parts) == 1:
        return parts[0]
    joined = _element("CompoundPredicate", booleanOperator=operator)
    joined.extend(parts)
    return joined


def _element(tag: str, **attributes: str) -> Element:
    for value in attributes.values():
        if _NO_XML.search(value):
            raise UserError(
                f"export --to pmml: expected text without control characters, found {value!r}; "
                "replace that value or name and fit again, or use another format"
            )
    return Element(tag, attributes)


def _add(parent: Element, tag: str, **attributes: str) -> Element:
    child = _element(tag, **attributes)
    parent.append(child)
    return child


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return text.number(value) if isinstance(value, float) else str(value)
