"""Settings whose value is a list to a scheduler, so that commas in it are no sweep."""

from __future__ import annotations

import re

from fsm_hpc.errors import UserError

# options of schedulers, as they spell them
NAMES = frozenset(
    [
        *("partition", "mail-type", "exclude", "nodelist", "clusters", "reservation"),
        *("gres", "licenses", "dependency", "export", "tres-per-task"),
    ]
)


def is_list(key: str) -> bool:
    """Whether it is one: `cluster.partition`, `cluster.by.bank.options.exclude`."""
    section, _, name = key.rpartition(".")
    return section.partition(".")[0] == "cluster" and name.replace("_", "-") in NAMES


def joined(key: str, value: str) -> str | None:
    """The text that a value such as `a,b` or `n[1,3-5]` stands for; None where it is not a list to
    the scheduler, and where `[a,b]` or `choice(a,b)` is Hydra's to read."""
    is_read_by_hydra = re.match(r"\s*(\[|\{|\w+\()", value)
    if not is_list(key) or is_read_by_hydra or not re.search(r"[,\[]", value):
        return None
    names = re.sub(r"[\"']|\s*(,)\s*", r"\1", value).strip()
    if not all(names.split(",")):
        raise UserError(f"{key}: expected names between commas, found {value!r}")
    return names
