"""A rule as LaTeX for a paper: the formula, and the sentence that says it."""

from __future__ import annotations

from fsm_hpc.formulas.text import escape_latex
from fsm_hpc.models.exporters.conditions import one_line
from fsm_hpc.models.model import Model


def export(model: Model) -> str:
    r"""`\[ ... \]` for each rule, and a sentence; needs no package."""
    columns = {p.column for rule in model.rules for p in rule.formula.propositions()}
    names = {column: rf"\textit{{{escape_latex(one_line(column))}}}" for column in columns}
    formulas = [f"\\[\n  {rule.formula.latex(names)}\n\\]" for rule in model.rules]
    return "\n".join([*formulas, escape_latex(one_line(model.words))])
