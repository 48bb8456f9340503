"""Temporary files that become a file by a rename, and what a kill leaves of them."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from fsm_hpc.system import heartbeat, process_identity

SETTLED_S = 60.0  # such a file is written and renamed within moments, whoever writes it
OLD_S = 24 * 3600.0  # of another PID namespace, whose processes cannot be seen from here
_TEMPFILE = re.compile(r"\..+\.(?P<pid>[0-9]{1,10})\.[0-9a-f]{8}", re.DOTALL)


def tempfile_for(path: Path) -> Path:
    """A name beside the file that no other writer has, and that says whose it is."""
    token = f"{namespace_digest()}.{os.getpid()}.{secrets.token_hex(4)}"
    return path.with_name(f".{path.name}.{token}")


def namespace_digest() -> str:
    """The PID namespace of this process as part of a file name."""
    return hashlib.sha256(process_identity.namespace().encode()).hexdigest()[:12]


def clear(folder: Path) -> int:
    """Remove temporary files that nobody will rename any more; how many they were.

    Nobody: their process is seen to be gone, or cannot be seen from here and they are a day old.
    """
    with suppress(OSError):
        paths = [Path(entry.path) for entry in os.scandir(folder) if _is_tempfile(entry)]
        now = heartbeat.now_at(folder) if paths else None
        return 0 if now is None else sum(_removed(path, now / 1e9) for path in paths)
    return 0


def _is_tempfile(entry: os.DirEntry[str]) -> bool:
    return _TEMPFILE.fullmatch(entry.name) is not None


def _removed(path: Path, now: float) -> bool:
    """Another command may clear the same folder, and a folder may be another user's."""
    try:
        found = path.lstat()
        if stat.S_ISREG(found.st_mode) and _is_left(path.name, abs(now - found.st_mtime)):
            path.unlink()
            return True
    except OSError:
        pass
    return False


def _is_left(name: str, age_s: float) -> bool:
    match = _TEMPFILE.fullmatch(name)
    if match is None or age_s < SETTLED_S:
        return False
    is_here = name[: match.start("pid")].endswith(f".{namespace_digest()}.")
    is_seen = is_here and process_identity.namespace() != ""
    return age_s > OLD_S or (is_seen and not process_identity.exists(int(match["pid"])))
