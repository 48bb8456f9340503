"""A dataset config: where a table is, how it is written, and what its columns are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fsm_hpc.system.settings import Scope, setting


@dataclass(frozen=True, slots=True)
class DatasetSpec:
    """conf/dataset: where a table is, and what its columns are."""

    name: str
    target: str  # the column to predict
    positive: str | None = None  # its value that counts as true; None: chosen and told
    negative: str | None = None  # its other value; "rest": all others
    # where the table is
    path: str | None = None  # a file of the user's; None: `file` on the search path
    labels: str | None = None  # a file with another model's answers, in place of the target
    file: str | None = None
    sha256: str | None = None  # of the decompressed file
    package: str | None = None  # "<module>/<file>": an installed package that carries the table
    url: str | None = None  # what `datasets fetch` downloads
    published_file: str | None = None  # the file in that download
    published_sha256: str | None = None
    header: str | None = None  # replaces the first line of the published file
    # how it is written
    separator: str = "auto"  # auto, comma, semicolon, tab, pipe, space
    decimal: str = "auto"  # auto, point, comma
    encoding: str = "auto"
    # what its columns are
    infer: bool = False  # kinds of the columns that no list names
    numeric: tuple[str, ...] = ()
    boolean: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    group: str | None = setting(
        None,
        "column whose equal rows stay together with fold_kind=grouped",
        changes=Scope.ALL,
        legacy=None,
    )
    weight: str | None = setting(
        None,
        "column of what an error on each row counts; taken out of the table",
        changes=Scope.ALL,
        legacy=None,
    )
    true_values: tuple[str, ...] = ()  # of Boolean columns; (): true, yes, 1 and their like
    max_categories: int = 100  # of one column
    # what is left out
    missing: str = "drop"  # rows with missing values: drop, error, keep
    missing_values: tuple[str, ...] = ()  # cells that say "missing", besides empty ones
    usual_missing_values: tuple[str, ...] = ()  # more of them, which no list replaces
    zero_is_missing: tuple[str, ...] = ()  # columns where 0 cannot be
    # where it comes from
    title: str | None = None
    creators: str | None = None
    doi: str | None = None
    source: str | None = None
    licence: str | None = None

    def __post_init__(self) -> None:
        words = map(str, (*self.usual_missing_values, *self.missing_values))  # -999 is one, too
        object.__setattr__(self, "missing_values", tuple(dict.fromkeys(words)))

    def missing_words(self, has_types: bool) -> tuple[str | None, ...]:
        """Cells that mean "missing"; where the file has types, nulls and what the user has set."""
        if not has_types:
            return (None, "", *self.missing_values)
        return (None, *(w for w in self.missing_values if w not in self.usual_missing_values))

    @property
    def own_path(self) -> str | None:
        """Where a table of the user's is, whatever folder one looks from."""
        return str(Path(self.path).absolute()) if self.path else None
