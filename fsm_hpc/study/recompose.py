"""The config of a fold that has begun, composed anew from the overrides that it was begun with.

What runs code (shell lines, the Python of jobs, options of the scheduler, modules to import) comes
from the user's command and configuration; a file in a results folder has no say in it.
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
from fsm_hpc.study.override_syntax import has_interpolation, key_of, override_text
from fsm_hpc.system import serialization

OF_PLACE = ("study", "results_dir", "fold", "variant", "out")  # where a fold is says so
PATHS = ("dataset.path", "dataset.labels", "data_dir")  # relative to the folder of a command


def runs_code(override: str) -> bool:
    """Whether an override decides what is run, or where configs are read."""
    key = key_of(override)
    if key.startswith("hydra") or has_interpolation(override):
        return True
    names = [one.rpartition(".")[2] for one in CODE if one.startswith("cluster.")]
    is_inside = re.search(rf"\b({'|'.join(names)})\b", override) is not None
    return key in CODE or (key.startswith("cluster.") and is_inside)


CODE = tuple(key for key, one in keys.SETTINGS.items() if one.info.runs_code)


@dataclass
class Recomposer:
    """Composes folds anew with what a command changes; equal overrides are composed once."""

    changes: Sequence[str]
    _configs: dict[tuple[str, ...], Config] = field(default_factory=dict)
    _composer: Composer = field(default_factory=Composer)

    def config(self, saved: Config) -> Config:
        """The fold with the settings that its overrides have now; other results are refused."""
        overrides = tuple(self._overrides(saved))
        if overrides not in self._configs:
            job = [choice for (choice,) in hydra.choices(overrides)]
            self._configs[overrides] = self._composer.config(job)
        found = self._in_place(saved, self._configs[overrides])
        self._refuse_code(saved, found)
        self._refuse_other_settings(saved, found)
        return found

    def _overrides(self, saved: Config) -> Iterator[str]:
        """Those of its beginning that no change replaces, then the changes."""
        self._refuse_other_configs(saved)
        stored = [one for one in saved.overrides if not one.startswith("--")]
        begun = stored or list(_as_overrides(saved))
        yield from (one for one in begun if not runs_code(one) and not self._changes(key_of(one)))
        yield from self.changes

    def _refuse_other_configs(self, saved: Config) -> None:
        """Where configs are is the command's to say, as they decide what runs."""
        given = [option.partition("=")[0] for option in config_folders.options()]
        for option in saved.overrides:
            if option.startswith("--") and option.partition("=")[0] not in given:
                raise UserError(f"it was submitted with {option}: give that option again")

    def _changes(self, key: str) -> bool:
        """Whether the command sets a key itself, or all of its section."""
        given = [key_of(change) for change in self.changes]
        return any(key == one or key.startswith(f"{one}.") for one in given)

    def _gives(self, key: str, value: Any) -> bool:
        """Whether the command sets a key, or every name of a mapping such as cluster.options."""
        names = [f"{key}.{name}" for name in value] if isinstance(value, dict) else []
        return self._changes(key) or (bool(names) and all(map(self._changes, names)))

    def _in_place(self, saved: Config, found: Config) -> Config:
        """The fold where it is, with the files that it was begun with."""
        names = [path.rpartition(".")[2] for path in PATHS[:2] if not self._changes(path)]
        dataset = replace(found.dataset, **{name: getattr(saved.dataset, name) for name in names})
        data_dir = found.data_dir if self._changes("data_dir") else saved.data_dir
        place = {name: getattr(saved, name) for name in OF_PLACE}
        return replace(found, dataset=dataset, data_dir=data_dir, **place)

    def _refuse_code(self, saved: Config, found: Config) -> None:
        for key in CODE:
            then, now = _value(saved, key), _value(found, key)
            if then and then != now and key != "cluster.by" and not self._gives(key, then):
                raise UserError(
                    f"{key}={then!r} was set when it was submitted, and a file does not decide "
                    f"what runs: give {key}=... again, or keep it in a config of your own"
                )

    def _refuse_other_settings(self, saved: Config, found: Config) -> None:
        then, now = variants.of_config(saved), variants.of_config(found)
        differing = [key for key in {**then, **now} if then.get(key) != now.get(key)]
        others = [key for key in differing if not self._changes(key)]
        if others:
            told = ", ".join(f"{key}: {then.get(key)} -> {now.get(key)}" for key in others)
            raise UserError(
                f"its settings would be others now, as the configuration has changed since it was "
                f"submitted ({told}); give {others[0]}=... to say which it is"
            )


def _value(config: Config, key: str) -> Any:
    return reduce(getattr, key.split("."), config)


def _as_overrides(saved: Config) -> Iterator[str]:
    """All settings of a fold that was begun by version 0.2, which kept no overrides."""
    is_known = saved.dataset.name in names_in("dataset")
    yield f"dataset={saved.dataset.name if is_known else 'csv'}"
    for group in ("method", "solver", "language", "cuts", "objective"):
        yield f"{group}={_value(saved, group).name.value}"
    yield f"cluster={saved.cluster.scheduler}"
    values = serialization.plain(saved)
    for key in (key for key, one in keys.SETTINGS.items() if not one.is_section):
        value = reduce(lambda part, name: part[name], key.split("."), values)
        if key in ("cluster.by", *OF_PLACE) or (key.endswith(".name") and key != "dataset.name"):
            continue
        if isinstance(value, dict):
            yield from (f"{key}.{name}={override_text(v)}" for name, v in value.items())
        else:
            yield f"{key}={override_text(value)}"
