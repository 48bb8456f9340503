"""A rule as LaTeX for a paper: the formula, and the sentence that says it."""

from __future__ import annotations

from fsm_hpc.formulas.text import escape_latex
from fsm_hpc.models.exporters.conditions import one_line
from fsm_hpc.models.model import Model


def export(model: Model) -> str:
    r"""`\[ ... \]` and a sentence; needs no package."""
    columns = {proposition.column for proposition in model.formula.propositions()}
    names = {column: rf"\textit{{{escape_latex(one_line(column))}}}" for column in columns}
    return f"\\[\n  {model.formula.latex(names)}\n\\]\n{escape_latex(one_line(model.words))}"
