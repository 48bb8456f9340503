"""A rule in words, with how good it is."""

from __future__ import annotations

from fsm_hpc.models.model import Model, constraints_in_words, kind_of_formula
from fsm_hpc.models.several import Several
from fsm_hpc.system.numbers import counted


def export(model: Model | Several) -> str:
    """The sentence, the formula, its size, its errors, and whether it is proved to be the best."""
    if isinstance(model, Several):
        return _several(model)
    weight = model.rows if model.weight is None else model.weight
    share = f" ({model.errors / weight:.1%})" if weight else ""
    whole = counted(model.rows, "row") if model.weight is None else f"{weight} in weight"
    lines = [
        model.words,
        "",
        f"formula  {model.formula}",
        f"size     {model.formula.size}",
        f"errors   {model.errors} of {whole}{share}",
        *([] if model.weight is None else [f"measure  {model.measure}"]),
        *([f"meets    {constraints_in_words(model)}"] if model.constraints else []),
        f"proved   {_proved(model)}",
    ]
    return "\n".join(lines)


def _several(model: Several) -> str:
    weight = model.rows if model.weight is None else model.weight
    share = f" ({model.errors / weight:.1%})" if weight else ""
    rows = counted(model.rows, "row") if model.weight is None else f"{weight} in weight"
    whole = (
        f"{len(model.rules)} classes, one formula for each against the rest; the first that holds "
        f"is the answer: {model.errors} errors of {rows}{share}"
    )
    return "\n\n".join([model.words, whole, *map(export, model.rules)])


def _proved(model: Model) -> str:
    if not model.proved:
        return "no: there may be a better formula"
    before = model.before_rounding
    rounded = (
        f", with {counted(before['errors'], 'error')} as {before['formula']}" if before else ""
    )
    return f"yes{rounded}: no {kind_of_formula(model)} makes fewer errors on these rows"
