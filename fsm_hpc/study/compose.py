"""Compose overrides (`key=value`) to the configs of folds."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from pathlib import Path
from shutil import which
from typing import Any

from fsm_hpc.errors import UserError
from fsm_hpc.study import config_folders, hydra, keys
from fsm_hpc.study.building import build
from fsm_hpc.study.config import Config
from fsm_hpc.study.hydra import Choice
from fsm_hpc.study.override_syntax import (
    check_sweep,
    has_interpolation,
    key_of,
    override_text,
    quoted,
)
from fsm_hpc.study.resources import by_dataset_and_method
from fsm_hpc.system.machine import gc_paused

ALL_FOLDS = "range(0,folds)"
AUTO = "auto"  # the scheduler of conf/cluster/auto.yaml
Values = dict[str, Any]
Job = Sequence[Choice]  # one value of every override


def compose(overrides: Sequence[str]) -> Config:
    """The config of one fold."""
    _check(overrides)
    sweeps = [parsed.input_line for parsed in hydra.parse(overrides) if parsed.is_sweep_override()]
    if sweeps:
        raise UserError(f"{sweeps[0]} names several folds; add -m to run them all")
    return built(hydra.resolved_values(unresolved(overrides), overrides), overrides)


def compose_any(overrides: Sequence[str]) -> Config:
    """A config for a purpose that needs neither a dataset nor a method."""
    return compose(hydra.with_placeholders(overrides))


def show(
    overrides: Sequence[str], part: str = "job", package: str | None = None, resolve: bool = False
) -> str:
    """The composed config as YAML; refuses what a run would refuse."""
    name = f"dataset.name={quoted(compose(overrides).dataset.name)}"
    return hydra.shown([*overrides, *([name] if part == "job" else [])], part, package, resolve)


@gc_paused()
def expand(overrides: Sequence[str]) -> list[Config]:
    """All folds of a sweep: the product of lists, ranges and globs, by default with all folds."""
    _check(overrides)
    chosen = {key_of(override): override for override in _with_sweep_params(overrides)}
    folds = chosen.pop("fold", f"fold={ALL_FOLDS}")
    choices = hydra.choices(list(chosen.values()))
    composer, configs, jobs = Composer(), list[Config](), math.prod(map(len, choices))
    for job in itertools.product(*choices):
        config = composer.config(job)
        override = folds.replace(ALL_FOLDS, f"range(0,{config.folds})")
        numbers = _fold_choices(override, 1 if configs else jobs)
        check_sweep([], len(configs) + len(numbers))
        if composer.refers_to_fold(job):
            configs += [composer.config([*job, number]) for number in numbers]
        else:
            configs += [_with_fold(config, number.value) for number in numbers]
    return configs


@lru_cache(maxsize=64)  # most jobs of a sweep have the same folds
def _fold_choices(override: str, jobs: int) -> list[Choice]:
    check_sweep(hydra.parse([override]), jobs)
    (choices,) = hydra.choices([override])
    return choices


def _with_fold(config: Config, number: Any) -> Config:
    if type(number) is not int or number < 0:
        raise UserError(f"fold: expected 0 to {config.folds - 1}, found {number!r}")
    return replace(config, fold=number)


def _check(overrides: Sequence[str]) -> None:
    """Refuse unknown keys, and the name of a variant."""
    keys.check(overrides)
    for override in overrides:
        if key_of(override) == "variant":
            raise UserError(
                f"{override} selects existing folds; to start a variant, give the setting that "
                "differs: seed=2"
            )


def _with_sweep_params(overrides: Sequence[str]) -> Iterator[str]:
    """The overrides, preceded by hydra.sweeper.params of an experiment."""
    given = {key_of(override) for override in overrides}
    parsed = hydra.parse(overrides)
    fixed = [override.input_line for override in parsed if not override.is_sweep_override()]
    composed = hydra.composed(hydra.with_placeholders(fixed))
    params = composed.hydra.sweeper.get("params") or {}
    yield from (f"{key}={value}" for key, value in params.items() if key not in given)
    is_auto = composed.cluster.get("scheduler") == AUTO and "cluster" not in given
    yield from _on_site(overrides, composed.cluster.detect) if is_auto else overrides


# ---------------------------------------------------------------------------------- plain values


def unresolved(overrides: Sequence[str]) -> Values:
    """The composed values, with the detected cluster instead of `cluster=auto`."""
    values = hydra.unresolved(overrides)
    cluster = values.get("cluster")
    if not isinstance(cluster, dict) or cluster.get("scheduler") != AUTO:
        return values
    return hydra.unresolved(_on_site(overrides, cluster["detect"]))


def _on_site(overrides: Sequence[str], detect: Mapping[str, str]) -> list[str]:
    """The overrides with the detected cluster."""
    rest = [override for override in overrides if key_of(override) != "cluster"]
    detected = (name for name, program in detect.items() if which(program))
    return [*rest, f"cluster={next(detected, 'local')}"]


@dataclass(frozen=True, slots=True)
class _Base:
    """The composition of one choice of config groups."""

    values: Values
    interpolations: str  # text with interpolations; empty without any
    takes_values: bool  # no key of an override is inside another, so that their order is irrelevant


class Composer:
    """Composes many jobs: each choice of config groups once, then sets values in the result."""

    def __init__(self, raw: Callable[[Sequence[str]], Values] = unresolved) -> None:
        self._raw, self._groups = raw, config_folders.groups()
        self._bases: dict[tuple[str, ...], _Base] = {}
        self._first: Job = ()

    def config(self, job: Job) -> Config:
        return built(self.values(job), [choice.text for choice in job])

    def values(self, job: Job) -> Values:
        """The values that Hydra would compose for this job."""
        texts, base = [choice.text for choice in job], self._base(job)
        interpolations = f"{base.interpolations}{texts}"
        is_mapping = any(isinstance(choice.value, dict) for choice in job)
        if not base.takes_values or is_mapping or "${hydra:" in interpolations:
            values = self._raw(texts)
        else:
            values = base.values
            for choice in filter(self._is_value, job):
                values = with_value(values, choice.key.split("."), choice.value)
        return hydra.resolved_values(values, texts) if "${" in interpolations else values

    def refers_to_fold(self, job: Job) -> bool:
        """Whether an interpolation may refer to the number of the fold."""
        text = self._base(job).interpolations + "".join(choice.text for choice in job)
        return re.search(r"\$\{[^}]*\bfold\b", text) is not None

    def _is_value(self, choice: Choice) -> bool:
        """Whether it sets a value; otherwise it selects a file of a config group."""
        is_other = choice.key in self._groups or choice.text.startswith("~")
        return not is_other and not choice.key.startswith("hydra")

    def _base(self, job: Job) -> _Base:
        key = tuple(choice.key if self._is_value(choice) else choice.text for choice in job)
        if key not in self._bases:
            values = self._of_sections(job) or self._raw([choice.text for choice in job])
            text = repr(values)
            paths = [f"{choice.key}." for choice in filter(self._is_value, job)]
            overlap = any(b.startswith(a) for a, b in itertools.permutations(paths, 2))
            self._bases[key] = _Base(values, text if "${" in text else "", not overlap)
            self._first = self._first or job
        return self._bases[key]

    def _of_sections(self, job: Job) -> Values | None:
        """The values of a job from compositions that differ from the first job in one group each;
        None if one of them changes more than its own section."""
        first = self._first
        if [choice.key for choice in first] != [choice.key for choice in job]:
            return None
        changed = [n for n, c in enumerate(job) if c != first[n] and not self._is_value(c)]
        values = self._base(first).values if len(changed) > 1 else {}
        sections = {}
        for n in changed if values else ():
            other = self._base([*first[:n], job[n], *first[n + 1 :]]).values
            key = job[n].key
            if any(other.get(k) != values.get(k) for k in {**other, **values} if k != key):
                return None
            sections[key] = other[key]
        return {**values, **sections} if sections else None


def with_value(values: Any, path: list[str], value: Any) -> Values:
    """A copy with this value at the path; shares all other parts."""
    inner = values if isinstance(values, dict) else {}
    name, *rest = path
    return {**inner, name: with_value(inner.get(name), rest, value) if rest else value}


# ------------------------------------------------------------------------------------ typed config


def built(values: Values, overrides: Sequence[str] = ()) -> Config:
    """The config of plain values; a table of the user is named after its file."""
    table = values.get("dataset")
    if not isinstance(table, dict):
        raise UserError("dataset is missing: expected dataset=NAME")
    if table.get("name") is None:
        name = Path(table.get("path") or "csv").name.partition(".")[0] or "csv"
        values = {**values, "dataset": {**table, "name": name}}
    kept = [_without_interpolation(text, values) for text in overrides if _is_kept(text)]
    stored = [*config_folders.options(), *kept]
    config = by_dataset_and_method(build(Config, {**values, "overrides": stored}))
    return _with_fold(config, config.fold)  # refuses the fold `all`, which is for `fit`


def _is_kept(override: str) -> bool:
    """Whether `resume` needs the override; the folder of the fold states the others."""
    key = key_of(override)
    return not key.startswith("hydra") and key not in ("fold", "study", "results_dir")


def _without_interpolation(override: str, values: Values) -> str:
    """The override with the value of its interpolation."""
    if not has_interpolation(override):
        return override
    key = key_of(override)
    value = reduce(lambda part, name: part[name], key.split("."), values)
    return f"{key}={override_text(value)}"
