"""A dataset config: where a table is, how it is written, and what its columns are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fsm_hpc.data.kind_name import KindName
from fsm_hpc.errors import UserError
from fsm_hpc.system.settings import Scope, setting


class CategoryOrders(dict[str, tuple[str, ...]]):
    """Column -> its categories from low to high; hashable, as all settings are."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))


@dataclass(frozen=True, slots=True)
class DatasetSpec:
    """conf/dataset: where a table is, and what its columns are."""

    name: str
    target: str  # the column to predict
    positive: str | None = None  # its value that counts as true; None: chosen, with a note
    negative: str | None = None  # its other value; "rest": all others
    # where the table is
    path: str | None = None  # a file of the user's; None: `file` on the search path
    labels: str | None = None  # a file with another model's answers, in place of the target
    file: str | None = None
    sha256: str | None = None  # of the decompressed file
    package: str | None = setting(
        None, '"<module>/<file>": an installed package that contains the table', runs_code=True
    )
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
    # column -> its categories from low to high
    ordered: dict[str, tuple[str, ...]] = field(default_factory=CategoryOrders)
    date: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    group: str | None = setting(
        None,
        "column of groups; with fold_kind=grouped a group stays in one fold",
        changes=Scope.ALL,
        legacy=None,
    )
    weight: str | None = setting(
        None,
        "column with the weight of each row; formulas do not use it",
        changes=Scope.ALL,
        legacy=None,
    )
    true_values: tuple[str, ...] = ()  # of Boolean columns; (): true, yes, 1 and their like
    max_categories: int = setting(100, "largest number of categories of a column", least=0)
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
        for name, categories in self.ordered.items():
            if not isinstance(categories, (list, tuple)):
                raise UserError(
                    f"dataset.ordered: expected a list of categories from low to high for {name!r},"
                    f" found {categories!r}"
                )
        ordered = {str(name): tuple(map(str, order)) for name, order in self.ordered.items()}
        object.__setattr__(self, "ordered", CategoryOrders(ordered))

    def missing_words(self, is_typed: bool) -> tuple[str, ...]:
        """Texts that mean "missing"; where the file has types, only those the user has set."""
        if not is_typed:
            return ("", *self.missing_values)
        return tuple(w for w in self.missing_values if w not in self.usual_missing_values)

    def kind_of(self, column: str) -> KindName | None:
        """The kind that the settings list a column as."""
        return next((kind for kind in KindName if column in getattr(self, kind.value)), None)

    def with_kinds(self, kinds: Mapping[str, tuple[KindName, tuple[str, ...]]]) -> DatasetSpec:
        """The settings with columns of these kinds, and the order of categories of some."""
        lists: dict[str, Any] = {
            kind.value: tuple(name for name, (own, _) in kinds.items() if own is kind)
            for kind in KindName
        }
        orders = {name: order for name, (own, order) in kinds.items() if own is KindName.ORDERED}
        return replace(self, **lists | {"ordered": orders})

    @property
    def listed(self) -> dict[str, tuple[str, ...]]:
        """Setting -> the columns that it lists."""
        kinds = {kind.value: tuple(getattr(self, kind.value)) for kind in KindName}
        return {**kinds, "drop": self.drop}

    def infers(self, column: str) -> bool:
        """Whether the kind of a column is inferred, and it is neither target nor group."""
        named = {name for names in self.listed.values() for name in names}
        return self.infer and column not in {*named, self.target, self.group, self.weight}

    @property
    def own_path(self) -> str | None:
        """Where a table of the user's is, whatever folder one looks from."""
        return str(Path(self.path).absolute()) if self.path else None
