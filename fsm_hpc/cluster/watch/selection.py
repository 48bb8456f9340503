"""Which folds the words of a command mean: those of a sweep, or those that are on disk."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from pathlib import Path

from fsm_hpc.cluster.watch import evidence
from fsm_hpc.cluster.watch.evidence import Target
from fsm_hpc.errors import UserError
from fsm_hpc.study.config import Config

PLACES = ("study", "results_dir")
FILTERS = ("dataset", "method", "fold")
_DEFAULTS = {field.name: str(field.default) for field in fields(Config) if field.name in PLACES}


@dataclass(frozen=True, slots=True)
class Words:
    """The key=value words of a command, sorted into where, which and what else."""

    places: dict[str, str]
    filters: dict[str, str]
    others: tuple[str, ...]

    @property
    def study(self) -> Path:
        where = _DEFAULTS | self.places
        return Path(where["results_dir"]) / where["study"]

    @property
    def name_a_sweep(self) -> bool:
        """Enough to know every job, also those that have left nothing on disk."""
        has_experiment = any(word.lstrip("+").startswith("experiment=") for word in self.others)
        return has_experiment or {"dataset", "method"} <= self.filters.keys()


def sort(words: Sequence[str]) -> Words:
    """Sort the words of a command."""
    for word in words:
        if "=" not in word:
            raise UserError(f"expected key=value, found {word!r}")
    pairs = {word.partition("=")[0]: word.partition("=")[2] for word in words}
    return Words(
        {key: value for key, value in pairs.items() if key in PLACES},
        {key: value for key, value in pairs.items() if key in FILTERS},
        tuple(word for word in words if word.partition("=")[0] not in PLACES + FILTERS),
    )


def select(words: Sequence[str]) -> list[Target]:
    """The folds of the sweep that the words name, else those on disk that they fit."""
    sorted_words = sort(words)
    if sorted_words.name_a_sweep:
        from fsm_hpc.study.compose import expand

        return evidence.of_jobs(expand(list(words)))
    return on_disk(sorted_words)


def on_disk(words: Words) -> list[Target]:
    """The folds of a study that have left something on disk and fit the filters."""
    found = [target for target in evidence.on_disk(words.study) if _fits(target, words.filters)]
    if not found:
        which = " ".join(f"{key}={value}" for key, value in words.filters.items())
        raise UserError(
            f"nothing in {words.study}{' for ' + which if which else ''}; "
            "expected study=NAME and results_dir=FOLDER of a sweep, or dataset=NAME method=NAME"
        )
    return found


def _fits(target: Target, filters: dict[str, str]) -> bool:
    values = {"dataset": target.dataset, "method": target.method, "fold": str(target.fold)}
    return all(matches(values[key], wanted) for key, wanted in filters.items())


def matches(value: str, wanted: str) -> bool:
    """Hydra's ways to name several: `a,b`, `glob(*)`, `range(0,5)`."""
    ranged = re.fullmatch(r"range\((\d+)(?:,(\d+))?(?:,(\d+))?\)", wanted.replace(" ", ""))
    if ranged:
        bounds = [int(number) for number in ranged.groups() if number is not None]
        return value.isdigit() and int(value) in range(*bounds)
    globbed = re.fullmatch(r"glob\((.*)\)", wanted)
    if globbed:
        return any(fnmatchcase(value, pattern) for pattern in _items(globbed[1].strip("[]")))
    return value in _items(wanted)


def _items(text: str) -> Iterator[str]:
    yield from (item.strip() for item in text.split(","))
