"""The folders of config files: conf/, those of the user, and --config-dir."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from fsm_hpc.errors import UserError, did_you_mean
from fsm_hpc.system.files import conf_dir


@dataclass(frozen=True, slots=True)
class ConfigSource:
    """The primary config of a command, and an additional config folder."""

    name: str = "config"
    folder: Path | None = None


_SOURCE: ContextVar[ConfigSource] = ContextVar("source", default=ConfigSource())  # noqa: B039


def use(name: str | None, folder: str | None) -> None:
    """Use --config-name and --config-dir of this command."""
    if folder is not None and not Path(folder).is_dir():
        raise UserError(f"--config-dir: expected a folder, found {folder!r}")
    added = Path(folder).absolute() if folder is not None else None
    _SOURCE.set(ConfigSource(name.removesuffix(".yaml") if name else "config", added))
    name = primary_config()
    if not any((parent / f"{name}.yaml").is_file() for parent in folders()):
        known = [path.stem for parent in folders() for path in parent.glob("*.yaml")]
        raise UserError(
            f"--config-name: {name}.yaml is in none of {', '.join(map(str, folders()))}"
            f"{did_you_mean(name, known)}; --config-dir FOLDER adds a folder"
        )


def options() -> list[str]:
    """--config-dir and --config-name of this command."""
    source = _SOURCE.get()
    folder = [f"--config-dir={source.folder}"] if source.folder else []
    return [*folder, *([f"--config-name={source.name}"] if source.name != "config" else [])]


def primary_config() -> str:
    return _SOURCE.get().name


def own_folders() -> list[Path]:
    """The config folders of a site or user: --config-dir, $FSM_CONF_DIR, ~/.config/fsm_hpc."""
    given = os.environ.get("FSM_CONF_DIR")
    home = Path.home() / ".config" / "fsm_hpc"
    candidates = (_SOURCE.get().folder, Path(given).absolute() if given else None, home)
    return [path for path in candidates if path is not None and path.is_dir()]


def folders() -> list[Path]:
    return [conf_dir(), *own_folders()]


def groups() -> tuple[str, ...]:
    """The config groups: dataset, method, experiment and the other folders of conf/."""
    names = {path.name for parent in folders() for path in parent.iterdir() if path.is_dir()}
    return tuple(sorted(name for name in names if not name.startswith((".", "_"))))


def names_in(group: str) -> list[str]:
    """The choices of a config group."""
    return sorted({path.stem for parent in folders() for path in (parent / group).glob("*.yaml")})


def not_text() -> Iterator[str]:
    """The config files of the user that are not UTF-8."""
    for path in (path for parent in own_folders() for path in sorted(parent.rglob("*.yaml"))):
        try:
            path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            yield str(path)
        except OSError:  # not the file that was read
            continue
