"""Submit unfinished folds again, with their stored settings and the changes of a command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fsm_hpc.cluster import arrays, submissions
from fsm_hpc.cluster.arrays import ArrayRecords
from fsm_hpc.cluster.watch import selection
from fsm_hpc.cluster.watch.fold_files import FoldRef
from fsm_hpc.errors import UserError
from fsm_hpc.study import variants
from fsm_hpc.study.compose import compose_any
from fsm_hpc.study.config import Config
from fsm_hpc.study.fold import load_table
from fsm_hpc.study.recompose import Recomposer, changed_settings


@dataclass(frozen=True, slots=True)
class Resumable:
    """Folds to submit again, and those that cannot be."""

    configs: list[Config]
    unknown: list[FoldRef]  # without stored settings
    broken: list[str]  # messages about settings that cannot be used
    folds: list[FoldRef]


def configs(overrides: Sequence[str]) -> Resumable:
    """The configs of the folds on disk that the overrides choose, with the others applied."""
    given = selection.sort(overrides)
    all_ = _begun(given, overrides)
    choosing = [override for override in given.settings if _differ(all_, override.key)]
    folds = selection.matching(all_, choosing)
    changes = [w.text for w in given.others if w.key != "experiment" and w not in choosing]
    if changes:
        compose_any(changes)  # reports a mistake in them once, and not for every fold
    resumable = Resumable([], [], [], folds)
    resumed = _Resumed(Recomposer(changes))
    records = arrays.records(folds[0].paths.study) if folds else ArrayRecords()
    for ref in folds:
        try:
            if (saved := _begun_with(ref, records)) is None:
                resumable.unknown.append(ref)
            else:
                resumable.configs.append(resumed.config(ref, saved))
        except UserError as error:  # also of files that a newer version wrote
            resumable.broken.append(f"{ref.id}: {error}")
    return resumable


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


@dataclass(slots=True)
class _Resumed:
    """Composes folds anew; those that differ in their number only are composed once."""

    recomposer: Recomposer
    _before: Config | None = None  # of the fold before, without its number
    _after: Config | None = None
    _changed: frozenset[str] = frozenset()

    def config(self, ref: FoldRef, saved: Config) -> Config:
        """A fold without a result goes on with what it has; else other settings are another."""
        before = replace(saved, fold=0)
        if before != self._before or self._after is None:
            self._compose(before)
        assert self._after is not None
        after = replace(self._after, fold=saved.fold, variant=ref.id.variant)
        goes_on = self._changed <= variants.RESUMABLE_CHANGES and not ref.paths.result.exists()
        return after if not self._changed or goes_on else variants.assign_variants([after])[0]

    def _compose(self, before: Config) -> None:
        self._before, self._after = before, None
        after = self.recomposer.config(before)
        load_table(after)
        self._after, self._changed = after, frozenset(changed_settings(before, after))


def _begun_with(ref: FoldRef, records: ArrayRecords) -> Config | None:
    """The config that a fold was begun with, in the folder where it is now."""
    submission = records.newest(ref.paths, submissions.load(ref.paths))
    if submission is not None:
        study, config = ref.paths.study.root, submission.config_then
        if config.id._replace(variant=ref.id.variant) != ref.id:
            raise UserError(f"its array has the settings of another fold: {config.id}")
        out = config.out and study.parent  # of the fold `all`
        return replace(config, results_dir=study.parent, study=study.name, out=out)
    return ref.config
