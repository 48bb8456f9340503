"""Submit unfinished folds again, with the settings of the time and what is to change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fsm_hpc.cluster import submissions
from fsm_hpc.cluster.watch import selection
from fsm_hpc.cluster.watch.fold_files import FoldRef
from fsm_hpc.errors import UserError
from fsm_hpc.study import variants
from fsm_hpc.study.compose import compose_any
from fsm_hpc.study.config import Config
from fsm_hpc.study.fold import load_asked
from fsm_hpc.study.recompose import Recomposer
from fsm_hpc.system.serialization import NewerFormatError


@dataclass(frozen=True, slots=True)
class Resumable:
    """What can go on, and what is to be said of it first."""

    configs: list[Config]
    unknown: list[FoldRef]  # nothing says what they were begun with
    broken: list[str]  # what their settings on disk name cannot be used, and why
    folds: list[FoldRef]


def configs(overrides: Sequence[str]) -> Resumable:
    """The configs of the folds on disk that the overrides choose, with the others applied."""
    asked = selection.sort(overrides)
    all_ = _begun(asked, overrides)
    choosing = [override for override in asked.settings if _differ(all_, override.key)]
    folds = selection.matching(all_, choosing)
    changes = [w.text for w in asked.others if w.key != "experiment" and w not in choosing]
    if changes:
        compose_any(changes)  # a mistake in them is told once, and not for every fold
    begun, broken = _all_begun_with(folds)
    recomposer = Recomposer(changes)
    found = Resumable([], [ref for ref, saved in begun if saved is None], broken, folds)
    for ref, saved in begun:
        if saved is None:
            continue
        try:
            config = _in_its_folder(ref, saved, recomposer.config(saved))
            load_asked(config)
        except UserError as error:
            found.broken.append(f"{ref.id}: {error}")
            continue
        found.configs.append(config)
    return found


def _begun(asked: selection.SortedOverrides, overrides: Sequence[str]) -> list[FoldRef]:
    """The folds that have begun, in all variants; what chooses among those is looked at later."""
    telling = {
        override.text for override in asked.settings if not override.key.startswith("dataset.")
    }
    rest = [override for override in overrides if override not in telling]
    folds = [ref for ref in selection.select(rest) if ref.paths.folder.is_dir()]
    if not folds:
        raise UserError(f"nothing to resume in {asked.study}: none of these folds has begun")
    return folds


def _differ(folds: Sequence[FoldRef], key: str) -> bool:
    """Whether the folds are told apart by a setting: an override with it chooses among them."""
    memory = variants.read(folds[0].paths.study.root)
    return len({memory.texts_of(ref.id).get(key) for ref in folds}) > 1


def _in_its_folder(ref: FoldRef, before: Config, after: Config) -> Config:
    """A fold that has no result yet goes on with what it has; else other settings are another."""
    settings = variants.of_config(after)
    then = variants.of_config(before)
    changed = {key for key in {**then, **settings} if then.get(key) != settings.get(key)}
    if not changed or (changed <= variants.GO_ON and not ref.paths.result.exists()):
        return replace(after, variant=ref.id.variant)
    return variants.assign_variants([after])[0]


def _all_begun_with(
    folds: Sequence[FoldRef],
) -> tuple[list[tuple[FoldRef, Config | None]], list[str]]:
    """The config of each fold, and why those of a newer version have none that can be used."""
    begun, broken = [], []
    for ref in folds:
        try:
            begun.append((ref, _begun_with(ref)))
        except NewerFormatError as error:
            broken.append(f"{ref.id}: {error}")
    return begun, broken


def _begun_with(ref: FoldRef) -> Config | None:
    """The config that a fold was begun with, in the folder where it is now."""
    submission = submissions.load(ref.paths)
    if submission is not None:
        study = ref.paths.study.root
        return replace(submission.config_then, results_dir=study.parent, study=study.name)
    return ref.config
