"""Submit unfinished folds again, with the settings of the time and what is to change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from fsm_hpc.cluster import records
from fsm_hpc.cluster.watch import selection
from fsm_hpc.cluster.watch.evidence import Target
from fsm_hpc.errors import UserError
from fsm_hpc.study.config import Config, build

GROUPS = ("solver", "cluster")


def configs(words: Sequence[str]) -> tuple[list[Config], list[Target]]:
    """The configs of the folds that are on disk and fit the words, with the other words applied.

    Also the folds that cannot go on, as nothing says what they were begun with.
    """
    asked = selection.sort(words)
    if asked.name_a_sweep:
        targets = [t for t in selection.select(words) if t.paths.folder.is_dir()]
        changes = [word for word in asked.others if not word.lstrip("+").startswith("experiment=")]
    else:
        targets, changes = selection.on_disk(asked), list(asked.others)
    if not targets:
        raise UserError(f"nothing to resume in {asked.study}: none of these folds has begun")
    sections = _sections([word for word in changes if _key(word) in GROUPS])
    values = [word for word in changes if _key(word) not in GROUPS]
    stored = [(target, _stored(target)) for target in targets]
    found = [changed(config, sections, values) for _, config in stored if config is not None]
    return found, [target for target, config in stored if config is None]


def _stored(target: Target) -> Config | None:
    """The config that a fold was begun with, in the folder where it is now."""
    submission = records.load_submission(target.paths)
    if submission is not None:
        study = target.paths.study.root
        return replace(submission.config_then, results_dir=study.parent, study=study.name)
    return target.config


def _sections(words: Sequence[str]) -> dict[str, Any]:
    """`solver=native` stands for everything that conf/solver/native.yaml says."""
    if not words:
        return {}
    from fsm_hpc.study.compose import compose

    composed = compose(["dataset=bank", "method=pivot", *words])
    return {_key(word): getattr(composed, _key(word)) for word in words}


def changed(config: Config, sections: dict[str, Any], words: Sequence[str]) -> Config:
    """The config with other groups and values."""
    from omegaconf import OmegaConf

    changes = OmegaConf.from_dotlist([word.lstrip("+") for word in words])
    merged = OmegaConf.merge(replace(config, **sections).to_dict(), changes)
    return build(Config, cast(dict[str, Any], OmegaConf.to_container(merged)))


def _key(word: str) -> str:
    return word.partition("=")[0].lstrip("+")
