"""A rule in words, with how good it is."""

from __future__ import annotations

from fsm_hpc.models.model import Model


def export(model: Model) -> str:
    """The sentence, the formula, its size, its errors, and whether it is proved to be the best."""
    share = f" ({model.errors / model.rows:.1%})" if model.rows else ""
    best = f"no formula of size {model.length} or less makes fewer errors on these rows"
    lines = [
        model.words,
        "",
        f"formula  {model.formula}",
        f"size     {model.formula.size}",
        f"errors   {model.errors} of {model.rows} rows{share}",
        f"proved   {f'yes: {best}' if model.proved else 'no: there may be a better formula'}",
    ]
    return "\n".join(lines)
