"""Which variant of a study a fold is: what differs from the settings that the study began with."""

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
from fsm_hpc.search.method import Method
from fsm_hpc.search.solvers.names import Encoding, SolverName
from fsm_hpc.study import fingerprint, result
from fsm_hpc.study.config import Config
from fsm_hpc.study.duplicates import without_duplicates
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.study.fold_id import ALL, FoldId
from fsm_hpc.system import files, serialization
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.serialization import NewerFormatError
from fsm_hpc.system.settings import fields_of

FORMAT = 3
LONGEST = 120  # characters of a folder's name
ANY = "surrogatepass"  # what is no text is a value like any other
Settings = dict[str, Any]  # by the key that sets each

OF_TABLE = (  # what else than its file makes a table another one
    *("target", "positive", "negative", "labels", "numeric", "boolean", "categorical", "ordered"),
    *("date", "drop", "true_values", "max_categories", "missing", "missing_values"),
    "zero_is_missing",
)
_TABLE_DEFAULTS = {
    one.key: None if one.default is MISSING else serialization.plain(one.default)
    for one in fields_of(DatasetSpec)
}
# Settings that tell variants apart, with the defaults of the program; a target has none.
_DEFAULTS: Settings = {
    **{key: value for key, value in fingerprint.DEFAULTS.items() if key != "method"},
    "solver": SolverName.PORTFOLIO.value,
    "solver.encoding": Encoding.FAST.value,
    **{f"dataset.{key}": value for key, value in _TABLE_DEFAULTS.items() if key in OF_TABLE},
}
KEYS = frozenset(_DEFAULTS)
# An unfinished scan goes on where one of these is another: its lengths stay what they are.
RESUMABLE_CHANGES = frozenset(
    [
        *("scan.patience", "scan.plateau", "scan.max_length", "method.trials"),
        *("solver", "solver.encoding"),
    ]
)
_BESIDE_FOLD = [one.key for one in fields_of(Config) if one.key not in ("fold", "variant")]


def of_config(config: Config) -> Settings:
    """All that makes a fold another one, by the key that sets it."""
    matters = fingerprint.settings_that_matter(config, "")
    finds_formula = config.method.name.finds_formula
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


@cache  # asked for every setting of thousands of folds
def _owned(key: str, dataset: str, method: str, solver: str | None) -> str:
    """Settings of a table, of a baseline or of a solver are stored for each of them."""
    owner = {"dataset": dataset, "method": method, "solver": solver}.get(key.partition(".")[0])
    return f"{key} of {owner}" if "." in key and owner else key


def _owned_keys(fold: FoldId, settings: Settings) -> Iterator[tuple[str, str]]:
    """Each key with the name that it is stored by."""
    solver = settings.get("solver")
    return ((key, _owned(key, fold.dataset, fold.method, solver)) for key in settings)


# ------------------------------------------------------------------------------------- its name


def name_of(differing: Settings) -> str:
    """A folder's name: `scan.patience=3+seed=2`; the same whoever asks, and of bounded length."""
    parts = [f"{key}={text_of(value)}" for key, value in sorted(differing.items())]
    name = "+".join(parts)
    if len(name) <= LONGEST:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:10]
    return f"{name[: LONGEST - 11]}~{digest}"


def text_of(value: Any) -> str:
    """A value in a name: letters, digits and what neither a shell nor a path minds."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (list, tuple)):
        return "~".join(map(text_of, value)) or "none"
    return quote(str(value), safe="", errors=ANY).replace("~", "%7E")


def texts(settings: Settings) -> dict[str, str]:
    """Settings as overrides write them."""
    return {key: unquote(text_of(value), errors=ANY) for key, value in settings.items()}


def parsed(name: str) -> dict[str, str]:
    """What a name says, as texts."""
    return dict(part.split("=", 1) for part in name.split("+") if "=" in part)


# -------------------------------------------------------------------------- defaults of a study


@dataclass(frozen=True)
class StudyDefaults:
    """study.json: the settings that a study began with, and its variants."""

    settings: Settings = field(default_factory=dict)
    variants: dict[str, Settings] = field(default_factory=dict)  # by name, in what they differ
    apart: dict[FoldId, Settings] = field(default_factory=dict)  # folds that differ from their name

    @cached_property
    def _apart_by_fold(self) -> dict[tuple[str, str, int], list[FoldId]]:
        found: dict[tuple[str, str, int], list[FoldId]] = {}
        for fold in self.apart:
            found.setdefault(fold[:3], []).append(fold)
        return found

    def with_defaults_from(self, folds: Iterable[tuple[FoldId, Settings]]) -> StudyDefaults:
        """With what is not known yet taken from these folds. Where they have several values, it is
        the program's default: the name of a variant does not depend on which value came first."""
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
        """The settings that are not those of the study."""
        return {
            key: settings[key]
            for key, owned in _owned_keys(fold, settings)
            if self.settings.get(owned, settings[key]) != settings[key]
        }

    def variant_of(self, fold: FoldId, settings: Settings) -> str:
        """The folder of a fold with these settings."""
        differing = self.differences(fold, settings)
        for there in self._apart_by_fold.get(fold[:3], ()):
            if self.apart[there] == differing:
                return there.variant
        stated, name = differing, name_of(differing)
        while (taken := self.apart.get(fold._replace(variant=name))) is not None:  # another one's
            stated = stated | {key: settings[key] for key in taken if key in settings}
            name = name_of(stated) if name_of(stated) != name else f"{name}+again=1"
        return name

    def texts_of(self, fold: FoldId) -> dict[str, str]:
        """The settings of a fold on disk as texts, for overrides to choose by."""
        named = parsed(fold.variant) if fold.variant not in self.variants else {}
        stored = {**self.variants.get(fold.variant, {}), **self.apart.get(fold, {})}
        differing = {key: unquote(text, errors=ANY) for key, text in named.items()} | texts(stored)
        solver = differing.get("solver", self.settings.get("solver"))
        owned = {key: _owned(key, fold.dataset, fold.method, solver) for key in KEYS}
        common = {key: self.settings[o] for key, o in owned.items() if o in self.settings}
        return {**texts(common), **differing}

    def with_folds(self, configs: Iterable[Config]) -> StudyDefaults:
        """With all that these folds, each in the variant that it has, are known by."""
        folds = _with_settings(configs)
        defaults = self.with_defaults_from((config.id, settings) for config, settings in folds)
        variants, apart = dict(self.variants), dict(self.apart)
        for config, settings in folds:
            differing = defaults.differences(config.id, settings)
            if config.variant:
                variants.setdefault(config.variant, differing)
            if variants.get(config.variant, {}) == differing:
                apart.pop(config.id, None)
            else:
                apart[config.id] = differing
        return StudyDefaults(defaults.settings, variants, apart)


def assign_variants(
    configs: Sequence[Config], known: Mapping[Path, StudyDefaults] | None = None
) -> list[Config]:
    """The configs, each with its variant of its study; `known`: `load_defaults`."""
    folds = _with_settings(configs)
    defaults = {}
    for root, before in (known or load_defaults(configs)).items():
        own = ((config.id, settings) for config, settings in folds if _root(config) == root)
        defaults[root] = before.with_defaults_from(own)
    return without_duplicates(
        [replace(one, variant=defaults[_root(one)].variant_of(one.id, its)) for one, its in folds]
    )


def _with_settings(configs: Iterable[Config]) -> list[tuple[Config, Settings]]:
    """Each config with its settings; the folds of a job share theirs."""
    known: dict[tuple[int, ...], Settings] = {}
    found = []
    for config in configs:
        key = tuple(id(getattr(config, name)) for name in _BESIDE_FOLD)
        if key not in known:
            known[key] = of_config(config)
        found.append((config, known[key]))
    return found


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
    seal: str | None = None  # checksum of the others: they decide which folds are variants


def read(root: Path) -> StudyDefaults:
    """The defaults of the study; one of an older version, or whose file is damaged, is known by its
    results."""
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
    if saved.seal not in (None, serialization.checksum(content)):  # older ones have none
        raise UnreadableError(f"{path.name} was changed since it was written")
    places = {FoldPaths(path.parent / name).id: value for name, value in saved.apart.items()}
    apart = {fold: value for fold, value in places.items() if fold is not None}
    return StudyDefaults(_with_legacy(saved.settings), saved.variants, apart)


def _with_legacy(settings: Settings) -> Settings:
    """A study that began before there was a setting began with what was done then."""
    legacy = fingerprint.legacy_of("scan.patience" in settings)
    common = {key: v for key, v in legacy.items() if _owned(key, "?", "?", "?") == key}
    return {**common, **settings} if settings else settings


def save_defaults(configs: Sequence[Config]) -> None:
    """Write down what these folds, which are about to begin, are known by."""
    configs = [config for config in configs if config.fold != ALL]  # which has its own defaults
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
        "apart": {str(fold): differing for fold, differing in defaults.apart.items()},
    }
    serialization.write(path, FORMAT, content, seal=serialization.checksum(content))


def _of_results(root: Path) -> StudyDefaults:
    """The settings that most of the plain folds have; folds with others are known to differ."""
    folds: dict[FoldId, Settings] = {}
    for fold, paths in StudyPaths(root).folds_on_disk():
        with suppress(OSError, NewerFormatError):  # the verdict on that fold tells it
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
    return replace(defaults, apart={fold: found for fold, found in apart.items() if found})


def of_result(done: result.FoldResult) -> Settings:
    finds_formula = Method(done.method).finds_formula
    settings = fingerprint.by_key(done.settings, finds_formula)
    return settings | ({"solver": done.solver} if finds_formula else {})
