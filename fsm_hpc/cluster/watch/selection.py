"""Which folds the words of a command mean: those of a sweep, or those that are on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fsm_hpc.cluster import submissions
from fsm_hpc.cluster.watch import evidence
from fsm_hpc.cluster.watch.evidence import FoldRef
from fsm_hpc.errors import UserError
from fsm_hpc.study import variants
from fsm_hpc.study.config import Config, stated_default
from fsm_hpc.study.files import RulePaths, StudyPaths
from fsm_hpc.study.fold_id import PLAIN, FoldId, RuleId
from fsm_hpc.study.words import Word

PLACES = ("study", "results_dir", "out")
FILTERS = FoldId._fields  # dataset, method, fold, variant


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
    def out(self) -> Path | None:
        """The folder of a rule."""
        return Path(self.places["out"].value) if "out" in self.places else None

    @property
    def name_a_sweep(self) -> bool:
        """Enough to know every fold, also those that have left nothing on disk."""
        if "variant" in self.filters:  # it is on disk that variants have names
            return False
        has_experiment = any(word.key == "experiment" for word in self.others)
        return has_experiment or {"dataset", "method"} <= self.filters.keys()

    @property
    def settings(self) -> tuple[Word, ...]:
        """Those that tell a variant: seed=2."""
        return tuple(word for word in self.others if word.key in variants.KEYS)


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

        keys = {word.key for word in sorted_words.settings}
        return _of_sweep(expand(list(words)), keys, "fold" in sorted_words.filters)
    return of_settings(on_disk(sorted_words), sorted_words.settings)


def _of_sweep(configs: Sequence[Config], keys: set[str], names_folds: bool) -> list[FoldRef]:
    """The folds of a sweep in every variant that their study has begun and that the words with
    these keys fit; what has never begun is named with the settings of the sweep."""
    found: dict[Path, FoldRef] = {}
    begun: dict[Path, _Begun] = {}
    for config in variants.placed(configs):
        (ref,) = evidence.of_sweep([config])
        root = ref.paths.study.root
        begun.setdefault(root, _Begun(root))
        there = begun[root].like(config, keys, names_folds) or [ref.id]
        for fold in there:
            paths = ref.paths.study.fold(fold)
            known = config if fold == ref.id else None
            if known or paths.folder not in found:
                found[paths.folder] = FoldRef(fold, paths, known)
    return list(found.values())


class _Begun:
    """The variants that a study has on disk."""

    def __init__(self, root: Path) -> None:
        self.memory = variants.read(root)
        self.places: dict[tuple[str, str], dict[str, None]] = {}
        for fold, _ in StudyPaths(root).folds_on_disk():
            self.places.setdefault(fold[:2], {})[fold.variant] = None

    def like(self, config: Config, keys: set[str], names_folds: bool) -> list[FoldId]:
        """This fold, or all folds, in every variant that agrees with the config in the keys."""
        found = []
        wanted = {k: v for k, v in variants.texts(variants.of_config(config)).items() if k in keys}
        for variant in self.places.get(config.id[:2], ()):
            fold = config.id._replace(variant=variant)
            said = self.memory.texts_of(fold)
            if wanted.items() <= said.items():
                count = int(said.get("folds", config.folds))
                numbers = [fold.fold] if names_folds else range(count)
                found += [fold._replace(fold=n) for n in numbers if n < count]
        return found


def of_settings(folds: Sequence[FoldRef], words: Sequence[Word]) -> list[FoldRef]:
    """The folds that have the settings which the words name."""
    if not words or not folds:
        return list(folds)
    memory = variants.read(folds[0].paths.study.root)
    found = [ref for ref in folds if _has(memory.texts_of(ref.id), words)]
    if not found:
        which = " ".join(word.text for word in words)
        raise UserError(f"no fold in {folds[0].paths.study.root} has {which}; `status` shows them")
    return found


def _has(settings: dict[str, str], words: Sequence[Word]) -> bool:
    return all(_is_named(settings.get(word.key), word) for word in words)


def _is_named(value: str | None, word: Word) -> bool:
    """A setting that is off is null in a name, and None to Hydra."""
    return value is None or word.names(value) or (value == "null" and word.names("None"))


def select_with_rules(words: Sequence[str]) -> tuple[list[FoldRef], list[FoldRef]]:
    """The folds that the words mean, and the rules; of `out=FOLDER` its rule, and no fold."""
    sorted_words = sort(words)
    if sorted_words.out is not None:
        return [], [_rule_in(sorted_words.out)]
    rules = [] if "fold" in sorted_words.filters else _rules_on_disk(sorted_words)
    if not rules:
        return select(words), []
    if sorted_words.name_a_sweep:
        folds = select(words)
    else:
        folds = of_settings(_folds_on_disk(sorted_words), sorted_words.settings)
    has_begun = any(ref.paths.folder.is_dir() for ref in folds)
    return folds if has_begun else [], rules


def _rules_on_disk(words: SortedWords) -> list[FoldRef]:
    return [ref for ref in evidence.rules_on_disk(words.study) if _fits(ref.id, words.filters)]


def _folds_on_disk(words: SortedWords) -> list[FoldRef]:
    return [ref for ref in evidence.on_disk(words.study) if _fits(ref.id, words.filters)]


def _rule_in(folder: Path) -> FoldRef:
    paths = RulePaths(folder)
    if not (paths.submission.exists() or paths.model.exists()):
        raise UserError(f"no rule in {folder}; expected the out=FOLDER that `fit` was given")
    submission = submissions.load(paths)
    if submission is None:
        return FoldRef(RuleId.of(folder.name, ""), paths)
    config = submission.config_then
    return FoldRef(RuleId.of(config.dataset.name, config.method.name.value), paths)


def on_disk(words: SortedWords) -> list[FoldRef]:
    """The folds of a study that have left something on disk and fit the filters."""
    found = _folds_on_disk(words)
    if not found and not StudyPaths(words.study).lock.exists():  # whose first fold is on its way
        which = " ".join(word.text for word in words.filters.values())
        raise UserError(
            f"nothing in {words.study}{' for ' + which if which else ''}; "
            "expected study=NAME and results_dir=FOLDER of a sweep, or dataset=NAME method=NAME"
        )
    return found


def _fits(fold: FoldId, filters: dict[str, Word]) -> bool:
    said = fold._replace(variant=fold.variant or PLAIN)._asdict()
    return all(word.names(str(said[key])) for key, word in filters.items())
