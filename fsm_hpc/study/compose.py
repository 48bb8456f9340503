"""Hydra's words (`key=value`) -> the jobs that they name, or one line that says what is wrong."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from shutil import which
from typing import Any

from fsm_hpc.errors import UserError
from fsm_hpc.study.config import Config, build
from fsm_hpc.system.files import conf_dir

GROUPS = ("dataset", "method", "solver", "cluster", "experiment")
VERBS = (
    *("plan", "status", "logs", "resume", "cancel", "doctor"),
    *("collect", "report", "explain", "datasets"),
)
_PLACEHOLDERS = {"dataset": "bank", "method": "pivot"}  # to look at a config before a sweep


def compose(overrides: Sequence[str]) -> Config:
    """The one job that these overrides name."""
    several = [word for word in overrides if _is_sweep(word)]
    if several:
        raise UserError(f"{several[0]} names several jobs; add -m to run them all")
    config = build(Config, _plain(overrides))
    return config if config.cluster.kind != "auto" else build(Config, _plain(_on_site(overrides)))


def _on_site(words: Sequence[str]) -> list[str]:
    """`cluster=auto` said as what it is on this machine."""
    rest = [word for word in words if _key(word) != "cluster"]
    return [*rest, f"cluster={'slurm' if which('sbatch') else 'local'}"]


def show(overrides: Sequence[str]) -> str:
    """The composed config as YAML."""
    from omegaconf import OmegaConf

    return OmegaConf.to_yaml(_plain(overrides))


def expand(overrides: Sequence[str]) -> list[Config]:
    """All jobs of a sweep: lists, ranges and globs multiply out, and folds do so by themselves."""
    sweep = {_key(word): word for word in _sweep_words(overrides)}
    sweep.setdefault("fold", "fold=range(0,folds)")
    folds = sweep.pop("fold")
    jobs: list[Config] = []
    for first in _compose_all(_batches(list(sweep.values()))):
        values = folds.replace("range(0,folds)", f"range(0,{first.folds})")
        for words in _batches([values]):
            jobs.append(_with_fold(first, words[0]))
    return jobs


def _compose_all(batches: list[list[str]]) -> list[Config]:
    """The config of every batch. Hydra takes a tenth of a second for each, so where datasets and
    methods multiply out, each choice is composed once and its section put together with others."""
    first = compose(batches[0])
    if build(Config, _plain(batches[0])).cluster.kind == "auto":
        batches = [_on_site(batch) for batch in batches]
    sections: dict[str, dict[str, Any]] = {}  # of every word that varies, what it sets
    for place, before in enumerate(batches[0]):
        for word in dict.fromkeys(batch[place] for batch in batches):
            if all(batch[place] == before for batch in batches):
                continue
            variant = compose([*batches[0][:place], word, *batches[0][place + 1 :]])
            sections[word] = _differences(first, variant)
            if not sections[word].keys() <= {_key(word)}:
                return [compose(batch) for batch in batches]
    return [replace(first, **_merged(sections.get(word, {}) for word in b)) for b in batches]


def _differences(first: Config, other: Config) -> dict[str, Any]:
    pairs = {f.name: (getattr(first, f.name), getattr(other, f.name)) for f in fields(first)}
    return {name: new for name, (old, new) in pairs.items() if old != new}


def _merged(parts: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {key: value for part in parts for key, value in part.items()}


def names_in(group: str) -> list[str]:
    """The choices of a config group."""
    folders = [conf_dir(), *_user_conf_dirs()]
    return sorted({path.stem for folder in folders for path in (folder / group).glob("*.yaml")})


def _with_fold(config: Config, word: str) -> Config:
    text = word.partition("=")[2]
    if not text.isdigit():
        raise UserError(f"fold: expected 0 to {config.folds - 1}, found {text!r}")
    return replace(config, fold=int(text))


def _sweep_words(overrides: Sequence[str]) -> list[str]:
    """The overrides, after those that an experiment sets for a sweep."""
    given = {_key(word) for word in overrides}
    looked_at = [word for word in overrides if not _is_sweep(word)]
    missing = {key: name for key, name in _PLACEHOLDERS.items() if _none_of(looked_at, key)}
    sweeper = _hydra_config([*looked_at, *(f"{k}={v}" for k, v in missing.items())])
    params = {k: v for k, v in (sweeper.get("params") or {}).items() if k not in given}
    return [*(f"{key}={value}" for key, value in params.items()), *overrides]


def _none_of(words: Sequence[str], key: str) -> bool:
    return all(_key(word) != key for word in words)


def _key(word: str) -> str:
    return word.partition("=")[0].lstrip("+~")


def _batches(words: list[str]) -> list[list[str]]:
    from hydra._internal.core_plugins.basic_sweeper import BasicSweeper

    parsed = _parse(words)
    return [list(job) for batch in BasicSweeper.split_arguments(parsed, None) for job in batch]


def _is_sweep(word: str) -> bool:
    return bool(_parse([word])[0].is_sweep_override())


def _parse(words: Sequence[str]) -> list[Any]:
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    for word in words:
        if "=" not in word and not word.startswith("~"):
            raise UserError(
                f"expected key=value or a verb first, found {word!r}{_near(word, VERBS)}"
            )
    with _hydra() as loader:
        try:
            return list(OverridesParser.create(config_loader=loader).parse_overrides(list(words)))
        except HydraException as error:
            raise UserError(f"{_first_line(error)}; {_how_to_quote(words)}") from None


def _how_to_quote(words: Sequence[str]) -> str:
    word = max(words, key=lambda word: sum(not c.isalnum() for c in word))
    key, _, value = word.partition("=")
    return f"cannot read {word}; a value with blanks or signs needs quotes: '{key}=\"{value}\"'"


@contextmanager
def _hydra() -> Iterator[Any]:
    """Hydra's loader over conf/ and the user's own folders."""
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    with initialize_config_dir(str(conf_dir()), version_base="1.3", job_name="fsm_hpc"):
        yield GlobalHydra.instance().config_loader()


def _user_conf_dirs() -> list[Path]:
    """Where a site or a user keeps configs of their own: $FSM_CONF_DIR, ~/.config/fsm_hpc."""
    given = os.environ.get("FSM_CONF_DIR")
    home = Path.home() / ".config" / "fsm_hpc"
    folders = [Path(given).absolute()] if given else []
    return [folder for folder in (*folders, home) if folder.is_dir()]


def _composed(words: Sequence[str]) -> Any:
    from hydra import compose as hydra_compose
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    own = [f"file://{folder}" for folder in _user_conf_dirs()]
    path = [f"hydra.searchpath=[{','.join(own)}]"] if own else []
    try:
        with _hydra():
            return hydra_compose("config", overrides=[*path, *words], return_hydra_config=True)
    except YAMLError as error:
        told = " ".join(str(error).split())
        raise UserError(f"a config file is not YAML: {told}") from None
    except (HydraException, OmegaConfBaseException) as error:
        raise UserError(_explain(error, words)) from None


def _plain(words: Sequence[str]) -> dict[str, Any]:
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    config = _composed(words)
    try:
        plain: Any = OmegaConf.to_container(
            OmegaConf.masked_copy(config, [key for key in config if key != "hydra"]), resolve=True
        )
    except OmegaConfBaseException as error:
        raise UserError(_first_line(error)) from None
    table = plain["dataset"]
    if table.get("name") is None:  # a table of the user's is called like its file
        table["name"] = Path(table.get("path") or "csv").name.partition(".")[0] or "csv"
    return {str(key): value for key, value in plain.items()}


def _hydra_config(words: Sequence[str]) -> Any:
    return _composed(words).hydra.sweeper


def _explain(error: Exception, words: Sequence[str]) -> str:
    """One line that names what is wrong, with the near matches."""
    text = str(error)
    for word in words:
        if word.startswith("experiment="):
            return f"an experiment is added to the config: write +{word}"
    for word in words:
        key, value = _key(word), word.partition("=")[2]
        if key in GROUPS and value not in names_in(key) and f"{key}/{value}" in text:
            names = ", ".join(names_in(key))
            return f"{key}={value} is not known{_near(value, names_in(key))}; there are: {names}"
    missing = re.search(r"You must specify '(\w+)'", text)
    if missing:
        group = missing[1]
        return f"{group} is not given: expected {group}=NAME, one of: {', '.join(names_in(group))}"
    for word in words:
        key = _key(word)
        if f"'{key}'" in text and "override" in text:
            return f"{key} is not a setting{_near(key, _all_keys(words))}; --cfg job shows them all"
    return _first_line(error)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def _near(word: str, among: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, among, n=3, cutoff=0.5)
    return f", did you mean {' or '.join(close)}?" if close else ""


def _all_keys(words: Sequence[str]) -> list[str]:
    from omegaconf import OmegaConf

    chosen = [word for word in words if _key(word) in GROUPS]
    missing = [f"{k}={v}" for k, v in _PLACEHOLDERS.items() if _none_of(chosen, k)]
    config: Any = OmegaConf.to_container(_composed([*chosen, *missing]), resolve=False)
    return [key for key in _flat(config) if not key.startswith("hydra.")]


def _flat(values: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in values.items():
        yield prefix + key
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
