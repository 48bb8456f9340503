"""Which other users may write a file or a folder."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from collections.abc import Iterable
from pathlib import Path


def other_writers(paths: Iterable[Path]) -> str:
    """A message about the first path that other users may write; empty without any."""
    for path in paths:
        try:
            users = writers(path.stat())
        except OSError:
            continue
        if users:
            return f"{path} may be written by {users}"
    return ""


def writers(rights: os.stat_result) -> str:
    """The other users with write permission; empty without any."""
    if rights.st_uid not in (os.getuid(), 0):
        return f"its owner, {_user(rights.st_uid)}"
    if rights.st_mode & stat.S_IWOTH and not rights.st_mode & stat.S_ISVTX:
        return "everybody"
    if rights.st_mode & stat.S_IWGRP and not _is_own_group(rights.st_gid):
        return f"the group {_group(rights.st_gid)}"
    return ""


def _is_own_group(number: int) -> bool:
    """Whether it is the private group of this user, without other members."""
    me = _user(os.getuid())
    try:
        group = grp.getgrgid(number)
    except KeyError:
        return False
    return group.gr_name == me and set(group.gr_mem) <= {me}


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


def _group(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
