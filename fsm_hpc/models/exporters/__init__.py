"""One rule in another language: code that stands alone."""

from __future__ import annotations

from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING

from fsm_hpc.errors import UserError

if TYPE_CHECKING:
    from fsm_hpc.models.model import Model


class Language(Enum):
    """What a rule can be written in; each is a module of this folder."""

    SQL = "sql"
    PYTHON = "python"
    EXCEL = "excel"
    JAVASCRIPT = "javascript"
    JSON = "json"
    LATEX = "latex"
    TEXT = "text"


LANGUAGES = tuple(language.value for language in Language)


def export(model: Model, language: str) -> str:
    """The rule in that language, without a line break at its end."""
    if language not in LANGUAGES:
        known = ", ".join(LANGUAGES)
        raise UserError(f"language: expected one of {known}, found {language!r}")
    written: str = import_module(f"{__name__}.{language}").export(model)
    return written
