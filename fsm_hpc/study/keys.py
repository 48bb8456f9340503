"""The keys that a command may set, derived from the fields of the config."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache

from fsm_hpc.errors import UserError, did_you_mean
from fsm_hpc.study import hydra_keys
from fsm_hpc.study.building import refuse_option
from fsm_hpc.study.config import Config
from fsm_hpc.study.config_folders import groups, names_in
from fsm_hpc.study.hydra_keys import is_of_hydra
from fsm_hpc.study.override_syntax import key_of
from fsm_hpc.system.settings import Setting, settings_of

OF_TABLE = ("dataset", "dataset.", "data_dir", "allow_changed_data")  # how to find and read it
EXPERIMENT = "experiment"  # a config group whose files set other keys
SETTINGS: dict[str, Setting] = {setting.key: setting for setting in settings_of(Config)}


def known() -> tuple[str, ...]:
    """Every key and group: `seed`, `scan`, `scan.budget_h`, `experiment`."""
    return tuple(dict.fromkeys([*SETTINGS, *groups()]))


@cache
def open_keys() -> tuple[str, ...]:
    """Keys of mappings with any names: `cluster.options`."""
    return tuple(key for key, setting in SETTINGS.items() if setting.is_open)


def is_known(key: str) -> bool:
    return key in known() or key.startswith(tuple(f"{name}." for name in open_keys()))


def check(overrides: Sequence[str], own: Collection[str] = ()) -> None:
    """Refuse an override whose key is neither a setting nor one of `own`."""
    for override in overrides:
        key = key_of(override)
        if "=" not in override and not override.startswith("~"):
            raise UserError(f"expected key=value, found {override!r}{_with_key(override)}")
        if override.startswith("~") and key in SETTINGS and not SETTINGS[key].is_section:
            raise UserError(f"{override}: every setting has a value; write {key}=VALUE instead")
        if is_of_hydra(key):
            hydra_keys.check(override)
        elif key not in own and not is_known(key):
            refuse_option(key)
            near = suggestion(key, own)
            raise UserError(
                f"{key or override} is not a setting{near}; --cfg job lists all settings"
            )


def _with_key(override: str) -> str:
    """A suggestion for a value without a key."""
    groups = [group for group in ("dataset", "method") if override in names_in(group)]
    return f", did you mean {groups[0]}={override}?" if groups else ""


def suggestion(key: str, own: Collection[str] = ()) -> str:
    """`, did you mean scan.budget_h?`: the known keys that are similar to an unknown one."""
    name = key.lower().replace("-", "_").replace("/", ".")
    candidates = [*known(), *(k for k in own if not k.endswith(".") and k not in known())]
    same = [candidate for candidate in candidates if candidate.rpartition(".")[2] == name]
    return f", did you mean {' or '.join(same)}?" if same else did_you_mean(name, candidates)


def check_used(overrides: Sequence[str], used: Sequence[str], command: str) -> None:
    """Refuse a setting that this command does not use; `used`: keys, or groups as `dataset.`."""
    check(overrides, used)
    for override in overrides:
        key = key_of(override)
        if key not in used and not key.startswith(tuple(u for u in used if u.endswith("."))):
            uses = ", ".join(f"{name}*" if name.endswith(".") else name for name in used)
            raise UserError(f"{key} has no effect on `{command}`, which takes: {uses}")
