"""The rules that one `fit` searches: one for two classes, one for each class of more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import quote

import numpy as np

from fsm_hpc.data.dataset import Dataset, target_values
from fsm_hpc.data.folds import FoldRows, all_rows, fold_rows
from fsm_hpc.errors import UserError
from fsm_hpc.models.combine import Places
from fsm_hpc.search.ladder import Split
from fsm_hpc.search.problem import Problem
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import RulePaths, StudyPaths
from fsm_hpc.study.fold import load_dataset, problem_of

MOST_CLASSES = 20  # more are numbers, or a mistake
FOLDER = "classes"  # below that of the model: a folder for each class


@dataclass(frozen=True)
class ClassTask:
    """One class against the others, with its table and its own folder."""

    config: Config
    dataset: Dataset

    @property
    def paths(self) -> RulePaths:
        return rule_paths(self.config)

    @cached_property
    def fitted(self) -> Problem:
        """The problem on all rows."""
        return problem_of(self.dataset, self.config, self._rows.fitted)

    @property
    def splits(self) -> list[Split]:
        parts = (
            tuple(problem_of(self.dataset, self.config, part) for part in pair)
            for pair in self._rows.splits
        )
        return [Split(*pair) for pair in parts]

    @cached_property
    def _rows(self) -> FoldRows:
        return all_rows(self.dataset.labels, self.dataset.groups, self.config.folding)

    def fold_config(self, number: int) -> Config:
        """One of the cross-validation folds, kept beside the rule."""
        root, folds = self.paths.judging.root, self.config.fit.folds
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


def rule_paths(config: Config) -> RulePaths:
    """Where model.json goes: `out`, else beside the folds of the method."""
    if config.out is not None:
        return RulePaths(config.out)
    study = StudyPaths(config.results_dir / config.study)
    return study.rule(config.dataset.name, config.method.name.value)


def several_classes(config: Config) -> list[str]:
    """The classes of a target with more than two; none where the settings name two."""
    spec = config.dataset
    if spec.positive is not None or spec.negative is not None or spec.labels is not None:
        return []
    values = target_values(spec, config.data_dir, config.allow_changed_data)
    return values if 2 < len(values) <= MOST_CLASSES else []


def tasks_of(config: Config) -> list[ClassTask]:
    """What has to be searched for the model of a config."""
    classes = several_classes(config)
    configs = [_against_rest(config, one) for one in classes] or [config]
    return [
        ClassTask(one, load_dataset(one.dataset, one.data_dir, one.allow_changed_data))
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


def _against_rest(config: Config, one: str) -> Config:
    folder = rule_paths(config).folder / FOLDER / quote(one, safe=" ")
    dataset = replace(config.dataset, positive=one, negative="rest")
    return replace(config, dataset=dataset, out=folder)
