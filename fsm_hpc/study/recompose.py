"""Compose the config of an existing fold again, from the overrides that it was submitted with.

Settings that run code (shell lines, the Python of jobs, options of the scheduler, modules to
import) come from the command and configuration of the user, never from a results folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from fsm_hpc.errors import UserError
from fsm_hpc.study import config_folders, hydra, keys, variants
from fsm_hpc.study.compose import Composer
from fsm_hpc.study.config import Config
from fsm_hpc.study.config_folders import names_in
from fsm_hpc.study.hydra import Choice
from fsm_hpc.study.override_syntax import has_interpolation, key_of, override_text
from fsm_hpc.system import serialization

LOCATION = ("study", "results_dir", "fold", "variant", "out")  # known from the folder of a fold
PATHS = ("dataset.path", "dataset.labels", "data_dir")  # relative to the folder of a command


def runs_code(override: str) -> bool:
    """Whether an override decides which code runs, or where configs are read."""
    key = key_of(override)
    if key.startswith("hydra") or has_interpolation(override):
        return True
    names = [code.rpartition(".")[2] for code in CODE if code.startswith("cluster.")]
    is_inside = re.search(rf"\b({'|'.join(names)})\b", override) is not None
    return key in CODE or (key.startswith("cluster.") and is_inside)


CODE = tuple(key for key, setting in keys.SETTINGS.items() if setting.info.runs_code)


@dataclass
class Recomposer:
    """Composes folds again with the changes of a command; equal overrides once."""

    changes: Sequence[str]
    _configs: dict[tuple[str, ...], Config] = field(default_factory=dict)
    _choices: dict[str, Choice] = field(default_factory=dict)  # by override
    _composer: Composer = field(default_factory=Composer)

    def config(self, saved: Config) -> Config:
        """The fold with the current values of its overrides; refuses other results."""
        overrides = tuple(self._overrides(saved))
        if overrides not in self._configs:
            last = {override.partition("=")[0]: override for override in overrides}
            self._configs[overrides] = self._composer.config(list(map(self._choice, last.values())))
        config = self._relocated(saved, self._configs[overrides])
        self._refuse_code(saved, config)
        self._refuse_other_settings(saved, config)
        return config

    def _choice(self, override: str) -> Choice:
        if override not in self._choices:
            ((self._choices[override],),) = hydra.choices([override])
        return self._choices[override]

    def _overrides(self, saved: Config) -> Iterator[str]:
        """The stored overrides without those that the changes replace, then the changes."""
        self._refuse_other_configs(saved)
        given = [text for text in saved.overrides if not text.startswith("--")]
        stored = given or list(_as_overrides(saved))
        yield from (o for o in stored if not runs_code(o) and not self._changes(key_of(o)))
        yield from self.changes

    def _refuse_other_configs(self, saved: Config) -> None:
        """The command must name config folders itself, as they decide which code runs."""
        given = [option.partition("=")[0] for option in config_folders.options()]
        for option in saved.overrides:
            if option.startswith("--") and option.partition("=")[0] not in given:
                raise UserError(f"it was submitted with {option}: give that option again")

    def _changes(self, key: str) -> bool:
        """Whether the command sets a key itself, or all of its section."""
        given = [key_of(change) for change in self.changes]
        return any(key == other or key.startswith(f"{other}.") for other in given)

    def _gives(self, key: str, value: Any) -> bool:
        """Whether the command sets a key, or every name of a mapping such as cluster.options."""
        names = [f"{key}.{name}" for name in value] if isinstance(value, dict) else []
        return self._changes(key) or (bool(names) and all(map(self._changes, names)))

    def _relocated(self, saved: Config, config: Config) -> Config:
        """The config with the location and the files of the stored fold."""
        names = [path.rpartition(".")[2] for path in PATHS[:2] if not self._changes(path)]
        dataset = replace(config.dataset, **{name: getattr(saved.dataset, name) for name in names})
        data_dir = config.data_dir if self._changes("data_dir") else saved.data_dir
        location = {name: getattr(saved, name) for name in LOCATION}
        return replace(config, dataset=dataset, data_dir=data_dir, **location)

    def _refuse_code(self, saved: Config, config: Config) -> None:
        for key in CODE:
            then, now = _value(saved, key), _value(config, key)
            if then and then != now and key != "cluster.by" and not self._gives(key, then):
                raise UserError(
                    f"it was submitted with {key}={then!r}, and a file does not decide what runs: "
                    f"give {key}=... again, or add it to a config file of your own"
                )

    def _refuse_other_settings(self, saved: Config, config: Config) -> None:
        changed = changed_settings(saved, config)
        others = [key for key in changed if not self._changes(key)]
        if others:
            changes = ", ".join(
                f"{key}: {then} -> {now}" for key, (then, now) in changed.items() if key in others
            )
            raise UserError(
                f"the configuration has changed since it was submitted ({changes}); give "
                f"{others[0]}=... to select a value"
            )


def changed_settings(saved: Config, config: Config) -> dict[str, tuple[Any, Any]]:
    """The settings that give other results, with both values."""
    if config == saved:  # as of most folds; much faster
        return {}
    then, now = variants.of_config(saved), variants.of_config(config)
    values = {key: (then.get(key), now.get(key)) for key in {**then, **now}}
    return {key: (old, new) for key, (old, new) in values.items() if old != new}


def _value(config: Config, key: str) -> Any:
    return reduce(getattr, key.split("."), config)


def _as_overrides(saved: Config) -> Iterator[str]:
    """All settings of a fold of version 0.2, which stored no overrides."""
    is_known = saved.dataset.name in names_in("dataset")
    yield f"dataset={saved.dataset.name if is_known else 'csv'}"
    for group in ("method", "solver", "language", "cuts", "objective"):
        yield f"{group}={_value(saved, group).name.value}"
    yield f"cluster={saved.cluster.scheduler}"
    values = serialization.plain(saved)
    for key in (key for key, setting in keys.SETTINGS.items() if not setting.is_section):
        value = reduce(lambda part, name: part[name], key.split("."), values)
        if key in ("cluster.by", *LOCATION) or (key.endswith(".name") and key != "dataset.name"):
            continue
        if isinstance(value, dict):
            yield from (f"{key}.{name}={override_text(v)}" for name, v in value.items())
        else:
            yield f"{key}={override_text(value)}"
