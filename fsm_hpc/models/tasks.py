"""The rules that one `fit` searches: one for two classes, one for each class of more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import quote

import numpy as np

from fsm_hpc.data.dataset import Dataset
from fsm_hpc.data.folds import FoldRows, fold_rows
from fsm_hpc.errors import UserError
from fsm_hpc.models.combine import Places
from fsm_hpc.search.problem import Problem
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import FoldPaths, ModelPaths, StudyPaths
from fsm_hpc.study.fold import (
    against_rest,
    fold_paths,
    load_dataset,
    problem_of,
    several_classes,
)
from fsm_hpc.study.fold_id import ALL


@dataclass(frozen=True)
class ClassTask:
    """One class against the others, with its table and its folds."""

    config: Config  # of the fold `all`
    dataset: Dataset
    study: StudyPaths  # of its cross-validation

    @property
    def paths(self) -> FoldPaths:
        return fold_paths(self.config)

    @cached_property
    def fitted(self) -> Problem:
        """The problem on all rows."""
        return problem_of(self.dataset, self.config, self.fold_rows(ALL).fitted)

    def fold_config(self, number: int) -> Config:
        """The fold `all`, or one of the cross-validation."""
        if number == ALL:
            return self.config
        root, folds = self.study.root, self.config.fit.folds
        own = {"results_dir": root.parent, "study": root.name, "folds": folds, "fold": number}
        return replace(self.config, **own)  # type: ignore[arg-type]

    def fold_rows(self, number: int) -> FoldRows:
        folding = self.fold_config(number).folding
        return fold_rows(self.dataset.labels, self.dataset.groups, number, folding)

    def refuse_too_many_folds(self) -> None:
        """A table too small for its folds is refused before anything is searched."""
        try:
            for number in range(self.config.fit.folds):
                self.fold_rows(number)
        except UserError as error:
            raise UserError(f"{error} (fit.folds=NUMBER; 0 skips cross-validation)") from None


def model_paths(config: Config) -> ModelPaths:
    """Where model.json goes: `out`, else beside the folds of the method."""
    if config.out is not None:
        return ModelPaths(config.out)
    study = StudyPaths(config.results_dir / config.study)
    return study.model(config.dataset.name, config.method.name.value)


def on_all_rows(config: Config) -> Config:
    """The config of the fold `all`: in its study, or with `out` in a folder of that one."""
    if config.out is None:
        return replace(config, fold=ALL)
    out = config.out.absolute()
    study = ModelPaths(out).study.root
    return replace(config, fold=ALL, out=out, results_dir=study.parent, study=study.name)


def tasks_of(config: Config) -> list[ClassTask]:
    """What has to be searched for the model of a config."""
    config = on_all_rows(config)
    study = fold_paths(config).cross_validation
    configs = [_against_rest(config, one, study) for one in several_classes(config)] or [config]
    return [
        ClassTask(one, load_dataset(one.dataset, one.data_dir, one.allow_changed_data), study)
        for one in configs
    ]


def classes_of(tasks: list[ClassTask]) -> list[str]:
    """All classes, in the order of `labels_of`."""
    if len(tasks) == 1:
        return [tasks[0].dataset.negative, tasks[0].dataset.positive]
    return [task.dataset.positive for task in tasks]


def labels_of(tasks: list[ClassTask]) -> Places:
    """The class of every row, by its place."""
    if len(tasks) == 1:
        return tasks[0].dataset.labels.astype(np.int64)
    return np.asarray(np.argmax([task.dataset.labels for task in tasks], axis=0), np.int64)


def _against_rest(config: Config, one: str, study: StudyPaths) -> Config:
    """The fold `all` of one class, beside the folds that judge it."""
    place = {"results_dir": study.root.parent, "study": study.root.name}
    variant = f"class={quote(one, safe=' ')}"
    dataset = against_rest(config.dataset, one)
    return replace(config, dataset=dataset, variant=variant, **place)  # type: ignore[arg-type]
