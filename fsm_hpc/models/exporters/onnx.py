"""A rule as an ONNX graph, which onnxruntime and others run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from fsm_hpc.data.kinds.writer import Words, Writer
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Proposition, Relation, missing_name
from fsm_hpc.models.exporters.conditions import (
    common_type,
    is_number,
    one_line,
    predictions,
    write,
)
from fsm_hpc.models.model import Model

OUTPUT = "prediction"
_OPSET, _IR_VERSION = 19, 9  # the first in which texts can be compared
_TYPES = {bool: "BOOL", int: "INT64", float: "DOUBLE", str: "STRING"}


def export(model: Model) -> bytes:
    """A model with an input of shape (rows, 1) for each column, and the predictions.

    Numbers are doubles, dates are days since 1970-01-01 as doubles, and all other columns are text.
    A missing number is NaN; where missing values are kept, a text has a Boolean input beside it.
    """
    try:
        from onnx import checker, helper
    except ImportError as error:
        raise UserError('export --to onnx needs onnx; run `pip install "fsm_hpc[onnx]"`') from error
    graph = _Graph(model)
    kind = common_type(predictions(model))
    answer, *classes = [graph.constant(kind(value)) for value in predictions(model)]
    for rule, yes in zip(reversed(model.rules), reversed(classes), strict=True):
        answer = graph.add("Where", write(model, rule.formula, graph), yes, answer)
    if kind is bool:
        answer = graph.add("Cast", answer, to=_type(bool))
    output = OUTPUT
    while output in graph.names:
        output += "_"
    graph.nodes.append(helper.make_node("Identity", [answer], [output]))
    exported = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "rule",
            [_value(name, of_type) for name, of_type in graph.inputs.items()],
            [_value(output, kind)],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        producer_name="fsm_hpc",
        doc_string=one_line(model.words),
    )
    checker.check_model(exported)
    content: bytes = exported.SerializeToString()
    return content


def _type(kind: type) -> int:
    from onnx import TensorProto

    return int(getattr(TensorProto, _TYPES[kind]))


def _value(name: str, kind: type) -> Any:
    from onnx import helper

    return helper.make_tensor_value_info(name, _type(kind), ["rows", 1])


class _Graph(Writer[str]):
    """Nodes in the making; a condition is the name of a Boolean tensor."""

    language = "onnx"

    def __init__(self, model: Model) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: dict[str, type] = {}
        self.numbers = {source.name for source in model.sources if is_number(source)}
        for source in model.sources:
            self.inputs[source.name] = float if source.name in self.numbers else str
            if source.keeps_missing and source.name not in self.numbers:
                self.inputs[missing_name(source.name)] = bool
        self.names = set(self.inputs)

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """The name of what a new node computes."""
        from onnx import helper

        name = self._new_name(operator)
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def constant(self, value: Any) -> str:
        from onnx import helper

        name = self._new_name("constant")
        if isinstance(value, bool):  # Where takes whole numbers, but no truth values
            value = int(value)
        content: Any = value.encode() if isinstance(value, str) else value
        kind = _type(type(value))
        self.constants.append(helper.make_tensor(name, kind, [1, 1], [content]))
        return name

    def _new_name(self, stem: str) -> str:
        name, number = stem, 1
        while name in self.names:
            name, number = f"{stem}_{number}", number + 1
        self.names.add(name)
        return name

    def number(self, proposition: Proposition) -> str:
        cell, low = proposition.column, self.constant(float(proposition.low))
        if proposition.relation is Relation.ABOVE:
            return self.add("Greater", cell, low)
        least = self.add("GreaterOrEqual", cell, low)
        if proposition.relation is Relation.AT_LEAST:
            return least
        high = self.constant(float(proposition.high))
        return self.add("And", least, self.add("LessOrEqual", cell, high))

    def words(self, words: Words) -> str:
        known = [self.constant(word) for word in words.in_each_case]
        return self.disjunction([self.add("Equal", words.column, word) for word in known])

    def missing(self, column: str) -> str:
        return self.add("IsNaN", column) if column in self.numbers else missing_name(column)

    def present(self, column: str, part: str) -> str:
        if column in self.numbers:
            return part  # no comparison holds with NaN
        return self.add("And", self.negation(self.missing(column)), part)

    def negation(self, part: str) -> str:
        return self.add("Not", part)

    def conjunction(self, parts: Sequence[str]) -> str:
        return reduce(lambda left, right: self.add("And", left, right), parts)

    def disjunction(self, parts: Sequence[str]) -> str:
        return reduce(lambda left, right: self.add("Or", left, right), parts)

    def exclusion(self, left: str, right: str) -> str:
        return self.add("Xor", left, right)

    def threshold(self, count: int, parts: Sequence[str]) -> str:
        ones = [self.add("Cast", part, to=_type(int)) for part in parts]
        total = reduce(lambda left, right: self.add("Add", left, right), ones)
        return self.add("GreaterOrEqual", total, self.constant(count))
