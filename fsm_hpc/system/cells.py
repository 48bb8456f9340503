"""Write CSV files that are safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from typing import Any

_BEGINS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r")
# a number, or an interval of a formula, in which special names are quoted
_BEGINS_WITH_A_NUMBER = re.compile(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?(?:$| <= )")


def write(header: Iterable[str], lines: Iterable[Iterable[Any]]) -> str:
    """CSV text; an apostrophe precedes text that a spreadsheet would evaluate."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([_inert(name) for name in header])
    writer.writerows([_inert(cell) for cell in line] for line in lines)
    return stream.getvalue()


def _inert(cell: Any) -> Any:
    """A cell that a spreadsheet does not evaluate, whatever name a table contains."""
    is_text = isinstance(cell, str) and len(cell) > 1 and cell.startswith(_BEGINS_A_FORMULA)
    return f"'{cell}" if is_text and not _BEGINS_WITH_A_NUMBER.match(cell) else cell
