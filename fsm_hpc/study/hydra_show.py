"""What --cfg and --info show of a composed config."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from fsm_hpc.errors import UserError
from fsm_hpc.study import config_folders, hydra
from fsm_hpc.study.hydra_errors import first_line


def as_yaml(config: Any, part: str, package: str | None, resolve: bool) -> str:
    """What `--cfg` prints: a part of a composed config, or a package of it."""
    from hydra.core.hydra_config import HydraConfig
    from omegaconf import OmegaConf
    from omegaconf.base import Container
    from omegaconf.errors import OmegaConfBaseException

    package = None if package == "_global_" else package
    try:
        HydraConfig.instance().set_config(config)
        shown = hydra.part_of(config, part)
        shown._set_parent(config if part == "job" else None)
        OmegaConf.set_readonly(shown, False)
        found = shown if package is None else OmegaConf.select(shown, package)
        if found is None:
            raise UserError(f"--package: {package} is not in the config; --cfg {part} shows it")
        if not isinstance(found, Container):
            return f"{found}\n"
        if resolve:
            OmegaConf.resolve(found)
    except OmegaConfBaseException as error:
        raise UserError(first_line(error)) from None
    head = f"# @package {package}\n" if package else ""
    return head + OmegaConf.to_yaml(found)


def show_info(about: str, overrides: Sequence[str]) -> None:
    """Print what `--info` of Hydra prints: defaults, search path, plugins."""
    from hydra.core.global_hydra import GlobalHydra

    hydra.composed(overrides)  # what is wrong with them is said as everywhere
    with hydra.loader(), _logging_restored():
        shower = GlobalHydra.instance().hydra
        taken = list(map(hydra.for_hydra, overrides))
        shower.show_info(about, config_folders.primary_config(), taken)


@contextmanager
def _logging_restored() -> Iterator[None]:
    handlers, level = logging.root.handlers[:], logging.root.level
    try:
        yield
    finally:
        logging.root.handlers[:] = handlers
        logging.root.setLevel(level)
