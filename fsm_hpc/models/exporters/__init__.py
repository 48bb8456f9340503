"""Export a rule to another language, as code that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fsm_hpc.errors import UserError

if TYPE_CHECKING:
    from fsm_hpc.models.model import Model


class Format(Enum):
    """The formats of an export; each is a module of this package."""

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


FORMATS = tuple(member.value for member in Format)


def export(
    model: Model, to: str, dialect: str | None = None, header: Sequence[str] | None = None
) -> Any:
    """Write a model in another format.

    Parameters
    ----------
    model : Model
        A model of two or more classes, such as `FormulaClassifier.model_`.
    to : str
        One of `FORMATS`.
    dialect : str, optional
        The SQL dialect: "ansi" (the default), "mysql", "bigquery" or "snowflake".
    header : sequence of str, optional
        The columns of an Excel sheet in their order. By default, the sheet has the columns that
        the rules use.

    Returns
    -------
    str or bytes
        Text without a line break at its end; bytes for "onnx".

    Raises
    ------
    UserError
        If the format is unknown, an option belongs to another format, or the format cannot
        express a name or value of the model.
    """
    if to not in FORMATS:
        known = ", ".join(FORMATS)
        raise UserError(f"export: expected one of {known}, found {to!r}")
    options = {}
    for name, value, owner in (("dialect", dialect, "sql"), ("header", header, "excel")):
        if value is not None and to != owner:
            raise UserError(f"{name}: expected it with the format {owner}, found it with {to}")
        if value is not None:
            options[name] = value
    return import_module(f"{__name__}.{to}").export(model, **options)
