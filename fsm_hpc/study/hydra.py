"""The only module that calls Hydra: parse overrides, expand a sweep, compose and show configs.

It contains what is private to Hydra, and hydra_errors.py the texts of its errors;
tests/study/test_hydra.py fails when a new version of Hydra changes them.
"""

from __future__ import annotations

import io
import logging
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from typing import Any

from fsm_hpc.errors import UserError
from fsm_hpc.study import building, config_folders, hydra_keys, keys
from fsm_hpc.study.config import Config
from fsm_hpc.study.hydra_errors import explained, first_line, why_unreadable
from fsm_hpc.study.override_syntax import check_size, check_sweep, key_of, quoted
from fsm_hpc.system.files import conf_dir

# --------------------------------------------------------------------------------------- overrides


def parse(overrides: Sequence[str]) -> list[Any]:
    """The overrides, parsed by Hydra."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    for override in overrides:
        if not key_of(override) or ("=" not in override and not override.startswith("~")):
            raise UserError(f"expected key=value, found {override!r}")
        check_size(override)
    with loader() as config_loader:
        try:
            parser = OverridesParser.create(config_loader=config_loader)
            parsed = parser.parse_overrides(list(map(_with_joined_list, overrides)))
        except (HydraException, ValueError, ArithmeticError, RecursionError) as error:
            raise UserError(why_unreadable(error, overrides)) from None
    for override in parsed:
        _check_listable(override)
        check_sweep([override])
    return list(parsed)


def _check_listable(override: Any) -> None:
    """Refuse sweeps that Hydra parses but cannot expand."""
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
    """The override with a list of the scheduler, `a,b` or `n[1,3-5]`, as one text."""
    names = building.joined_list(key_of(override), override.partition("=")[2])
    return override if names is None else f"{override.partition('=')[0]}={quoted(names)}"


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of an override."""

    text: str  # an override of its own: `seed=1`
    key: str
    value: Any


def choices(overrides: Sequence[str]) -> list[list[Choice]]:
    """The values of each override, in the order of Hydra's sweeps; the last override of a key."""
    from hydra.core.override_parser.types import Override, Transformer

    parsed = {override.get_key_element(): override for override in parse(overrides)}
    check_sweep(parsed.values())
    choices = []
    for name, override in parsed.items():
        key, convert = override.key_or_group, Override._convert_value
        if override.is_sweep_override():
            elements = [(Transformer.encode(e), convert(e)) for e in override.sweep_iterator()]
        else:
            elements = [(override.get_value_element_as_str(), override.value())]
        if not elements:
            raise UserError(f"{override.input_line} has no value")
        is_delete = override.is_delete()
        texts = [override.input_line if is_delete else f"{name}={text}" for text, _ in elements]
        choices.append([Choice(t, key, v) for t, (_, v) in zip(texts, elements, strict=True)])
    return choices


# ------------------------------------------------------------------------------------- composition


def composed(overrides: Sequence[str]) -> Any:
    """The primary config with these overrides applied, Hydra's own section included."""
    from hydra import compose
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    name, texts = config_folders.primary_config(), list(map(_for_hydra, overrides))
    try:
        with loader():
            config = compose(name, overrides=texts, return_hydra_config=True)
    except YAMLError as error:
        raise UserError(f"a config file is not YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise UserError("a config file is nested too deeply or includes itself") from None
    except UnicodeDecodeError:
        raise UserError(
            f"a config file is not UTF-8: {', '.join(config_folders.not_text())}"
        ) from None
    except UserError:
        raise
    except (HydraException, OmegaConfBaseException, ValueError, AssertionError) as error:
        raise UserError(explained(error, overrides)) from None
    if config_folders.own_folders():
        hydra_keys.check_composed(_of_hydra(config), _of_hydra(_shipped()))
    return config


@cache
def _shipped() -> Any:
    """The config of conf/ alone."""
    from hydra import compose

    with loader():
        return compose("config", overrides=with_placeholders([]), return_hydra_config=True)


def _of_hydra(config: Any) -> Any:
    from omegaconf import OmegaConf

    return OmegaConf.to_container(config.hydra, resolve=False)


def _for_hydra(override: str) -> str:
    """The override for Hydra: keys that the user names, as in cluster.options, are added."""
    check_size(override)
    names = (key_of(override).startswith(f"{key}.") for key in keys.open_keys())
    is_open = key_of(override) in keys.open_keys() or any(names)
    sign = "++" if is_open and override[0] not in "+~" else ""
    return sign + _with_joined_list(override)


def unresolved(overrides: Sequence[str]) -> dict[str, Any]:
    """The composed config as plain values, without Hydra's own section; interpolations as they are
    written."""
    from omegaconf import OmegaConf

    config = composed(overrides)
    own = OmegaConf.masked_copy(config, [key for key in config if key != "hydra"])
    values: Any = OmegaConf.to_container(own, resolve=False)
    return {str(key): value for key, value in values.items()}


def resolved_values(values: dict[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """Plain values with their interpolations resolved; `overrides`: for ${hydra:...}."""
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
        resolved: Any = OmegaConf.to_container(config, resolve=True)
        OmegaConf.copy_cache(from_config=config, to_config=_resolved_before())
    except (OmegaConfBaseException, RecursionError) as error:
        key = getattr(error, "full_key", None)
        raise UserError(f"{key}: {first_line(error)}" if key else first_line(error)) from None
    return {str(key): value for key, value in resolved.items()}


@cache
def _resolved_before() -> Any:
    """A cache of resolvers such as ${now:...}, so that all jobs of a command agree."""
    from omegaconf import OmegaConf

    return OmegaConf.create()


@cache
def _register() -> None:
    """Register the config folders of the user, and the settings as a structured config, which is
    the first entry of the defaults list in conf/config.yaml."""
    from hydra.core.config_search_path import ConfigSearchPath
    from hydra.core.config_store import ConfigStore
    from hydra.core.plugins import Plugins
    from hydra.plugins.search_path_plugin import SearchPathPlugin

    class OwnFolders(SearchPathPlugin):  # type: ignore[misc]
        def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
            for folder in config_folders.own_folders():
                search_path.append("own", f"file://{folder}")

    Plugins.instance().register(OwnFolders)
    schema = building.schema(Config)
    ConfigStore.instance().store(name="settings", node=schema, provider="fsm_hpc")


@contextmanager
def loader() -> Iterator[Any]:
    """Hydra's config loader for conf/ and the folders of the user."""
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    _register()
    with initialize_config_dir(str(conf_dir()), version_base="1.3", job_name="fsm_hpc"):
        yield GlobalHydra.instance().config_loader()


def with_placeholders(overrides: Sequence[str]) -> list[str]:
    """The overrides, with a dataset and a method if they have none."""
    given = {key_of(override) for override in overrides}
    missing = {"dataset": "hepatitis", "method": "median"}
    return [*overrides, *(f"{key}={name}" for key, name in missing.items() if key not in given)]


# ----------------------------------------------------------------------------------------- showing


def shown(overrides: Sequence[str], part: str, package: str | None, resolve: bool) -> str:
    """The output of `--cfg` of Hydra."""
    from omegaconf.errors import OmegaConfBaseException

    output = io.StringIO()
    try:
        with _shower() as (hydra, name), redirect_stdout(output), redirect_stderr(io.StringIO()):
            hydra.show_cfg(name, list(map(_for_hydra, overrides)), part, package, resolve)
    except SystemExit:
        advice = f"--cfg {part} shows it"
        raise UserError(f"--package: {package} is not in the config; {advice}") from None
    except OmegaConfBaseException as error:
        raise UserError(first_line(error)) from None
    return output.getvalue()


def show_info(about: str, overrides: Sequence[str]) -> None:
    """Print the output of `--info` of Hydra: defaults, search path, plugins."""
    composed(overrides)  # reports errors as every command does
    with _shower() as (hydra, name):
        hydra.show_info(about, name, list(map(_for_hydra, overrides)))


@contextmanager
def _shower() -> Iterator[tuple[Any, str]]:
    """Hydra's application and the name of the primary config; restores logging."""
    from hydra.core.global_hydra import GlobalHydra

    handlers, level = logging.root.handlers[:], logging.root.level
    try:
        with loader():
            yield GlobalHydra.instance().hydra, config_folders.primary_config()
    finally:
        logging.root.handlers[:] = handlers
        logging.root.setLevel(level)
