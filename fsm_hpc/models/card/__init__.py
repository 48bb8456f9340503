"""The card of a rule: one self-contained page that says what it is and what to expect of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fsm_hpc.models.model import Model
from fsm_hpc.system.pages import templates
from fsm_hpc.system.terminal import percent

_FOLDER = Path(__file__).parent
_MEASURES = {
    "accuracy": "of all rows are answered rightly",
    "balanced_accuracy": "is the mean over both answers",
    "precision": "of the rows that get the answer {yes} have it",
    "recall": "of the rows with {yes} are found",
}


def page(model: Model) -> str:
    """model.html: needs no network, light and dark."""
    return _render("card.html", model)


def fragment(model: Model) -> str:
    """The card to stand inside another page, such as a notebook."""
    return _render("fragment.html", model)


def expectations(model: Model) -> list[tuple[str, str, str, str]]:
    """Name, value, interval and meaning of each measure; empty where no fold judged the rule."""
    rows = []
    yes = f"{model.target} = {model.classes[1]}"
    for name, meaning in _MEASURES.items():
        figure = model.figures.get(name)
        if figure is None:
            continue
        value = "undefined" if figure["value"] is None else percent(figure["value"])
        ends = figure["interval"]
        spread = f"{percent(ends[0])} to {percent(ends[1])}" if ends else ""
        rows.append((name.replace("_", " "), value, spread, meaning.format(yes=yes)))
    return rows


def _render(template: str, model: Model) -> str:
    from markupsafe import Markup

    return (
        templates(_FOLDER)
        .get_template(template)
        .render(
            model=model,
            condition=model.formula.words(model.phrases),
            expectations=expectations(model),
            percent=percent,
            provenance=_provenance(model),
            style=Markup((_FOLDER / "card.css").read_text(encoding="utf-8")),
        )
    )


def _provenance(model: Model) -> list[tuple[str, str]]:
    """What a reader may ask of where it comes from, in the order in which one asks."""
    origin: dict[str, Any] = model.provenance
    facts = {
        "method": model.method,
        "table": origin.get("table"),
        "version": origin.get("version"),
        "commit": origin.get("commit"),
        "seed": model.settings.get("seed"),
        "splits": model.settings.get("splits", 1),
        "data digest": model.settings.get("data"),
        "host": origin.get("host"),
    }
    return [(name, str(value)) for name, value in facts.items() if value not in (None, "")]
