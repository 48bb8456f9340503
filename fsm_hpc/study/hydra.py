"""The one module that knows Hydra: parse words, expand a sweep, compose conf/, read its errors.

What is private to Hydra, and the texts of its errors, stand here and nowhere else;
tests/study/test_hydra.py fails when a new Hydra changes them.
"""

from __future__ import annotations

import copy
import math
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from fsm_hpc.errors import UserError, did_you_mean
from fsm_hpc.study import slurm_lists, word_limits
from fsm_hpc.system.files import conf_dir

GROUPS = ("dataset", "method", "language", "solver", "cuts", "objective", "cluster", "experiment")


def key_of(word: str) -> str:
    """The key of a `key=value` word, without Hydra's + and ~."""
    return word.partition("=")[0].lstrip("+~")


def parse(words: Sequence[str]) -> list[Any]:
    """Hydra's overrides of these words."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    for word in words:
        if not key_of(word) or ("=" not in word and not word.startswith("~")):
            raise UserError(f"expected key=value, found {word!r}")
        _literal(word)
    joined = [_with_joined_list(word) for word in words]
    with _loader() as loader:
        try:
            overrides = OverridesParser.create(config_loader=loader).parse_overrides(joined)
        except (HydraException, ValueError, ArithmeticError, RecursionError) as error:
            raise UserError(_why_unreadable(error, words)) from None
    for override in overrides:
        _check_sweep(override)
        word_limits.check_sweep([override])
    return list(overrides)


def _check_sweep(override: Any) -> None:
    """Refuse sweeps that parse, and that Hydra cannot list."""
    values = override.value()
    if override.is_interval_sweep():
        advice = "expected values, such as 1,2 or choice(a,b) or range(0,5)"
        raise UserError(f"{override.input_line}: an interval is not a list of values; {advice}")
    if override.is_range_sweep():
        numbers = (values.start, values.stop, values.step)
        if not all(map(math.isfinite, numbers)) or values.step == 0:
            raise UserError(
                f"{override.input_line}: expected finite bounds and a step other than 0"
            )
    elif any(hasattr(value, "tags") for value in getattr(values, "list", ())):
        raise UserError(f"{override.input_line}: a sweep inside a sweep; expected plain values")


def _with_joined_list(word: str) -> str:
    """The word with a list for SLURM, `a,b` or `n[1,3-5]`, as one text."""
    names = slurm_lists.joined(key_of(word), word.partition("=")[2])
    return word if names is None else f"{word.partition('=')[0]}={quoted(names)}"


def quoted(value: str) -> str:
    """A value as it has to stand in a word, so that Hydra reads it as that very text."""
    inner = re.sub(r'(\\*)(")', r"\1\1\\\2", value)
    return '"' + re.sub(r"(\\+)$", r"\1\1", inner) + '"'


def _literal(word: str) -> str:
    """The word with `${` as that text: a file may be called so, and interpolation is for conf/."""
    word_limits.check_word(word)
    if re.match(r"[^=]*=[^\"']*\$\{", word):
        raise UserError(_how_to_quote([word]))
    return re.sub(r"(?<!\\)\$\{", r"\\${", word)


def as_said(value: Any) -> Any:
    """What a parsed value is once it is composed: Hydra's way to write `${` is undone."""
    if isinstance(value, str):
        return value.replace("\\${", "${")
    if isinstance(value, list):
        return [as_said(item) for item in value]
    if isinstance(value, dict):
        return {as_said(key): as_said(item) for key, item in value.items()}
    return value


def is_sweep(word: str) -> bool:
    """Whether the word names several values."""
    return bool(parse([word])[0].is_sweep_override())


def batches(words: Sequence[str]) -> list[list[str]]:
    """Every combination of the values that the words name, each as words with one value."""
    from hydra._internal.core_plugins.basic_sweeper import BasicSweeper

    parsed = parse(words)
    word_limits.check_sweep(parsed)
    for override in parsed:
        if override.is_sweep_override() and word_limits.count(override) == 0:
            raise UserError(f"{override.input_line} names no value")
    return [list(job) for batch in BasicSweeper.split_arguments(parsed, None) for job in batch]


def composed(words: Sequence[str]) -> Any:
    """conf/ with these words applied, Hydra's own section included."""
    from hydra import compose
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    own = [f"file://{folder}" for folder in _user_conf_dirs()]
    path = [f"hydra.searchpath=[{','.join(own)}]"] if own else []
    try:
        with _loader():
            literal = (_with_joined_list(_literal(word)) for word in words)
            overrides = [*path, *map(_may_be_new, literal)]
            return compose("config", overrides=overrides, return_hydra_config=True)
    except YAMLError as error:
        told = " ".join(str(error).split())
        raise UserError(f"a config file is not YAML: {told}") from None
    except RecursionError:
        raise UserError("a config file is nested too deeply: lists in lists, or itself") from None
    except UnicodeDecodeError:
        raise UserError(f"a config file is not UTF-8: {', '.join(_no_text())}") from None
    except UserError:
        raise
    except (HydraException, OmegaConfBaseException, ValueError, AssertionError) as error:
        raise UserError(_explained(error, words)) from None


def _may_be_new(word: str) -> str:
    """`cluster.by` and `cuts.given` have whatever names the user's tables have, `cluster.sbatch`
    those of all options of sbatch."""
    open_ones = ("cluster.by.", "cluster.by=", "cuts.given.", "cuts.given=", "cluster.sbatch.")
    return f"++{word}" if word.startswith(open_ones) else word


def plain(words: Sequence[str]) -> dict[str, Any]:
    """The composed config as plain values, without Hydra's own section."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    config = composed(words)
    try:
        values: Any = OmegaConf.to_container(
            OmegaConf.masked_copy(config, [key for key in config if key != "hydra"]), resolve=True
        )
    except OmegaConfBaseException as error:
        raise UserError(first_line(error)) from None
    return {str(key): value for key, value in values.items()}


def updated(values: dict[str, Any], words: Sequence[str]) -> dict[str, Any]:
    """Plain values with what the words say put in, each word read as Hydra reads it."""
    changed = copy.deepcopy(values)
    for key, value in _said(tuple(words)):
        *sections, name = key.split(".")
        holder = changed
        for section in sections:
            inner = holder.get(section)
            holder[section] = inner if isinstance(inner, dict) else {}
            holder = holder[section]
        holder[name] = copy.deepcopy(value)
    return changed


@lru_cache(maxsize=8)  # the words of a command are the same for all its folds
def _said(words: tuple[str, ...]) -> list[tuple[str, Any]]:
    """The key and the plain value of each word."""
    return [(override.key_or_group, as_said(override.value())) for override in parse(words)]


def names_in(group: str) -> list[str]:
    """The choices of a config group."""
    folders = [conf_dir(), *_user_conf_dirs()]
    return sorted({path.stem for folder in folders for path in (folder / group).glob("*.yaml")})


@contextmanager
def _loader() -> Iterator[Any]:
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


# ---------------------------------------------------------------------------------------- errors


def _no_text() -> Iterator[str]:
    """The user's config files that are something else; ours are text."""
    for path in (path for folder in _user_conf_dirs() for path in sorted(folder.rglob("*.yaml"))):
        try:
            path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            yield str(path)
        except OSError:  # not the one that was read
            continue


def first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def _why_unreadable(error: Exception, words: Sequence[str]) -> str:
    """Hydra says in its second line what is wrong with the arguments of a function."""
    function = re.search(r"^\w+ while evaluating .*$", str(error), re.MULTILINE)
    if function is None:
        return f"{first_line(error)}; {_how_to_quote(words)}"
    texts = [word for word in words if f"'{word}'" in first_line(error)] or words
    return f"cannot read {' '.join(texts)}: {function[0]}"


def _how_to_quote(words: Sequence[str]) -> str:
    word = max(words, key=lambda word: sum(not c.isalnum() for c in word))
    key, _, value = word.partition("=")
    advice = shlex.quote(f"{key}={quoted(value)}")
    return f"cannot read {word}; a value with blanks or signs needs quotes: {advice}"


def _explained(error: Exception, words: Sequence[str]) -> str:
    """One line that names what is wrong, with the near matches."""
    text = str(error)
    for word in words:
        if word.startswith("experiment="):
            return f"an experiment is added to the config: write +{word}"
    for word in words:
        if word.startswith("+") and "Could not append" in text and f"'{key_of(word)}'" in text:
            return f"{key_of(word)} is a setting that is there: write {word.lstrip('+')}"
    for word in words:
        key, value = key_of(word), word.partition("=")[2]
        is_meant = f"{key}/{value}" in text or "Config group override must be" in text
        if key in GROUPS and value not in names_in(key) and is_meant:
            known = names_in(key)
            near = did_you_mean(value, known)
            return f"{key}={value} is not known{near}; there are: {', '.join(known)}"
    missing = re.search(r"You must specify '(\w+)'", text)
    if missing:
        group = missing[1]
        return f"{group} is not given: expected {group}=NAME, one of: {', '.join(names_in(group))}"
    for word in words:
        key = key_of(word)
        if f"'{key}'" in text and "override" in text:
            near = did_you_mean(key, _all_keys(words))
            return f"{key} is not a setting{near}; --cfg job shows them all"
    return first_line(error)


def _all_keys(words: Sequence[str]) -> list[str]:
    from omegaconf import OmegaConf

    chosen = with_placeholders([word for word in words if key_of(word) in GROUPS])
    config: Any = OmegaConf.to_container(composed(chosen), resolve=False)
    return [key for key in _flat(config) if not key.startswith("hydra.")]


def with_placeholders(words: Sequence[str]) -> list[str]:
    """The words, with some dataset and method where they name none, to look at the rest."""
    given = {key_of(word) for word in words}
    stand_ins = {"dataset": "hepatitis", "method": "median"}
    return [*words, *(f"{key}={name}" for key, name in stand_ins.items() if key not in given)]


def _flat(values: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in values.items():
        yield prefix + key
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
