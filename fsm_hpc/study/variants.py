"""Variants: folds with other settings than those that their study started with."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError
from fsm_hpc.search.method import Method
from fsm_hpc.search.solvers.names import Encoding, SolverName
from fsm_hpc.study import fingerprint, result
from fsm_hpc.study.building import differing
from fsm_hpc.study.config import Config, OncePerJob
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.study.fold_id import ALL, FoldId
from fsm_hpc.system import files, serialization
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.serialization import NewerFormatError
from fsm_hpc.system.settings import fields_of

FORMAT = 3
LONGEST = 120  # characters of the name of a folder
ANY = "surrogatepass"  # bytes that are no text are valid in values
Settings = dict[str, Any]  # by key

OF_TABLE = (  # settings that change a table, besides its file
    *("target", "positive", "negative", "labels", "numeric", "boolean", "categorical", "ordered"),
    *("date", "drop", "true_values", "max_categories", "missing", "missing_values"),
    "zero_is_missing",
)
_TABLE_DEFAULTS = {
    setting.key: None if setting.default is MISSING else serialization.plain(setting.default)
    for setting in fields_of(DatasetSpec)
}
# The settings that distinguish variants, with their defaults; a target has none.
_DEFAULTS: Settings = {
    **{key: value for key, value in fingerprint.DEFAULTS.items() if key != "method"},
    "solver": SolverName.PORTFOLIO.value,
    "solver.encoding": Encoding.FAST.value,
    **{f"dataset.{key}": value for key, value in _TABLE_DEFAULTS.items() if key in OF_TABLE},
}
KEYS = frozenset(_DEFAULTS)
# An unfinished scan continues after a change of these, which keep the finished lengths valid.
RESUMABLE_CHANGES = frozenset(
    [
        *("scan.patience", "scan.plateau", "scan.max_length", "method.trials"),
        *("solver", "solver.encoding"),
    ]
)


def of_config(config: Config) -> Settings:
    """The settings that distinguish variants."""
    finds_formula = config.method.name.finds_formula
    matters = fingerprint.settings_that_matter(config, "")
    settings = fingerprint.by_key(matters, finds_formula)
    if finds_formula:
        options = {f"solver.{k}": v for k, v in config.solver.options.items()}
        settings["solver"] = config.solver.name.value
        settings |= {k: getattr(v, "value", v) for k, v in options.items() if k in KEYS}
    return settings | _of_table(config.dataset)


def _of_table(spec: DatasetSpec) -> Settings:
    values = {name: serialization.plain(getattr(spec, name)) for name in OF_TABLE}
    usual = map(str, spec.usual_missing_values)
    values["missing_values"] = [v for v in spec.missing_values if v not in set(usual)]
    values["labels"] = spec.labels and str(Path(spec.labels).absolute())
    return {f"dataset.{name}": value for name, value in values.items()}


@cache  # called for every setting of thousands of folds
def _owned(key: str, dataset: str, method: str, solver: str | None) -> str:
    """The name in study.json: settings of datasets, methods and solvers are stored for each."""
    owner = {"dataset": dataset, "method": method, "solver": solver}.get(key.partition(".")[0])
    return f"{key} of {owner}" if "." in key and owner else key


def _owned_keys(fold: FoldId, settings: Settings) -> Iterator[tuple[str, str]]:
    """Each key with its name in study.json."""
    solver = settings.get("solver")
    return ((key, _owned(key, fold.dataset, fold.method, solver)) for key in settings)


# ---------------------------------------------------------------------------- names of variants


def name_of(settings: Settings) -> str:
    """The name of a folder, of bounded length: `scan.patience=3+seed=2`."""
    parts = [f"{key}={text_of(value)}" for key, value in sorted(settings.items())]
    name = "+".join(parts)
    if len(name) <= LONGEST:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:10]
    return f"{name[: LONGEST - 11]}~{digest}"


def text_of(value: Any) -> str:
    """A value in a name, with characters that need no quotes in a shell or path."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (list, tuple)):
        return "~".join(map(text_of, value)) or "none"
    return quote(str(value), safe="", errors=ANY).replace("~", "%7E")


def texts(settings: Settings) -> dict[str, str]:
    """The settings as texts, as overrides write them."""
    return {key: unquote(text_of(value), errors=ANY) for key, value in settings.items()}


def parsed(name: str) -> dict[str, str]:
    """The settings in a name, as texts."""
    return dict(part.split("=", 1) for part in name.split("+") if "=" in part)


# -------------------------------------------------------------------------- defaults of a study


@dataclass(frozen=True)
class StudyDefaults:
    """study.json: the settings that a study started with, and its variants."""

    settings: Settings = field(default_factory=dict)
    variants: dict[str, Settings] = field(default_factory=dict)  # by name, differing settings
    # differing settings of folds whose variant name does not state them
    apart: dict[FoldId, Settings] = field(default_factory=dict)

    @cached_property
    def _apart_by_fold(self) -> dict[tuple[str, str, int], list[FoldId]]:
        groups: dict[tuple[str, str, int], list[FoldId]] = {}
        for fold in self.apart:
            groups.setdefault(fold[:3], []).append(fold)
        return groups

    def with_defaults_from(self, folds: Iterable[tuple[FoldId, Settings]]) -> StudyDefaults:
        """Add settings of these folds that are not known yet. If they have several values, take the
        default of the program: names of variants do not depend on the order of values."""
        new: Settings = {}
        for fold, settings in folds:
            named = parsed(fold.variant)
            for key, owned in _owned_keys(fold, settings):
                if owned in self.settings:
                    continue
                if new.setdefault(owned, settings[key]) != settings[key] or key in named:
                    new[owned] = _DEFAULTS[key]
        return replace(self, settings={**self.settings, **new}) if new else self

    def differences(self, fold: FoldId, settings: Settings) -> Settings:
        """The settings that differ from those of the study."""
        return {
            key: settings[key]
            for key, owned in _owned_keys(fold, settings)
            if self.settings.get(owned, settings[key]) != settings[key]
        }

    def variant_of(self, fold: FoldId, settings: Settings) -> str:
        """The name of the variant of a fold with these settings."""
        stated = self.differences(fold, settings)
        for other in self._apart_by_fold.get(fold[:3], ()):
            if self.apart[other] == stated:
                return other.variant
        name = name_of(stated)
        while (taken := self.apart.get(fold._replace(variant=name))) is not None:
            stated = stated | {key: settings[key] for key in taken if key in settings}
            name = name_of(stated) if name_of(stated) != name else f"{name}+again=1"
        return name

    def texts_of(self, fold: FoldId) -> dict[str, str]:
        """The settings of a fold on disk as texts, to select folds with overrides."""
        named = parsed(fold.variant) if fold.variant not in self.variants else {}
        stored = {**self.variants.get(fold.variant, {}), **self.apart.get(fold, {})}
        own = {key: unquote(text, errors=ANY) for key, text in named.items()} | texts(stored)
        solver = own.get("solver", self.settings.get("solver"))
        owned = {key: _owned(key, fold.dataset, fold.method, solver) for key in KEYS}
        common = {key: self.settings[o] for key, o in owned.items() if o in self.settings}
        return {**texts(common), **own}

    def with_folds(self, configs: Iterable[Config]) -> StudyDefaults:
        """Add the settings of these folds, each with its assigned variant."""
        folds = _with_settings(configs)
        defaults = self.with_defaults_from((config.id, settings) for config, settings in folds)
        variants, apart = dict(self.variants), dict(self.apart)
        for config, settings in folds:
            own = defaults.differences(config.id, settings)
            if config.variant:
                variants.setdefault(config.variant, own)
            if variants.get(config.variant, {}) == own:
                apart.pop(config.id, None)
            else:
                apart[config.id] = own
        return StudyDefaults(defaults.settings, variants, apart)


def assign_variants(
    configs: Sequence[Config], known: Mapping[Path, StudyDefaults] | None = None
) -> list[Config]:
    """The configs with their variants; `known`: the result of `load_defaults`."""
    folds = _with_settings(configs)
    defaults = {}
    for root, before in (known or load_defaults(configs)).items():
        own = ((config.id, settings) for config, settings in folds if _root(config) == root)
        defaults[root] = before.with_defaults_from(own)
    return without_duplicates(
        replace(config, variant=defaults[_root(config)].variant_of(config.id, settings))
        for config, settings in folds
    )


def without_duplicates(configs: Iterable[Config]) -> list[Config]:
    """Every fold once; refuses two different configs for one folder."""
    folds: dict[tuple[Path, FoldId], Config] = {}
    for config in configs:
        first = folds.setdefault((_root(config), config.id), config)
        if first != config and (pairs := list(differing(_used(first), _used(config)))):
            changes = ", ".join(f"{key} ({value} and {other})" for key, value, other in pairs)
            raise UserError(
                f"two jobs for the folder {_root(config)}/{config.id}: they differ only in "
                f"{changes}, which does not create a variant; use one value, or study=NAME"
            )
    return list(folds.values())


def _used(config: Config) -> dict[str, Any]:
    """The settings that have an effect; a baseline does not use those of the search."""
    values = config.to_dict()
    if not config.method.name.finds_formula:
        values |= {"solver": {"threads": config.solver.threads}, "scan": None, "final": None}
    return values


def _with_settings(configs: Iterable[Config]) -> list[tuple[Config, Settings]]:
    """Each config with its settings, which the folds of a job share."""
    settings = OncePerJob(of_config)
    return [(config, settings(config)) for config in configs]


def load_defaults(configs: Iterable[Config]) -> dict[Path, StudyDefaults]:
    """The defaults of the studies of these folds."""
    return {root: read(root) for root in dict.fromkeys(map(_root, configs))}


def _root(config: Config) -> Path:
    return config.results_dir / config.study


# -------------------------------------------------------------------------------------- on disk


@dataclass(frozen=True, slots=True)
class _SavedSettings:
    settings: Settings
    variants: dict[str, Settings]
    apart: dict[str, Settings]
    seal: str | None = None  # checksum of the other fields


def read(root: Path) -> StudyDefaults:
    """The defaults of the study; from its results if study.json is missing or damaged."""
    try:
        return _read(StudyPaths(root).settings) or _of_results(root)
    except UnreadableError as error:
        if error.is_newer:
            raise
        return _of_results(root)


def _read(path: Path) -> StudyDefaults | None:
    saved = serialization.load(_SavedSettings, path, FORMAT)
    if saved is None:
        return None
    content = {"settings": saved.settings, "variants": saved.variants, "apart": saved.apart}
    if saved.seal not in (None, serialization.checksum(content)):  # None: written by version 0.2
        raise UnreadableError(f"{path.name} was changed since it was written")
    folds = {FoldPaths(path.parent / name).id: value for name, value in saved.apart.items()}
    apart = {fold: value for fold, value in folds.items() if fold is not None}
    return StudyDefaults(_with_legacy(saved.settings), saved.variants, apart)


def _with_legacy(settings: Settings) -> Settings:
    """Add the legacy defaults of settings that are newer than the study."""
    legacy = fingerprint.legacy_of("scan.patience" in settings)
    common = {key: v for key, v in legacy.items() if _owned(key, "?", "?", "?") == key}
    return {**common, **settings} if settings else settings


def save_defaults(configs: Sequence[Config]) -> None:
    """Add the settings of these folds, which are about to start, to study.json."""
    configs = [config for config in configs if config.fold != ALL]  # which has no variants
    for root, before in load_defaults(configs).items():
        defaults = before.with_folds(config for config in configs if _root(config) == root)
        path = StudyPaths(root).settings
        if defaults != before or not path.exists():
            files.quarantine_if_invalid(path, _read)
            _write(path, defaults)


def _write(path: Path, defaults: StudyDefaults) -> None:
    content = {
        "settings": defaults.settings,
        "variants": defaults.variants,
        "apart": {str(fold): settings for fold, settings in defaults.apart.items()},
    }
    serialization.write(path, FORMAT, content, seal=serialization.checksum(content))


def _of_results(root: Path) -> StudyDefaults:
    """The most frequent settings of the plain folds; `apart`: folds with others."""
    folds: dict[FoldId, Settings] = {}
    for fold, paths in StudyPaths(root).folds_on_disk():
        with suppress(OSError, NewerFormatError):  # reported as the state of that fold
            is_plain = not fold.variant and fold.fold != ALL
            done = result.load(paths.result, fold) if is_plain else None
            if done is not None:
                folds[fold] = of_result(done)
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for fold, settings in folds.items():
        for key, owned in _owned_keys(fold, settings):
            counts[owned][json.dumps(settings[key])] += 1
    most = {owned: json.loads(count.most_common(1)[0][0]) for owned, count in counts.items()}
    defaults = StudyDefaults(most)
    apart = {fold: defaults.differences(fold, settings) for fold, settings in folds.items()}
    return replace(defaults, apart={fold: settings for fold, settings in apart.items() if settings})


def of_result(done: result.FoldResult) -> Settings:
    finds_formula = Method(done.method).finds_formula
    settings = fingerprint.by_key(done.settings, finds_formula)
    return settings | ({"solver": done.solver} if finds_formula else {})
