"""Select the folds that the overrides of a command name: of a sweep, or on disk."""

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

LOCATIONS = ("study", "results_dir", "out")
FILTERS = FoldId._fields  # dataset, method, fold, variant


@dataclass(frozen=True, slots=True)
class SortedOverrides:
    """The overrides of a command: location of the study, filters of folds, and settings."""

    locations: dict[str, Override]
    filters: dict[str, Override]
    others: tuple[Override, ...]

    @property
    def study(self) -> Path:
        if self.out is not None:
            return ModelPaths(self.out).study.root
        name = self._location("study")
        FOLDER.check("study", name)
        return Path(self._location("results_dir")) / name

    def _location(self, key: str) -> str:
        given = self.locations.get(key)
        return given.only_value if given else str(keys.SETTINGS[key].default)

    @property
    def out(self) -> Path | None:
        """The folder of a rule."""
        return Path(self.locations["out"].only_value) if "out" in self.locations else None

    def refuse_rule(self, command: str) -> None:
        """Refuse out=FOLDER, for a command that works on folds only."""
        if "out" in self.locations:
            out = self.locations["out"].text
            raise UserError(f"{command}: expected folds, found {out}, a rule")

    def refuse_without_effect(self) -> None:
        """Refuse settings that select no fold."""
        for given in self.others:
            names_table = given.key.startswith("dataset.") and self.name_a_sweep
            if given not in self.settings and given.key != keys.EXPERIMENT and not names_table:
                raise UserError(
                    f"{given.key} does not select folds: omit {given.text}; use "
                    f"{', '.join(FILTERS)} or settings that create a variant, such as seed=2"
                )

    @property
    def name_a_sweep(self) -> bool:
        """Whether the overrides determine all folds, including those without files."""
        fold = self.filters.get("fold")
        if "variant" in self.filters or self.out is not None or (fold and fold.names("all")):
            return False  # names of variants and the fold of `fit` are known from files only
        has_experiment = any(override.key == "experiment" for override in self.others)
        return has_experiment or {"dataset", "method"} <= self.filters.keys()

    @property
    def settings(self) -> tuple[Override, ...]:
        """The settings that distinguish variants, such as seed=2."""
        return tuple(override for override in self.others if override.key in variants.KEYS)


def sort(overrides: Sequence[str]) -> SortedOverrides:
    """Sort the overrides of a command."""
    keys.check(overrides)
    parsed = [Override(override) for override in overrides]
    _refuse_signs(parsed)
    selecting = [override.key for override in parsed if override.key in LOCATIONS + FILTERS]
    for key in selecting:
        if selecting.count(key) > 1:
            raise UserError(f"{key} is given twice; for several values write {key}=A,B")
    return SortedOverrides(
        {override.key: override for override in parsed if override.key in LOCATIONS},
        {override.key: override for override in parsed if override.key in FILTERS},
        tuple(override for override in parsed if override.key not in LOCATIONS + FILTERS),
    )


def _refuse_signs(overrides: Sequence[Override]) -> None:
    """Refuse Hydra's + and ~; + is allowed for experiments and names that the user defines."""
    open_keys = tuple(f"{key}." for key in keys.open_keys())
    for override in overrides:
        may_be_added = override.key == keys.EXPERIMENT or override.key.startswith(open_keys)
        if override.text[0] in "+~" and not (may_be_added and override.text[0] == "+"):
            raise UserError(
                f"expected key=value, found {override.text}: write it without {override.text[0]}"
            )


def select_without_changes(overrides: Sequence[str], is_strict: bool = False) -> list[FoldRef]:
    """Like `select`, for a command that changes no settings.

    The overrides may be those of the submitted sweep; with `is_strict`, only those that select
    folds.
    """
    sorted_overrides = sort(overrides)
    beside_out = [text for text in overrides if not text.startswith("out=")]
    if sorted_overrides.out is not None and beside_out:
        raise UserError(f"out=FOLDER names one rule: omit {beside_out[0]}")
    if is_strict or not sorted_overrides.name_a_sweep:
        sorted_overrides.refuse_without_effect()
    return select(overrides)


def select(overrides: Sequence[str]) -> list[FoldRef]:
    """The folds of the sweep that the overrides name, else the matching folds on disk."""
    sorted_overrides = sort(overrides)
    if not sorted_overrides.name_a_sweep:
        return on_disk(sorted_overrides)
    from fsm_hpc.study.compose import expand  # slow to import, and not needed for folds on disk

    variant_keys = {override.key for override in sorted_overrides.settings}
    names_folds = "fold" in sorted_overrides.filters
    folds = _of_sweep(expand(list(overrides)), variant_keys, names_folds)
    return folds if names_folds or variant_keys else _with_fitted(folds)


def _with_fitted(folds: Sequence[FoldRef]) -> list[FoldRef]:
    """The folds of a sweep and the fold `all` of each dataset and method.

    Only the folds `all` if no other fold has begun.
    """
    candidates = {
        ref.paths.study.fold(ref.id._replace(fold=ALL, variant="")): None for ref in folds
    }
    fitted = [
        FoldRef(paths.id, paths) for paths in candidates if paths.id and paths.folder.is_dir()
    ]
    has_begun = not fitted or any(ref.paths.folder.is_dir() for ref in folds)
    return [*fitted, *(folds if has_begun else ())]


def _of_sweep(configs: Sequence[Config], keys: set[str], names_folds: bool) -> list[FoldRef]:
    """The folds of a sweep in every variant on disk that agrees with the overrides in these keys.

    A fold that has not begun has the variant of the sweep.
    """
    selected: dict[Path, FoldRef] = {}
    begun: dict[Path, _Begun] = {}
    for config in variants.assign_variants(configs):
        (ref,) = fold_files.of_sweep([config])
        root = ref.paths.study.root
        begun.setdefault(root, _Begun(root))
        matches = begun[root].matching(config, keys, names_folds) or [ref.id]
        for fold in matches:
            paths = ref.paths.study.fold(fold)
            known = config if fold == ref.id else None
            if known or paths.folder not in selected:
                selected[paths.folder] = FoldRef(fold, paths, known)
    return list(selected.values())


class _Begun:
    """The variants that a study has on disk."""

    def __init__(self, root: Path) -> None:
        self.defaults = variants.read(root)
        self.variants: dict[tuple[str, str], dict[str, None]] = {}
        numbered = (fold for fold, _ in StudyPaths(root).folds_on_disk() if fold.fold != ALL)
        for fold in numbered:
            self.variants.setdefault(fold[:2], {})[fold.variant] = None

    def matching(self, config: Config, keys: set[str], names_folds: bool) -> list[FoldId]:
        """This fold, or all folds, in every variant that agrees with the config in the keys."""
        folds: list[FoldId] = []
        wanted = {k: v for k, v in variants.texts(variants.of_config(config)).items() if k in keys}
        for variant in self.variants.get(config.id[:2], ()):
            fold = config.id._replace(variant=variant)
            settings = self.defaults.texts_of(fold)
            if wanted.items() <= settings.items():
                count = int(settings.get("folds", config.folds))
                numbers = [fold.fold] if names_folds else range(count)
                folds += [fold._replace(fold=n) for n in numbers if n < count]
        return folds


def on_disk(given: SortedOverrides) -> list[FoldRef]:
    """The folds of a study with files on disk that the overrides name."""
    study = given.study
    folds = [ref for ref in fold_files.on_disk(study) if given.out is None or ref.id.fold == ALL]
    filters = [*given.filters.values(), *given.settings]
    if StudyPaths(study).lock.exists():  # its first fold may be submitted now
        return [ref for ref, facts in _facts(folds, filters) if _fits(facts, filters)]
    if folds:
        return matching(folds, filters)
    if given.out is not None:
        raise UserError(_no_rule(ModelPaths(given.out)))
    raise UserError(
        f"no folds in {study}{_near(study)}; expected study=NAME and results_dir=FOLDER of a "
        "sweep, or dataset=NAME method=NAME"
    )


def _no_rule(paths: ModelPaths) -> str:
    if not (paths.model.exists() or FoldPaths(paths.folder).submission.exists()):
        return f"no rule in {paths.folder}; expected the out=FOLDER of `fit`"
    usable = f"; {paths.model} is still usable" if paths.model.exists() else ""
    return (
        f"{paths.folder} has no fold `all`: version 0.2 fitted its rule{usable}; "
        f"run `fit` again with out={paths.folder} to compute or continue it"
    )


def _near(study: Path) -> str:
    """Studies on disk with a similar name."""
    names = [path.name for path in study.parent.glob("*") if path.is_dir()]
    return "" if study.name in names else did_you_mean(study.name, names)


def matching(folds: Sequence[FoldRef], overrides: Sequence[Override]) -> list[FoldRef]:
    """The folds that the overrides name; an error if any listed value matches no fold."""
    pairs = _facts(folds, overrides)
    selected = [ref for ref, facts in pairs if _fits(facts, overrides)]
    unmatched = []
    for given in overrides:
        known = {text for _, facts in pairs for text in _spellings(facts.get(given.key))}
        missing = (value for value in given.listed if value not in known)
        unmatched += [
            f"{given.key}={value}{did_you_mean(value, sorted(known))}" for value in missing
        ]
    if folds and (unmatched or not selected):
        filters = "; ".join(unmatched) or " ".join(given.text for given in overrides)
        raise UserError(f"no folds in {folds[0].paths.study.root} match {filters}")
    return selected


Facts = Mapping[str, str]  # the values of a fold that overrides may name


def _facts(folds: Sequence[FoldRef], overrides: Sequence[Override]) -> list[tuple[FoldRef, Facts]]:
    """Dataset, method, fold and variant of each fold; its settings if overrides name some."""
    if not folds or not overrides:
        return [(ref, {}) for ref in folds]
    if all(given.key in FILTERS for given in overrides):
        return [(ref, _names(ref.id)) for ref in folds]
    defaults = variants.read(folds[0].paths.study.root)
    numbered = [ref for ref in folds if ref.id.fold != ALL]  # the fold `all` has no variant
    return [(ref, {**defaults.texts_of(ref.id), **_names(ref.id)}) for ref in numbered]


def _names(fold: FoldId) -> dict[str, str]:
    return fold._asdict() | {"fold": fold.part, "variant": fold.variant or PLAIN}


def _fits(facts: Facts, overrides: Sequence[Override]) -> bool:
    return all(any(map(given.names, _spellings(facts.get(given.key)))) for given in overrides)


def _spellings(value: str | None) -> tuple[str, ...]:
    """The texts of a value: null in the name of a variant is None in Hydra."""
    if value is None:
        return ()
    return ("null", "None") if value == "null" else (value,)
