"""Words (`key=value`) -> the configs of the folds that they name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from shutil import which
from typing import Any

from fsm_hpc.errors import UserError
from fsm_hpc.study import hydra, keys, word_limits
from fsm_hpc.study.config import ClusterKind, Config, build
from fsm_hpc.study.hydra import key_of
from fsm_hpc.study.resources import by_dataset_and_method
from fsm_hpc.system.machine import without_collector


def compose(words: Sequence[str]) -> Config:
    """The one fold that these words name."""
    _check(words)
    several = [word for word in words if hydra.is_sweep(word)]
    if several:
        raise UserError(f"{several[0]} names several folds; add -m to run them all")
    return by_dataset_and_method(_composed(words))


def _composed(words: Sequence[str]) -> Config:
    config = _built(words)
    return config if config.cluster.kind is not ClusterKind.AUTO else _built(_on_site(words))


def compose_any(words: Sequence[str]) -> Config:
    """A config with these words, for what depends neither on the dataset nor on the method."""
    return compose(hydra.with_placeholders(words))


def show(words: Sequence[str]) -> str:
    """The composed config as YAML."""
    import yaml

    keys.check(words)
    return str(yaml.safe_dump(_plain(words), allow_unicode=True, sort_keys=False))


@without_collector()
def expand(words: Sequence[str]) -> list[Config]:
    """All folds of a sweep: lists, ranges and globs multiply out, and folds do so by themselves."""
    _check(words)
    sweep = {key_of(word): word for word in _sweep_words(words)}
    sweep.setdefault("fold", "fold=range(0,folds)")
    folds = sweep.pop("fold")
    configs: list[Config] = []
    batches = hydra.batches(list(sweep.values()))
    word_limits.check_sweep(hydra.parse([_fold_word(folds, _built(batches[0]))]), len(batches))
    for first in map(by_dataset_and_method, _compose_all(batches)):
        values = hydra.batches([_fold_word(folds, first)])
        word_limits.check_sweep([], len(configs) + len(values))
        configs += (_with_fold(first, fold) for (fold,) in values)
    return configs


def _fold_word(folds: str, config: Config) -> str:
    return folds.replace("range(0,folds)", f"range(0,{config.folds})")


def _built(words: Sequence[str]) -> Config:
    return build(Config, _plain(words))


def _check(words: Sequence[str]) -> None:
    """Keys that are no settings are refused, and so is the name of a variant."""
    keys.check(words)
    for word in words:
        if key_of(word) == "variant":
            raise UserError(
                f"{word} names folds that have begun, for `status` and its like; to begin a "
                "variant, give the setting that makes it: seed=2"
            )


def _plain(words: Sequence[str]) -> dict[str, Any]:
    values = hydra.plain(words)
    table = values.get("dataset")
    if not isinstance(table, dict):
        raise UserError("dataset is missing: expected dataset=NAME")
    if table.get("name") is None:  # a table of the user's is called like its file
        table["name"] = Path(table.get("path") or "csv").name.partition(".")[0] or "csv"
    return values


def _on_site(words: Sequence[str]) -> list[str]:
    """`cluster=auto` said as what it is on this machine."""
    rest = [word for word in words if key_of(word) != "cluster"]
    return [*rest, f"cluster={'slurm' if which('sbatch') else 'local'}"]


def _compose_all(batches: list[list[str]]) -> list[Config]:
    """The config of every batch. Hydra takes a tenth of a second for each, so where datasets and
    methods multiply out, each choice is composed once and its section put together with others."""
    first = _built(batches[0])
    if first.cluster.kind is ClusterKind.AUTO:
        batches = [_on_site(batch) for batch in batches]
        first = _built(batches[0])
    sections: dict[str, dict[str, Any]] = {}  # of every word that varies, what it sets
    for place, before in enumerate(batches[0]):
        for word in dict.fromkeys(batch[place] for batch in batches):
            if word == before:  # that is the first one
                continue
            variant = _composed([*batches[0][:place], word, *batches[0][place + 1 :]])
            sections[word] = _differences(first, variant)
            if not sections[word].keys() <= {key_of(word)}:
                return [_composed(batch) for batch in batches]
    return [replace(first, **_merged(sections.get(word, {}) for word in b)) for b in batches]


def _differences(first: Config, other: Config) -> dict[str, Any]:
    pairs = {f.name: (getattr(first, f.name), getattr(other, f.name)) for f in fields(first)}
    return {name: new for name, (old, new) in pairs.items() if old != new}


def _merged(parts: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {key: value for part in parts for key, value in part.items()}


def _with_fold(config: Config, word: str) -> Config:
    text = word.partition("=")[2]
    if not text.isdigit():
        raise UserError(f"fold: expected 0 to {config.folds - 1}, found {text!r}")
    return replace(config, fold=int(text))


def _sweep_words(words: Sequence[str]) -> list[str]:
    """The words, after those that an experiment sets for a sweep, with the cluster that is here."""
    given = {key_of(word) for word in words}
    looked_at = hydra.with_placeholders([word for word in words if not hydra.is_sweep(word)])
    composed = hydra.composed(looked_at)
    found = composed.hydra.sweeper.get("params") or {}
    params = {key: value for key, value in found.items() if key not in given}
    is_auto = composed.cluster.kind == ClusterKind.AUTO.value and "cluster" not in given
    return [*(f"{k}={v}" for k, v in params.items()), *(_on_site(words) if is_auto else words)]
