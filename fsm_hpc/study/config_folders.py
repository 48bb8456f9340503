"""Where configs are: conf/, the folders of the user, and what --config-dir adds."""

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
    """The primary config of a command, and a folder with more configs."""

    name: str = "config"
    folder: Path | None = None


_SOURCE: ContextVar[ConfigSource] = ContextVar("source", default=ConfigSource())  # noqa: B039


def use(name: str | None, folder: str | None) -> None:
    """Take configs from where --config-name and --config-dir of this command say."""
    if folder is not None and not Path(folder).is_dir():
        raise UserError(f"--config-dir: expected a folder, found {folder!r}")
    added = Path(folder).absolute() if folder is not None else None
    _SOURCE.set(ConfigSource(name.removesuffix(".yaml") if name else "config", added))
    name = primary_config()
    if not any((place / f"{name}.yaml").is_file() for place in folders()):
        known = [path.stem for place in folders() for path in place.glob("*.yaml")]
        raise UserError(
            f"--config-name: {name}.yaml is in none of {', '.join(map(str, folders()))}"
            f"{did_you_mean(name, known)}; --config-dir FOLDER adds a folder"
        )


def options() -> list[str]:
    """The options of this command that say where configs are."""
    source = _SOURCE.get()
    folder = [f"--config-dir={source.folder}"] if source.folder else []
    return [*folder, *([f"--config-name={source.name}"] if source.name != "config" else [])]


def primary_config() -> str:
    return _SOURCE.get().name


def own_folders() -> list[Path]:
    """Where a site or a user keeps configs: --config-dir, $FSM_CONF_DIR, ~/.config/fsm_hpc."""
    given = os.environ.get("FSM_CONF_DIR")
    named = [_SOURCE.get().folder, Path(given).absolute() if given else None]
    places = [*named, Path.home() / ".config" / "fsm_hpc"]
    return [place for place in places if place is not None and place.is_dir()]


def folders() -> list[Path]:
    return [conf_dir(), *own_folders()]


def groups() -> tuple[str, ...]:
    """The config groups: dataset, method, experiment and the other folders of conf/."""
    found = {path.name for place in folders() for path in place.iterdir() if path.is_dir()}
    return tuple(sorted(name for name in found if not name.startswith((".", "_"))))


def names_in(group: str) -> list[str]:
    """The choices of a config group."""
    return sorted({path.stem for place in folders() for path in (place / group).glob("*.yaml")})


def not_text() -> Iterator[str]:
    """The user's config files that are something else; ours are text."""
    for path in (path for place in own_folders() for path in sorted(place.rglob("*.yaml"))):
        try:
            path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            yield str(path)
        except OSError:  # not the one that was read
            continue
