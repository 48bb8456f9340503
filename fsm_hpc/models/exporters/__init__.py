"""One rule in another language: code that stands alone."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fsm_hpc.errors import UserError

if TYPE_CHECKING:
    from fsm_hpc.models.model import Model


class Format(Enum):
    """What a rule can be written in; each is a module of this folder."""

    SQL = "sql"
    PYTHON = "python"
    EXCEL = "excel"
    JAVASCRIPT = "javascript"
    R = "r"
    PMML = "pmml"
    ONNX = "onnx"
    JSON = "json"
    LATEX = "latex"
    TEXT = "text"


FORMATS = tuple(one.value for one in Format)


def export(
    model: Model, to: str, dialect: str | None = None, header: Sequence[str] | None = None
) -> Any:
    """The rule in that format: text without a line break at its end, or bytes of ONNX.

    `dialect` is of SQL; `header` of Excel: the columns of the sheet, in their order.
    """
    if to not in FORMATS:
        known = ", ".join(FORMATS)
        raise UserError(f"export: expected one of {known}, found {to!r}")
    options = {}
    for name, value, of in (("dialect", dialect, Format.SQL), ("header", header, Format.EXCEL)):
        if value is not None and to != of.value:
            raise UserError(f"{name}: expected it with the format {of.value}, found it with {to}")
        if value is not None:
            options[name] = value
    return import_module(f"{__name__}.{to}").export(model, **options)
