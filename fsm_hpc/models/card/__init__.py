"""The card of a rule: one self-contained page that says what it is and what to expect of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fsm_hpc.models.model import Model, constraints_in_words, kind_of_formula
from fsm_hpc.models.several import Several
from fsm_hpc.search.stop_reason import StopReason
from fsm_hpc.study.measures import errors_in_words
from fsm_hpc.system.numbers import counted, percent
from fsm_hpc.system.pages import content_security_policy, templates

_FOLDER = Path(__file__).parent
_MEASURES = {
    "accuracy": "of all rows are answered rightly",
    "balanced_accuracy": "is the mean over both answers",
    "precision": "of the rows that get the answer {yes} have it",
    "recall": "of the rows with {yes} are found",
}
_STOPS = {
    StopReason.EARLY_STOPPING: "longer formulas did worse on rows that they had not seen",
    StopReason.PERFECT: "no formula of any length makes fewer errors",
    StopReason.EXHAUSTED: "no longer formula could say anything new",
    StopReason.PLATEAU: "longer formulas did no better on rows that they had not seen",
    StopReason.MAX_LENGTH: "this is the longest that was asked for (scan.max_length)",
    StopReason.TIMEOUT: "the time was spent",
    StopReason.OUT_OF_MEMORY: "the memory was spent",
}


def page(model: Model | Several) -> str:
    """model.html: needs no network, light and dark."""
    if isinstance(model, Several):
        return _render_several("several.html", model)
    return _render("card.html", model)


def fragment(model: Model | Several) -> str:
    """The card to stand inside another page, such as a notebook."""
    if isinstance(model, Several):
        return _render_several("several_fragment.html", model)
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


def _stop(model: Model) -> str:
    """Why no longer formula was looked at."""
    known = {reason.value: words for reason, words in _STOPS.items()}
    return known.get(model.stop_reason, model.stop_reason.replace("_", " "))


def _render(template: str, model: Model) -> str:
    from markupsafe import Markup

    return (
        templates(_FOLDER)
        .get_template(template)
        .render(
            model=model,
            kind=kind_of_formula(model),
            constraints=constraints_in_words(model),
            condition=model.formula.words(model.phrases),
            expectations=expectations(model),
            percent=percent,
            counted=counted,
            stop=_stop(model),
            errors=errors_in_words(model.errors, model.rows, model.measure, model.weight),
            provenance=_provenance(model),
            policy=content_security_policy(),
            style=Markup((_FOLDER / "card.css").read_text(encoding="utf-8")),
        )
    )


def _render_several(template: str, model: Several) -> str:
    """What all rules come to together, then the card of each."""
    from markupsafe import Markup

    expected = model.figures.get("accuracy")
    return (
        templates(_FOLDER)
        .get_template(template)
        .render(
            model=model,
            branches=[(c, rule.formula.words(rule.phrases)) for c, rule in model.branches],
            cards=[Markup(_render("fragment.html", rule)) for rule in model.rules],
            expected=expected,
            percent=percent,
            counted=counted,
            policy=content_security_policy(),
            style=Markup((_FOLDER / "card.css").read_text(encoding="utf-8")),
        )
    )


def _provenance(model: Model) -> list[tuple[str, str]]:
    """What a reader may ask of where it comes from, in the order in which one asks."""
    origin: dict[str, Any] = model.provenance
    facts = {
        "method": model.method,
        "language": model.language.value,
        "constraints": constraints_in_words(model),
        "chosen by": None if model.measure == "accuracy" else model.measure,
        "table": origin.get("table"),
        "version": origin.get("version"),
        "commit": origin.get("commit"),
        "seed": model.settings.get("seed"),
        "splits": model.settings.get("splits", 1),
        "data digest": model.settings.get("data"),
        "host": origin.get("host"),
    }
    return [(name, str(value)) for name, value in facts.items() if value not in (None, "")]
