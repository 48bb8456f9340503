"""One rule in another language: code that stands alone."""

from __future__ import annotations

from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING

from fsm_hpc.errors import UserError

if TYPE_CHECKING:
    from fsm_hpc.models.model import Model


class Format(Enum):
    """What a rule can be written in; each is a module of this folder."""

    SQL = "sql"
    PYTHON = "python"
    EXCEL = "excel"
    JAVASCRIPT = "javascript"
    JSON = "json"
    LATEX = "latex"
    TEXT = "text"


FORMATS = tuple(one.value for one in Format)


def export(model: Model, to: str, dialect: str | None = None) -> str:
    """The rule in that format, without a line break at its end; `dialect` is of SQL."""
    if to not in FORMATS:
        known = ", ".join(FORMATS)
        raise UserError(f"export: expected one of {known}, found {to!r}")
    if dialect is not None and to != Format.SQL.value:
        raise UserError(f"dialect: expected it with the format sql, found it with {to}")
    options = {} if dialect is None else {"dialect": dialect}
    written: str = import_module(f"{__name__}.{to}").export(model, **options)
    return written
