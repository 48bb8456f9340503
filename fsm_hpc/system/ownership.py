"""Who else may write a file or a folder: what is in it may then be theirs."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from collections.abc import Iterable
from pathlib import Path


def other_writers(paths: Iterable[Path]) -> str:
    """The first of these places that somebody else may write, and who; nothing where nobody may."""
    for path in paths:
        try:
            who = writers(path.stat())
        except OSError:
            continue
        if who:
            return f"{path} may be written by {who}"
    return ""


def writers(found: os.stat_result) -> str:
    """Who else may write what has these rights; nothing where nobody may."""
    if found.st_uid not in (os.getuid(), 0):
        return f"its owner, {_user(found.st_uid)}"
    if found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
        return "everybody"
    if found.st_mode & stat.S_IWGRP and not _is_own_group(found.st_gid):
        return f"the group {_group(found.st_gid)}"
    return ""


def _is_own_group(number: int) -> bool:
    """Whether nobody else is in the group, as in the one that many systems give each user."""
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
