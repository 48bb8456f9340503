"""Temporary files for atomic writes, and the removal of those that a killed process left."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from fsm_hpc.system import heartbeat, process_identity

SETTLED_S = 60.0  # every writer renames its file sooner
OLD_S = 24 * 3600.0  # for files of another PID namespace, whose processes are not visible
_TEMPFILE = re.compile(r"\..+\.(?P<pid>[0-9]{1,10})\.[0-9a-f]{8}", re.DOTALL)


def tempfile_for(path: Path) -> Path:
    """A unique name in the same folder, with the process of the writer."""
    token = f"{namespace_digest()}.{os.getpid()}.{secrets.token_hex(4)}"
    return path.with_name(f".{path.name}.{token}")


def namespace_digest() -> str:
    """The PID namespace of this process as part of a file name."""
    return hashlib.sha256(process_identity.namespace().encode()).hexdigest()[:12]


def clear(folder: Path) -> int:
    """Remove abandoned temporary files; their number.

    Abandoned: their process has ended, or is not visible and they are a day old.
    """
    with suppress(OSError):
        paths = [Path(entry.path) for entry in os.scandir(folder) if _is_tempfile(entry)]
        now = heartbeat.now_at(folder) if paths else None
        return 0 if now is None else sum(_removed(path, now / 1e9) for path in paths)
    return 0


def _is_tempfile(entry: os.DirEntry[str]) -> bool:
    return _TEMPFILE.fullmatch(entry.name) is not None


def _removed(path: Path, now: float) -> bool:
    """Remove an abandoned file; ignores errors, as another command may clear the same folder."""
    try:
        info = path.lstat()
        if stat.S_ISREG(info.st_mode) and _is_abandoned(path.name, abs(now - info.st_mtime)):
            path.unlink()
            return True
    except OSError:
        pass
    return False


def _is_abandoned(name: str, age_s: float) -> bool:
    match = _TEMPFILE.fullmatch(name)
    if match is None or age_s < SETTLED_S:
        return False
    is_local = name[: match.start("pid")].endswith(f".{namespace_digest()}.")
    is_visible = is_local and process_identity.namespace() != ""
    return age_s > OLD_S or (is_visible and not process_identity.exists(int(match["pid"])))
