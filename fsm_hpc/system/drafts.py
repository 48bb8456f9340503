"""Drafts: what a file is written to before it gets its name, and what a kill leaves of them."""

from __future__ import annotations

import os
import re
import secrets
import stat
import time
from contextlib import suppress
from pathlib import Path

from fsm_hpc.system import machine

SETTLED_S = 60.0  # a draft is written and renamed within moments, whoever writes it
OLD_S = 24 * 3600.0  # of another machine, whose processes cannot be seen from here
_DRAFT = re.compile(r"\..+\.(?P<pid>[0-9]{1,10})\.[0-9a-f]{8}", re.DOTALL)


def draft_of(path: Path) -> Path:
    """A name beside the file that no other writer has, and that says whose it is."""
    token = f"{os.uname().nodename}.{os.getpid()}.{secrets.token_hex(4)}"
    return path.with_name(f".{path.name}.{token}")


def clear(folder: Path) -> int:
    """Remove drafts that nobody will rename any more; how many they were.

    Nobody: their process on this machine is gone, or they are of another one and a day old.
    """
    with suppress(OSError):
        return sum(_removed(Path(entry.path)) for entry in os.scandir(folder) if _is_draft(entry))
    return 0


def _is_draft(entry: os.DirEntry[str]) -> bool:
    return _DRAFT.fullmatch(entry.name) is not None


def _removed(draft: Path) -> bool:
    """Another command may clear the same folder, and a folder may be another user's."""
    try:
        found = draft.lstat()
        if stat.S_ISREG(found.st_mode) and _is_left(draft.name, found.st_mtime):
            draft.unlink()
            return True
    except OSError:
        pass
    return False


def _is_left(name: str, written_at: float) -> bool:
    age_s = time.time() - written_at
    match = _DRAFT.fullmatch(name)
    if match is None or age_s < SETTLED_S:
        return False
    pid = match["pid"]
    is_here = name[: match.start("pid")].endswith(f".{os.uname().nodename}.")
    return age_s > OLD_S or (is_here and not machine.is_running(int(pid), written_at))
