"""Overrides (`key=value`) -> the configs of the folds that they name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, reduce
from pathlib import Path
from shutil import which
from typing import Any

from fsm_hpc.errors import UserError
from fsm_hpc.study import hydra, hydra_show, keys, override_limits
from fsm_hpc.study.building import build
from fsm_hpc.study.config import Config
from fsm_hpc.study.config_folders import key_of, override_text
from fsm_hpc.study.resources import by_dataset_and_method
from fsm_hpc.study.sweeps import Sweep
from fsm_hpc.system.machine import gc_paused

ALL_FOLDS = "range(0,folds)"
AUTO = "auto"  # the scheduler of conf/cluster/auto.yaml


def compose(overrides: Sequence[str]) -> Config:
    """The one fold that these overrides name."""
    _check(overrides)
    several = [override for override in overrides if hydra.is_sweep(override)]
    if several:
        raise UserError(f"{several[0]} names several folds; add -m to run them all")
    return built(hydra.resolved_values(unresolved(overrides), overrides), overrides)


def compose_any(overrides: Sequence[str]) -> Config:
    """A config with these overrides, for what depends neither on the dataset nor the method."""
    return compose(hydra.with_placeholders(overrides))


def show(
    overrides: Sequence[str], part: str = "job", package: str | None = None, resolve: bool = False
) -> str:
    """The composed config as YAML; what a run would refuse is refused."""
    checked = compose(overrides)
    config = hydra.composed(overrides)
    config.dataset.name = config.dataset.name or checked.dataset.name
    return hydra_show.as_yaml(config, part, package, resolve)


@gc_paused()
def expand(overrides: Sequence[str]) -> list[Config]:
    """All folds of a sweep: lists, ranges and globs multiply out, and folds do so by themselves."""
    _check(overrides)
    chosen = {key_of(override): override for override in _with_sweep_params(overrides)}
    folds = chosen.pop("fold", f"fold={ALL_FOLDS}")
    sweep = Sweep(list(chosen.values()), unresolved)
    if sweep.refers_to("fold"):
        each = _fold_override(folds, built(next(iter(sweep))[1]))
        jobs = Sweep([*chosen.values(), each], unresolved)
        return [built(values, texts) for texts, values in jobs]
    configs: list[Config] = []
    for texts, values in sweep:
        config = built(values, texts)
        numbers = _fold_numbers(_fold_override(folds, config), len(sweep) if not configs else 1)
        override_limits.check_sweep([], len(configs) + len(numbers))
        configs += (_with_fold(config, number) for number in numbers)
    return configs


def _fold_override(folds: str, config: Config) -> str:
    return folds.replace(ALL_FOLDS, f"range(0,{config.folds})")


@lru_cache(maxsize=64)  # most jobs of a sweep have the same folds
def _fold_numbers(override: str, jobs: int) -> tuple[Any, ...]:
    override_limits.check_sweep(hydra.parse([override]), jobs)
    (found,) = hydra.choices([override])
    return tuple(choice.value for choice in found)


def _with_fold(config: Config, number: Any) -> Config:
    if type(number) is not int or number < 0:
        raise UserError(f"fold: expected 0 to {config.folds - 1}, found {str(number)!r}")
    return replace(config, fold=number)


def _check(overrides: Sequence[str]) -> None:
    """Keys that are no settings are refused, and so is the name of a variant."""
    keys.check(overrides)
    for override in overrides:
        if key_of(override) == "variant":
            raise UserError(
                f"{override} names folds that have begun, for `status` and its like; to begin a "
                "variant, give the setting that makes it: seed=2"
            )


def built(values: dict[str, Any], overrides: Sequence[str] = ()) -> Config:
    """The config of plain values; a table of the user's is named like its file."""
    table = values.get("dataset")
    if not isinstance(table, dict):
        raise UserError("dataset is missing: expected dataset=NAME")
    if table.get("name") is None:
        name = Path(table.get("path") or "csv").name.partition(".")[0] or "csv"
        values = {**values, "dataset": {**table, "name": name}}
    begun_with = [_without_interpolation(one, values) for one in overrides if _is_kept(one)]
    return by_dataset_and_method(build(Config, {**values, "overrides": begun_with}))


def _is_kept(override: str) -> bool:
    """Whether `resume` composes a fold with it again; where the fold is says the rest."""
    key = key_of(override)
    return not key.startswith("hydra") and key not in ("fold", "study", "results_dir")


def _without_interpolation(override: str, values: dict[str, Any]) -> str:
    """The override with the value that an interpolation had."""
    if not hydra.has_interpolation(override):
        return override
    key = key_of(override)
    value = reduce(lambda part, name: part[name], key.split("."), values)
    return f"{key}={override_text(value)}"


def unresolved(overrides: Sequence[str]) -> dict[str, Any]:
    """The composed values, with the cluster that is here in place of `cluster=auto`."""
    values = hydra.unresolved(overrides)
    cluster = values.get("cluster")
    if not isinstance(cluster, dict) or cluster.get("scheduler") != AUTO:
        return values
    return hydra.unresolved(_on_site(overrides, cluster["detect"]))


def _on_site(overrides: Sequence[str], detect: Mapping[str, str]) -> list[str]:
    """`cluster=auto` said as what it is on this machine."""
    rest = [override for override in overrides if key_of(override) != "cluster"]
    found = (name for name, program in detect.items() if which(program))
    return [*rest, f"cluster={next(found, 'local')}"]


def _with_sweep_params(overrides: Sequence[str]) -> Iterator[str]:
    """The overrides, after those that an experiment sets for a sweep."""
    given = {key_of(override) for override in overrides}
    fixed = [override for override in overrides if not hydra.is_sweep(override)]
    composed = hydra.composed(hydra.with_placeholders(fixed))
    found = composed.hydra.sweeper.get("params") or {}
    yield from (f"{key}={value}" for key, value in found.items() if key not in given)
    is_auto = composed.cluster.get("scheduler") == AUTO and "cluster" not in given
    yield from _on_site(overrides, composed.cluster.detect) if is_auto else overrides
