"""What a results folder may decide: which settings are taken from it, and whose it is."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from fsm_hpc.cluster import arrays
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError
from fsm_hpc.study import hydra
from fsm_hpc.study.compose import compose_any
from fsm_hpc.study.config import ClusterSettings, Config
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.system import ownership

# The settings that describe a fold. Whatever is not here comes from the user's own config: what
# runs code on a node (cluster.setup, .python, .options), or imports a module (dataset.package).
FROM_DISK = {
    "dataset": {
        *("name", "target", "positive", "negative", "path", "labels", "file", "sha256", "url"),
        *("published_file", "published_sha256", "header", "separator", "decimal", "encoding"),
        *("infer", "numeric", "boolean", "categorical", "drop", "group", "true_values"),
        "weight",
        *("max_categories", "missing", "missing_values", "usual_missing_values"),
        *("zero_is_missing", "title", "creators", "doi", "source", "licence"),
    },
    "cluster": {
        *(
            "scheduler",
            "detect",
            "nodes",
            "cpus",
            "mem_gb",
            "memory_share",
            "timeout_h",
            "signal_delay_s",
        ),
        *("max_parallel", "max_retries", "partition", "account", "qos", "constraint"),
        *("mail_user", "mail_type", "folds_per_job"),
        "by",  # emptied before: it holds any other setting of the cluster, also what runs code
    },
}
SECTIONS_FROM_DISK = (
    *("method", "language", "objective", "rule", "cuts", "solver", "scan", "final", "fit", "out"),
    *("study", "results_dir", "data_dir"),
    *("allow_changed_data", "folds", "fold", "fold_kind", "seed", "validation_fraction"),
    "variant",
)


@dataclass(frozen=True, slots=True)
class Stored:
    """A fold's config from disk, with what only the user may say left as the user says it."""

    config: Config
    asks_for: tuple[str, ...] = ()  # `cluster.setup=[...]`: what the file would have run


class Own:
    """The user's own config, as far as a results folder has no say; each part is composed once."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = tuple(words)
        self._composed: dict[tuple[str, ...], Config] = {}

    def settings(self, saved: Config) -> dict[str, Any]:
        """All that no file may say, by key: `cluster.setup` and the like."""
        cluster, dataset = self._cluster(saved.cluster), self._dataset(saved.dataset)
        whole = self._compose(*self._words)
        known = {*FROM_DISK, *SECTIONS_FROM_DISK}
        said = {f.name: getattr(whole, f.name) for f in fields(Config) if f.name not in known}
        for section, part in (("cluster", cluster), ("dataset", dataset)):
            said |= {f"{section}.{name}": getattr(part, name) for name in _own_names(section)}
        return said

    def _cluster(self, saved: ClusterSettings) -> ClusterSettings:
        """The cluster of the words; without any, the one of the user's that runs the same code."""
        own = self._compose(*self._words).cluster
        if self._words or _code(own) == _code(saved):
            return own
        sites = (self._compose(f"cluster={name}").cluster for name in hydra.names_in("cluster"))
        return next((site for site in sites if _code(site) == _code(saved)), own)

    def _dataset(self, saved: DatasetSpec) -> DatasetSpec:
        """The dataset of the user's that is called so; an empty one where there is none."""
        nothing = DatasetSpec(saved.name, saved.target)
        names = _own_names("dataset")
        if all(getattr(saved, name) == getattr(nothing, name) for name in names):
            return nothing
        is_known = saved.name in hydra.names_in("dataset") and saved.name != "csv"
        return self._compose(f"dataset={saved.name}").dataset if is_known else nothing

    def _compose(self, *words: str) -> Config:
        if words not in self._composed:
            self._composed[words] = compose_any(words)
        return self._composed[words]


def stored(saved: Config, own: Own, given: Sequence[str]) -> Stored:
    """The config of a submission.json with the user's own settings where it has no say.

    `given` are the keys that the user has set in this very command.
    """
    config, asks_for = saved, []
    for key, mine in own.settings(saved).items():
        section, _, name = key.rpartition(".")
        holder = getattr(saved, section) if section else saved
        value = getattr(holder, name)
        if value and value != mine and not _is_said(key, value, given):
            asks_for.append(f"{key}={value!r}")
        part: Any = getattr(config, section) if section else config
        changed: Any = replace(part, **{name: mine})
        config = replace(config, **{section: changed}) if section else changed
    return Stored(config, tuple(asks_for))


def _is_said(key: str, value: Any, given: Sequence[str]) -> bool:
    """Whether the command says a setting, or its section, or every part of it, by itself."""
    section = key.rpartition(".")[0]
    parts = [f"{key}.{name}" for name in value] if isinstance(value, dict) else [key]
    return bool({section, key} & set(given)) or set(parts) <= set(given)


def _own_names(section: str) -> list[str]:
    kind = {"cluster": ClusterSettings, "dataset": DatasetSpec}[section]
    return sorted({f.name for f in fields(kind)} - FROM_DISK[section])


def _code(cluster: ClusterSettings) -> list[Any]:
    return [getattr(cluster, name) for name in _own_names("cluster")]


def refuse_shared(
    folds: Iterable[FoldPaths], command: str, studies: Iterable[StudyPaths] = ()
) -> None:
    """What others may write can name any process, job, setting or code; the user decides."""
    places: dict[Path, None] = {}
    for paths in folds:
        places |= dict.fromkeys([*_folders(paths), paths.submission, paths.attempt])
    for study in studies:
        outputs = sorted(study.submissions.glob("*/"))
        written = [output / name for output in outputs for name in (arrays.FILE, arrays.STATE)]
        folders = [study.root.parent, study.root, study.submissions, *outputs]
        places |= dict.fromkeys([*folders, *written])
    writers = ownership.other_writers(places)
    if writers:
        raise UserError(
            f"{writers}: {command} does what its files say; `chmod go-w` takes the right away, and "
            "--shared goes on in spite of it"
        )


def _folders(paths: FoldPaths) -> list[Path]:
    """From the results folder down to the fold's; a rule may be in any folder."""
    if paths.id is None:
        return [paths.folder.parent, paths.folder]
    study = paths.study.root
    between = [above for above in paths.folder.parents if study in above.parents]
    return [study.parent, study, *reversed(between), paths.folder]


@contextmanager
def written_by_others(allowed: bool) -> Iterator[None]:
    """Unless it is allowed, others may not write what is created meanwhile, jobs included."""
    before = os.umask(0)
    os.umask(before if allowed else before | stat.S_IWGRP | stat.S_IWOTH)
    try:
        yield
    finally:
        os.umask(before)
