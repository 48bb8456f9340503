"""Which folds the words of a command mean: those of a sweep, or those that are on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fsm_hpc.cluster.watch import evidence
from fsm_hpc.cluster.watch.evidence import FoldRef
from fsm_hpc.errors import UserError
from fsm_hpc.study.config import stated_default
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.study.words import Word

PLACES = ("study", "results_dir")
FILTERS = FoldId._fields  # dataset, method, fold


@dataclass(frozen=True, slots=True)
class SortedWords:
    """The key=value words of a command, sorted into where, which and what else."""

    places: dict[str, Word]
    filters: dict[str, Word]
    others: tuple[Word, ...]

    @property
    def study(self) -> Path:
        return Path(self._place("results_dir")) / self._place("study")

    def _place(self, key: str) -> str:
        return self.places[key].value if key in self.places else str(stated_default(key))

    @property
    def name_a_sweep(self) -> bool:
        """Enough to know every fold, also those that have left nothing on disk."""
        has_experiment = any(word.key == "experiment" for word in self.others)
        return has_experiment or {"dataset", "method"} <= self.filters.keys()


def sort(words: Sequence[str]) -> SortedWords:
    """Sort the words of a command."""
    for word in words:
        if "=" not in word:
            raise UserError(f"expected key=value, found {word!r}")
    read = [Word(word) for word in words]
    return SortedWords(
        {word.key: word for word in read if word.key in PLACES},
        {word.key: word for word in read if word.key in FILTERS},
        tuple(word for word in read if word.key not in PLACES + FILTERS),
    )


def select(words: Sequence[str]) -> list[FoldRef]:
    """The folds of the sweep that the words name, else those on disk that they fit."""
    sorted_words = sort(words)
    if sorted_words.name_a_sweep:
        from fsm_hpc.study.compose import expand  # Hydra takes a while; folds on disk do without

        return evidence.of_sweep(expand(list(words)))
    return on_disk(sorted_words)


def on_disk(words: SortedWords) -> list[FoldRef]:
    """The folds of a study that have left something on disk and fit the filters."""
    found = [ref for ref in evidence.on_disk(words.study) if _fits(ref.id, words.filters)]
    if not found:
        which = " ".join(word.text for word in words.filters.values())
        raise UserError(
            f"nothing in {words.study}{' for ' + which if which else ''}; "
            "expected study=NAME and results_dir=FOLDER of a sweep, or dataset=NAME method=NAME"
        )
    return found


def _fits(fold: FoldId, filters: dict[str, Word]) -> bool:
    return all(word.names(str(getattr(fold, key))) for key, word in filters.items())
