"""How databases write names, text, numbers and casts, each safe against any content."""

from __future__ import annotations

import re

from fsm_hpc.errors import UserError
from fsm_hpc.formulas import text

DEFAULT = "ansi"
_SAFE_DIGITS = 15  # databases keep so many when they convert a decimal to a double
_PRINTABLE_ASCII = re.compile(r"[ -\[\]-~]*")  # without the backslash


class Dialect:
    """How a database writes an expression; `expected` describes valid column names."""

    name: str
    text_type: str
    number_type: str
    names = re.compile(r"[^\0]+", re.DOTALL)  # valid column names
    expected = "a name without the character NUL"

    def quoted(self, column: str) -> str:
        """A column's name that `column` has checked."""
        return '"' + column.replace('"', '""') + '"'

    def literal(self, value: str) -> str:
        """Text as an answer, where a backslash escapes."""
        return "'" + "".join(map(_escaped, value)) + "'"

    def column(self, name: str) -> str:
        """A quoted column; a name that the database cannot have is rejected."""
        if not self.names.fullmatch(name):
            raise UserError(
                f"export --to sql --dialect {self.name}: column {name!r}: expected "
                f"{self.expected}; rename the column and fit again, or use another dialect"
            )
        return self.quoted(name)

    def text(self, value: str) -> str:
        """A literal; text with NUL is rejected, because no database keeps it."""
        if "\0" in value:
            raise UserError(
                f"export --to sql: expected text without the character NUL, found {value!r}; "
                "replace that value and fit again"
            )
        return self.literal(value)

    def number(self, value: float) -> str:
        """A literal that is a double, not a decimal."""
        written = text.number(value)
        return written if "e" in written else f"{written}e0"

    def double(self, column: str) -> str:
        """The number in a cell; a column that came out of a CSV may hold text."""
        return f"CAST({self.column(column)} AS {self.number_type})"

    def cell_text(self, column: str) -> str:
        """A cell as text, whatever the type of its column."""
        return f"CAST({self.column(column)} AS {self.text_type})"

    def text_column(self, column: str) -> str:
        """A cell of a column that holds text."""
        return self.column(column)

    def exact(self, expression: str) -> str:
        """Text that is compared character by character."""
        return expression

    def word(self, value: str) -> str:
        """A literal that `exact` text is compared with."""
        return self.text(value)


class Ansi(Dialect):
    """SQLite, DuckDB, PostgreSQL and others that follow the standard."""

    name = DEFAULT
    text_type, number_type = "VARCHAR", "DOUBLE PRECISION"

    def literal(self, value: str) -> str:
        return "'" + value.replace("'", "''") + "'"

    def number(self, value: float) -> str:
        written = text.number(value)
        is_decimal = "." in written and "e" not in written
        return written + "e0" * (is_decimal and len(written) > _SAFE_DIGITS)


class MySql(Dialect):
    """MySQL from 8.0.17 and MariaDB, in every sql_mode and connection character set.

    Text with a backslash depends on NO_BACKSLASH_ESCAPES, and other text on the character set, so
    all but printable ASCII is written in hexadecimal. Collations ignore case and trailing spaces,
    so that text is compared as bytes.
    """

    name = "mysql"
    text_type, number_type = "CHAR CHARACTER SET utf8mb4", "DOUBLE"
    names = re.compile(r"[\x01-\uffff]{0,63}[\x01-\x08\x0e-\x1f!-\uffff]")
    expected = (
        "a name of at most 64 characters up to U+FFFF, without NUL, and without whitespace at "
        "its end"
    )

    def quoted(self, column: str) -> str:
        return "`" + column.replace("`", "``") + "`"

    def literal(self, value: str) -> str:
        if _PRINTABLE_ASCII.fullmatch(value):
            return "'" + value.replace("'", "''") + "'"
        return f"_utf8mb4 {self._hexadecimal(value)}"

    def text_column(self, column: str) -> str:
        return self.cell_text(column)  # whatever the character set of the column

    def exact(self, expression: str) -> str:
        return f"CAST({expression} AS BINARY)"

    def word(self, value: str) -> str:
        written = self.text(value)
        return written if written.startswith("'") else self._hexadecimal(value)

    @staticmethod
    def _hexadecimal(value: str) -> str:
        return f"X'{value.encode().hex().upper()}'"


class BigQuery(Dialect):
    """GoogleSQL, whose literals know escapes and whose column names leave many signs out."""

    name = "bigquery"
    text_type, number_type = "STRING", "FLOAT64"
    names = re.compile(r"""[^\x00-\x1f\x7f!"$()*,./;?@\[\\\]^`{}~]{1,300}""")
    expected = (
        "a name of at most 300 characters, without control characters and without any of "
        '!"$()*,./;?@[\\]^`{}~'
    )

    def quoted(self, column: str) -> str:
        return f"`{column}`"


class Snowflake(Dialect):
    """Snowflake, where a quoted name keeps its case and a backslash escapes."""

    name = "snowflake"
    text_type, number_type = "VARCHAR", "DOUBLE"
    names = re.compile(r"[^\0]{1,255}", re.DOTALL)
    expected = "a name of at most 255 characters without the character NUL"


def _escaped(sign: str) -> str:
    """A sign between single quotes where a backslash escapes."""
    if sign in "'\\":
        return f"\\{sign}"
    if sign.isprintable():
        return sign
    return f"\\u{ord(sign):04x}" if sign <= "\uffff" else f"\\U{ord(sign):08x}"


_DIALECTS = {dialect.name: dialect for dialect in (Ansi(), MySql(), BigQuery(), Snowflake())}
DIALECTS = tuple(_DIALECTS)


def dialect_called(name: str) -> Dialect:
    if name not in DIALECTS:
        raise UserError(f"dialect: expected one of {', '.join(DIALECTS)}, found {name!r}")
    return _DIALECTS[name]
