"""A rule as LaTeX for a paper: the formula, and the sentence that says it."""

from __future__ import annotations

from fsm_hpc.formulas.text import escape_latex
from fsm_hpc.models.exporters.conditions import one_line
from fsm_hpc.models.model import Model
from fsm_hpc.models.several import Several


def export(model: Model | Several) -> str:
    r"""`\[ ... \]` and a sentence, for each class where there are several; needs no package."""
    if isinstance(model, Several):
        return "\n\n".join([*map(export, model.rules), escape_latex(one_line(model.words))])
    columns = {proposition.column for proposition in model.formula.propositions()}
    names = {column: rf"\textit{{{escape_latex(one_line(column))}}}" for column in columns}
    return f"\\[\n  {model.formula.latex(names)}\n\\]\n{escape_latex(one_line(model.words))}"
