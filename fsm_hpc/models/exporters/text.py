"""A rule in words, with how good it is."""

from __future__ import annotations

from fsm_hpc.models.model import Model
from fsm_hpc.models.presenter import summarize


def export(model: Model) -> str:
    """The sentence, the formula, its size, its errors, and whether it is proved to be the best."""
    return "\n".join(summarize(model).lines())
