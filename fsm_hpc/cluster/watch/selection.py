"""Which folds the overrides of a command mean: those of a sweep, or those that are on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fsm_hpc.cluster.watch import fold_files
from fsm_hpc.cluster.watch.fold_files import FoldRef
from fsm_hpc.errors import UserError, did_you_mean
from fsm_hpc.study import keys, variants
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import FoldPaths, ModelPaths, StudyPaths
from fsm_hpc.study.fold_id import ALL, PLAIN, FoldId
from fsm_hpc.study.overrides import Override
from fsm_hpc.system.settings import FOLDER

PLACES = ("study", "results_dir", "out")
FILTERS = FoldId._fields  # dataset, method, fold, variant


@dataclass(frozen=True, slots=True)
class SortedOverrides:
    """The overrides of a command, sorted into where, which and what else."""

    places: dict[str, Override]
    filters: dict[str, Override]
    others: tuple[Override, ...]

    @property
    def study(self) -> Path:
        if self.out is not None:
            return ModelPaths(self.out).study.root
        name = self._place("study")
        FOLDER.check("study", name)
        return Path(self._place("results_dir")) / name

    def _place(self, key: str) -> str:
        given = self.places.get(key)
        return given.only_value if given else str(keys.SETTINGS[key].default)

    @property
    def out(self) -> Path | None:
        """The folder of a rule."""
        return Path(self.places["out"].only_value) if "out" in self.places else None

    def refuse_rule(self, command: str) -> None:
        """For a command that works on folds only."""
        if "out" in self.places:
            raise UserError(f"{command}: expected folds, found {self.places['out'].text}, a rule")

    def refuse_without_effect(self) -> None:
        """Refuse settings that choose no fold."""
        for given in self.others:
            names_table = given.key.startswith("dataset.") and self.name_a_sweep
            if given not in self.settings and given.key != keys.EXPERIMENT and not names_table:
                raise UserError(
                    f"{given.key} does not choose folds: leave {given.text} out; folds are chosen "
                    f"by {', '.join(FILTERS)} and by settings that make a variant, as seed=2"
                )

    @property
    def name_a_sweep(self) -> bool:
        """Enough to know every fold, also those that have left nothing on disk."""
        fold = self.filters.get("fold")
        if "variant" in self.filters or self.out is not None or (fold and fold.names("all")):
            return False  # variants have names, and `fit` its fold, on disk only
        has_experiment = any(override.key == "experiment" for override in self.others)
        return has_experiment or {"dataset", "method"} <= self.filters.keys()

    @property
    def settings(self) -> tuple[Override, ...]:
        """Those that tell a variant: seed=2."""
        return tuple(override for override in self.others if override.key in variants.KEYS)


def sort(overrides: Sequence[str]) -> SortedOverrides:
    """Sort the overrides of a command."""
    keys.check(overrides)
    read = [Override(override) for override in overrides]
    _refuse_signs(read)
    chosen = [override.key for override in read if override.key in PLACES + FILTERS]
    for key in chosen:
        if chosen.count(key) > 1:
            raise UserError(f"{key} is given twice; several values are written {key}=A,B")
    return SortedOverrides(
        {override.key: override for override in read if override.key in PLACES},
        {override.key: override for override in read if override.key in FILTERS},
        tuple(override for override in read if override.key not in PLACES + FILTERS),
    )


def _refuse_signs(overrides: Sequence[Override]) -> None:
    """Hydra's + adds an experiment or a name that the user gives; nothing else is added here."""
    open_keys = tuple(f"{key}." for key in keys.open_keys())
    for override in overrides:
        may_be_added = override.key == keys.EXPERIMENT or override.key.startswith(open_keys)
        if override.text[0] in "+~" and not (may_be_added and override.text[0] == "+"):
            raise UserError(
                f"expected key=value, found {override.text}: write it without {override.text[0]}"
            )


def select_without_changes(overrides: Sequence[str], is_strict: bool = False) -> list[FoldRef]:
    """Like `select`, for a command that changes no settings.

    A sweep may be named as it was submitted; `is_strict`: by what chooses folds only.
    """
    sorted_overrides = sort(overrides)
    beside_out = [text for text in overrides if not text.startswith("out=")]
    if sorted_overrides.out is not None and beside_out:
        raise UserError(f"out=FOLDER names one rule: leave {beside_out[0]} out")
    if is_strict or not sorted_overrides.name_a_sweep:
        sorted_overrides.refuse_without_effect()
    return select(overrides)


def select(overrides: Sequence[str]) -> list[FoldRef]:
    """The folds of the sweep that the overrides name, else those on disk that they fit."""
    sorted_overrides = sort(overrides)
    if not sorted_overrides.name_a_sweep:
        return on_disk(sorted_overrides)
    from fsm_hpc.study.compose import expand  # Hydra takes a while; folds on disk do without

    telling = {override.key for override in sorted_overrides.settings}
    names_folds = "fold" in sorted_overrides.filters
    folds = _of_sweep(expand(list(overrides)), telling, names_folds)
    return folds if names_folds or telling else _with_fitted(folds)


def _with_fitted(folds: Sequence[FoldRef]) -> list[FoldRef]:
    """The folds of a sweep with the fold `all` of each dataset and method; only the latter where
    no other has begun."""
    places = {ref.paths.study.fold(ref.id._replace(fold=ALL, variant="")): None for ref in folds}
    fitted = [FoldRef(paths.id, paths) for paths in places if paths.id and paths.folder.is_dir()]
    has_begun = not fitted or any(ref.paths.folder.is_dir() for ref in folds)
    return [*fitted, *(folds if has_begun else ())]


def _of_sweep(configs: Sequence[Config], keys: set[str], names_folds: bool) -> list[FoldRef]:
    """The folds of a sweep in every variant that their study has begun and that the overrides with
    these keys fit; what has never begun is named with the settings of the sweep."""
    found: dict[Path, FoldRef] = {}
    begun: dict[Path, _Begun] = {}
    for config in variants.assign_variants(configs):
        (ref,) = fold_files.of_sweep([config])
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
        numbered = (fold for fold, _ in StudyPaths(root).folds_on_disk() if fold.fold != ALL)
        for fold in numbered:
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


def on_disk(asked: SortedOverrides) -> list[FoldRef]:
    """The folds of a study that have left something on disk, and that the overrides name."""
    study = asked.study
    folds = [ref for ref in fold_files.on_disk(study) if asked.out is None or ref.id.fold == ALL]
    choosing = [*asked.filters.values(), *asked.settings]
    if StudyPaths(study).lock.exists():  # whose first fold may be on its way
        return [ref for ref, facts in _facts(folds, choosing) if _fits(facts, choosing)]
    if folds:
        return matching(folds, choosing)
    if asked.out is not None:
        raise UserError(_no_rule(ModelPaths(asked.out)))
    raise UserError(
        f"nothing in {study}{_near(study)}; expected study=NAME and results_dir=FOLDER of a sweep, "
        "or dataset=NAME method=NAME"
    )


def _no_rule(paths: ModelPaths) -> str:
    if not (paths.model.exists() or FoldPaths(paths.folder).submission.exists()):
        return f"no rule in {paths.folder}; expected the out=FOLDER that `fit` was given"
    usable = f"; {paths.model} can be used as before" if paths.model.exists() else ""
    return (
        f"{paths.folder} has no fold `all`: version 0.2 fitted its rule{usable}; "
        f"run `fit` again with out={paths.folder} to compute or continue it"
    )


def _near(study: Path) -> str:
    """Studies on disk whose names are like the one that was given."""
    names = [path.name for path in study.parent.glob("*") if path.is_dir()]
    return "" if study.name in names else did_you_mean(study.name, names)


def matching(folds: Sequence[FoldRef], overrides: Sequence[Override]) -> list[FoldRef]:
    """The folds that the overrides name; each value has to be there, also where others of a list
    are."""
    facts = _facts(folds, overrides)
    found = [ref for ref, its in facts if _fits(its, overrides)]
    unmatched = []
    for one in overrides:
        known = {text for _, its in facts for text in _spellings(its.get(one.key))}
        missing = (value for value in one.listed if value not in known)
        unmatched += [f"{one.key}={value}{did_you_mean(value, sorted(known))}" for value in missing]
    if folds and (unmatched or not found):
        which = "; ".join(unmatched) or " ".join(one.text for one in overrides)
        raise UserError(f"nothing in {folds[0].paths.study.root} for {which}")
    return found


Facts = Mapping[str, str]  # what an override may name of a fold


def _facts(folds: Sequence[FoldRef], overrides: Sequence[Override]) -> list[tuple[FoldRef, Facts]]:
    """Dataset, method, fold and variant of each fold; its settings where they are asked for."""
    if not folds or not overrides:
        return [(ref, {}) for ref in folds]
    if all(one.key in FILTERS for one in overrides):
        return [(ref, _names(ref.id)) for ref in folds]
    memory = variants.read(folds[0].paths.study.root)
    numbered = [ref for ref in folds if ref.id.fold != ALL]  # the others have no variant's settings
    return [(ref, {**memory.texts_of(ref.id), **_names(ref.id)}) for ref in numbered]


def _names(fold: FoldId) -> dict[str, str]:
    return fold._asdict() | {"fold": fold.part, "variant": fold.variant or PLAIN}


def _fits(facts: Facts, overrides: Sequence[Override]) -> bool:
    return all(any(map(one.names, _spellings(facts.get(one.key)))) for one in overrides)


def _spellings(value: str | None) -> tuple[str, ...]:
    """A setting that is off is null in a name, and None to Hydra."""
    if value is None:
        return ()
    return ("null", "None") if value == "null" else (value,)
