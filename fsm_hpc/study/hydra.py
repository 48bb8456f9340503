"""The one module that knows Hydra: parse overrides, list a sweep, compose and show configs.

What is private to Hydra stands here, the texts of its errors in hydra_errors.py;
tests/study/test_hydra.py fails when a new Hydra changes them.
"""

from __future__ import annotations

import copy
import itertools
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from fsm_hpc.errors import UserError
from fsm_hpc.study import building, config_folders, hydra_keys, override_limits
from fsm_hpc.study.config import Config
from fsm_hpc.study.config_folders import key_of as key_of
from fsm_hpc.study.config_folders import names_in as names_in
from fsm_hpc.study.config_folders import quoted as quoted
from fsm_hpc.study.hydra_errors import explained, first_line, why_unreadable
from fsm_hpc.system.files import conf_dir

# --------------------------------------------------------------------------------------- overrides


def parse(overrides: Sequence[str]) -> list[Any]:
    """Hydra's reading of these overrides."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    for override in overrides:
        if not key_of(override) or ("=" not in override and not override.startswith("~")):
            raise UserError(f"expected key=value, found {override!r}")
        override_limits.check_override(override)
    with loader() as config_loader:
        try:
            parser = OverridesParser.create(config_loader=config_loader)
            parsed = parser.parse_overrides([_with_joined_list(one) for one in overrides])
        except (HydraException, ValueError, ArithmeticError, RecursionError) as error:
            raise UserError(why_unreadable(error, overrides)) from None
    for override in parsed:
        _check_sweep(override)
        override_limits.check_sweep([override])
    return list(parsed)


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


def _with_joined_list(override: str) -> str:
    """The override with a list for the scheduler, `a,b` or `n[1,3-5]`, as one text."""
    names = building.joined_list(key_of(override), override.partition("=")[2])
    return override if names is None else f"{override.partition('=')[0]}={quoted(names)}"


def literal(value: Any) -> Any:
    """What a parsed value is once it is composed: an escaped `${` is that text."""
    if isinstance(value, str):
        return re.sub(r"((?:\\\\)*)\\\$\{", lambda m: m[1][: len(m[1]) // 2] + "${", value)
    if isinstance(value, list):
        return [literal(item) for item in value]
    if isinstance(value, dict):
        return {literal(key): literal(item) for key, item in value.items()}
    return value


def has_interpolation(text: str) -> bool:
    """Whether `${...}` in it stands for another value."""
    return re.search(r"(?<!\\)(?:\\\\)*\$\{", text) is not None


def is_sweep(override: str) -> bool:
    """Whether the override names several values."""
    return bool(parse([override])[0].is_sweep_override())


@dataclass(frozen=True, slots=True)
class Choice:
    """One value that an override names."""

    text: str  # an override of its own: `seed=1`
    key: str
    value: Any


def choices(overrides: Sequence[str]) -> list[list[Choice]]:
    """The values of each override, in the order of Hydra's own sweeps; the last one of a key."""
    from hydra.core.override_parser.types import Override, Transformer

    parsed = {override.get_key_element(): override for override in parse(overrides)}
    override_limits.check_sweep(parsed.values())
    found = []
    for name, override in parsed.items():
        key, convert = override.key_or_group, Override._convert_value
        if override.is_sweep_override():
            elements = [(Transformer.encode(e), convert(e)) for e in override.sweep_iterator()]
        else:
            elements = [(override.get_value_element_as_str(), override.value())]
        if not elements:
            raise UserError(f"{override.input_line} names no value")
        is_delete = override.is_delete()
        texts = [override.input_line if is_delete else f"{name}={text}" for text, _ in elements]
        found.append([Choice(t, key, v) for t, (_, v) in zip(texts, elements, strict=True)])
    return found


def jobs(overrides: Sequence[str]) -> list[list[str]]:
    """Every combination of the values that the overrides name, as overrides with one value each."""
    return [[one.text for one in job] for job in itertools.product(*choices(overrides))]


def updated(values: dict[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """Plain values with those of the overrides put in, each read as Hydra reads it."""
    changed = copy.deepcopy(values)
    for key, value in _values(tuple(overrides)):
        *sections, name = key.split(".")
        holder = changed
        for section in sections:
            inner = holder.get(section)
            holder[section] = inner if isinstance(inner, dict) else {}
            holder = holder[section]
        holder[name] = copy.deepcopy(value)
    return changed


@lru_cache(maxsize=8)  # the overrides of a command are the same for all its folds
def _values(overrides: tuple[str, ...]) -> list[tuple[str, Any]]:
    """The key and the plain value of each override."""
    for override in overrides:
        refuse_interpolation(override)
    return [(one.key_or_group, literal(one.value())) for one in parse(overrides)]


def refuse_interpolation(override: str) -> None:
    if has_interpolation(override):
        value = override.partition("=")[2].strip("\"'")
        raise UserError(
            f"{override}: expected a value, found an interpolation, which only a command that "
            f"composes a config resolves; text is written {key_of(override)}={quoted(value)}"
        )


# ------------------------------------------------------------------------------------- composition


def composed(overrides: Sequence[str]) -> Any:
    """The primary config with these overrides applied, Hydra's own section included."""
    from hydra import compose
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    try:
        with loader():
            config = compose(
                config_folders.primary_config(),
                overrides=list(map(for_hydra, overrides)),
                return_hydra_config=True,
            )
    except YAMLError as error:
        raise UserError(f"a config file is not YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise UserError("a config file is nested too deeply: lists in lists, or itself") from None
    except UnicodeDecodeError:
        raise UserError(
            f"a config file is not UTF-8: {', '.join(config_folders.not_text())}"
        ) from None
    except UserError:
        raise
    except (HydraException, OmegaConfBaseException, ValueError, AssertionError) as error:
        raise UserError(explained(error, overrides)) from None
    if config_folders.own_folders():
        hydra_keys.check_composed(_flat(config.hydra), _flat(_shipped().hydra))
    return config


@lru_cache(maxsize=1)
def _shipped() -> Any:
    """What conf/ alone composes to."""
    from hydra import compose

    with loader():
        return compose("config", overrides=with_placeholders([]), return_hydra_config=True)


def _flat(config: Any, prefix: str = "hydra") -> dict[str, Any]:
    from omegaconf import DictConfig, OmegaConf

    if not isinstance(config, DictConfig):
        return {prefix: config}
    plain: Any = OmegaConf.to_container(config, resolve=False)
    return dict(_leaves(plain, prefix))


def _leaves(value: Any, key: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from _leaves(item, f"{key}.{name}")
    else:
        yield key, value


def for_hydra(override: str) -> str:
    """The override as Hydra takes it. `cluster.by` and `cuts.given` have whatever names the user's
    tables have, `cluster.options` those of all options of the scheduler."""
    override_limits.check_override(override)
    open_keys = ("cluster.by.", "cluster.by=", "cuts.given.", "cuts.given=", "cluster.options.")
    sign = "++" if override.startswith(open_keys) else ""
    return sign + _with_joined_list(override)


def plain(overrides: Sequence[str]) -> dict[str, Any]:
    """The composed config as plain values, without Hydra's own section."""
    return resolved_values(unresolved(overrides), overrides)


def unresolved(overrides: Sequence[str]) -> dict[str, Any]:
    """Likewise, with interpolations as they are written."""
    from omegaconf import OmegaConf

    values: Any = OmegaConf.to_container(part_of(composed(overrides), "job"), resolve=False)
    return {str(key): value for key, value in values.items()}


def resolved_values(values: dict[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """Plain values with their interpolations resolved; `overrides`: what ${hydra:...} tells of."""
    from hydra.core.hydra_config import HydraConfig
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    text = repr(values)
    if "${" not in text:
        return values
    try:
        if "${hydra:" in text:
            HydraConfig.instance().set_config(composed(overrides))
        config = OmegaConf.create(values)
        OmegaConf.copy_cache(from_config=_resolved_before(), to_config=config)
        found: Any = OmegaConf.to_container(config, resolve=True)
        OmegaConf.copy_cache(from_config=config, to_config=_resolved_before())
    except (OmegaConfBaseException, RecursionError) as error:
        place = getattr(error, "full_key", None)
        raise UserError(f"{place}: {first_line(error)}" if place else first_line(error)) from None
    return {str(key): value for key, value in found.items()}


@cache
def _resolved_before() -> Any:
    """Keeps what resolvers such as ${now:...} gave, so that all jobs of a command agree."""
    from omegaconf import OmegaConf

    return OmegaConf.create()


def part_of(config: Any, part: str) -> Any:
    """All of a composed config, its job's part, or Hydra's own."""
    from omegaconf import OmegaConf

    if part == "all":
        return config
    return OmegaConf.masked_copy(config, [k for k in config if (k == "hydra") == (part == "hydra")])


@cache
def _register_own_folders() -> None:
    """Let Hydra look for configs in the folders of the user, too."""
    from hydra.core.config_search_path import ConfigSearchPath
    from hydra.core.plugins import Plugins
    from hydra.plugins.search_path_plugin import SearchPathPlugin

    class OwnFolders(SearchPathPlugin):  # type: ignore[misc]
        def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
            for folder in config_folders.own_folders():
                search_path.append("own", f"file://{folder}")

    Plugins.instance().register(OwnFolders)


@cache
def _register_schema() -> None:
    """Put the settings where the defaults list of conf/config.yaml looks for them."""
    from hydra.core.config_store import ConfigStore

    schema = building.schema(Config)
    ConfigStore.instance().store(name="settings", node=schema, provider="fsm_hpc")


@contextmanager
def loader() -> Iterator[Any]:
    """Hydra's loader over conf/ and the user's own folders."""
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    _register_own_folders()
    _register_schema()
    with initialize_config_dir(str(conf_dir()), version_base="1.3", job_name="fsm_hpc"):
        yield GlobalHydra.instance().config_loader()


def with_placeholders(overrides: Sequence[str]) -> list[str]:
    """The overrides, with some dataset and method where they name none, to look at the rest."""
    given = {key_of(override) for override in overrides}
    stand_ins = {"dataset": "hepatitis", "method": "median"}
    return [*overrides, *(f"{key}={name}" for key, name in stand_ins.items() if key not in given)]
