"""The card of a model: one self-contained page with its rules and what to expect of them."""

from __future__ import annotations

from pathlib import Path

from fsm_hpc.models.model import Model
from fsm_hpc.models.notes import FrontEnd
from fsm_hpc.models.presenter import summarize
from fsm_hpc.system.numbers import counted, percent
from fsm_hpc.system.pages import content_security_policy, templates

_FOLDER = Path(__file__).parent


def page(model: Model) -> str:
    """model.html: needs no network, light and dark."""
    return _render("card.html", model, FrontEnd.COMMAND)


def fragment(model: Model, front_end: FrontEnd = FrontEnd.COMMAND) -> str:
    """The card to stand inside another page, such as a notebook."""
    return _render("fragment.html", model, front_end)


def _render(template: str, model: Model, front_end: FrontEnd) -> str:
    from markupsafe import Markup

    return (
        templates(_FOLDER)
        .get_template(template)
        .render(
            model=model,
            facts=summarize(model, front_end),
            percent=percent,
            counted=counted,
            policy=content_security_policy(),
            style=Markup((_FOLDER / "card.css").read_text(encoding="utf-8")),
        )
    )
