"""Submit unfinished folds again, with the settings of the time and what is to change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fsm_hpc.cluster import submissions
from fsm_hpc.cluster.watch import selection
from fsm_hpc.cluster.watch.evidence import FoldRef
from fsm_hpc.errors import UserError
from fsm_hpc.study import hydra
from fsm_hpc.study.config import Config, build
from fsm_hpc.study.words import Word

GROUPS = ("solver", "cluster")


def configs(words: Sequence[str]) -> tuple[list[Config], list[FoldRef]]:
    """The configs of the folds that are on disk and fit the words, with the other words applied.

    Also the folds that cannot go on, as nothing says what they were begun with.
    """
    asked = selection.sort(words)
    if asked.name_a_sweep:
        folds = [ref for ref in selection.select(words) if ref.paths.folder.is_dir()]
    else:
        folds = selection.on_disk(asked)
    if not folds:
        raise UserError(f"nothing to resume in {asked.study}: none of these folds has begun")
    changes = [word for word in asked.others if word.key != "experiment"]
    sections = _sections([word for word in changes if word.key in GROUPS])
    values = [word.text for word in changes if word.key not in GROUPS]
    stored = [(ref, _stored(ref)) for ref in folds]
    found = [changed(config, sections, values) for _, config in stored if config is not None]
    return found, [ref for ref, config in stored if config is None]


def _stored(ref: FoldRef) -> Config | None:
    """The config that a fold was begun with, in the folder where it is now."""
    submission = submissions.load(ref.paths)
    if submission is not None:
        study = ref.paths.study.root
        return replace(submission.config_then, results_dir=study.parent, study=study.name)
    return ref.config


def _sections(words: Sequence[Word]) -> dict[str, Any]:
    """`solver=native` stands for everything that conf/solver/native.yaml says."""
    if not words:
        return {}
    from fsm_hpc.study.compose import compose_any

    composed = compose_any([word.text for word in words])
    return {word.key: getattr(composed, word.key) for word in words}


def changed(config: Config, sections: dict[str, Any], words: Sequence[str]) -> Config:
    """The config with other groups and values."""
    values = replace(config, **sections).to_dict()
    return build(Config, hydra.updated(values, words)) if words else build(Config, values)
