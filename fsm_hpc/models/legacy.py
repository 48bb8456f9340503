"""Read model.json of formats 1 to 3, which had separate kinds for two classes and for more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fsm_hpc.models.notes import WARNING
from fsm_hpc.system.files import UnreadableError

SEVERAL = "fsm_hpc rules of several classes"
_LAST = 3  # format
_OF_RULE = ("formula", "length", "errors", "proved", "weight", "stop_reason", "lengths")
_MORE_OF_RULE = ("before_rounding", "stability")
_OF_ALL = ("method", "measure", "language", "constraints", "reading")
_OTHERS = ("classes", "shares", "cut", "sources", "notes", "kind", "latex", "words", "size")
_OF_MODEL = ("target", "rows", "errors", "weight", "figures", "settings", "provenance")


def updated(values: dict[str, Any], saved: dict[str, Any], name: str) -> dict[str, Any]:
    """The fields of a file as the current format has them."""
    if saved.get("format", 1) > _LAST:
        return values
    is_several = saved.get("kind") == SEVERAL
    try:
        rules = values["rules"] if is_several else [values]
        sources = {source["name"]: source for rule in rules for source in rule["sources"]}
        shares = values["class_shares"] if is_several else _class_shares(*values["shares"])
        return {
            **({} if is_several else _unknown(values)),
            **_present(rules[0], _OF_ALL),
            **_present(values, _OF_MODEL),
            "rules": [_rule(rule) for rule in rules],
            "otherwise": values["otherwise"] if is_several else values["classes"][0],
            "class_shares": shares,
            "sources": list(sources.values()),
            "notes": _notes(values.get("notes", [])),
        }
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise UnreadableError(f"{name} is invalid: a field is missing or damaged") from None


def _class_shares(no: float, yes: float) -> list[list[float]]:
    return [[no, 1 - no], [1 - yes, yes]]


def _unknown(values: dict[str, Any]) -> dict[str, Any]:
    """What no version wrote, for the current reader to refuse."""
    known = {*_OF_RULE, *_MORE_OF_RULE, *_OF_ALL, *_OF_MODEL, *_OTHERS}
    return {name: value for name, value in values.items() if name not in known}


def _rule(values: dict[str, Any]) -> dict[str, Any]:
    return {
        **_present(values, (*_OF_RULE, *_MORE_OF_RULE)),
        "prediction": values["classes"][1],
        "precision": values["shares"][1],
        "timed_out": values.get("cut", False),
        "data": values.get("settings", {}).get("data", ""),
    }


def _present(values: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: values[name] for name in names if name in values}


def _notes(texts: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "kind": "chosen" if text.startswith("chosen ") else "text",
            "values": {"text": text.removeprefix(WARNING)},
            "is_warning": text.startswith(WARNING),
        }
        for text in texts
    ]
