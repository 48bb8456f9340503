"""A fitted classifier as code of other languages, and as a card."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted


class ToldAsCode:
    """What `export` and the card of a rule give, as methods of a fitted estimator."""

    def to_sql(self, dialect: str = "ansi") -> str:
        """One expression that a SELECT can hold; `dialect` is ansi, mysql, bigquery or snowflake.

        The default ansi is for SQLite, DuckDB, PostgreSQL and others that follow the standard.
        """
        return self._exported("sql", dialect)

    def to_python(self) -> str:
        """A function that needs nothing else."""
        return self._exported("python")

    def to_javascript(self) -> str:
        return self._exported("javascript")

    def to_excel(self) -> str:
        return self._exported("excel")

    def export_text(self) -> str:
        """The rule in words, and what is known of it."""
        return self._exported("text")

    def _exported(self: Any, language: str, dialect: str | None = None) -> str:
        from fsm_hpc.models.exporters import export

        check_is_fitted(self)
        return export(self.model_, language, dialect)
