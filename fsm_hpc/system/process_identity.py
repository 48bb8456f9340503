"""Which process one is, on any machine and in any container, and whether it still runs."""

from __future__ import annotations

import calendar
import os
import subprocess
import time
from functools import cache
from pathlib import Path
from typing import Annotated

from msgspec import Meta

PROC = Path("/proc")
# BOOT_ID/PID_NAMESPACE/PID/START; empty where the system does not tell
Identity = Annotated[str, Meta(pattern=r"^(|[\w-]{1,64}/[0-9]{1,20}/[0-9]{1,10}/[0-9]{1,20})\Z")]
ENDED = -1  # the start of a process that has ended, and whose parent has not collected it


def of(pid: int | None = None) -> str:
    """The identity of this process, or of another one that it can see."""
    number = os.getpid() if pid is None else pid
    where, start = namespace(), _start(number)
    return "" if not where or start is None else f"{where}/{number}/{start}"


def is_running(identity: str) -> bool | None:
    """Whether that very process runs; None where it cannot be seen from here.

    No clock is involved: the kernel counts the start of a process in ticks since its boot.
    """
    boot_id, inode, pid, start = identity.split("/") if identity else ("", "", "0", "0")
    if not identity or f"{boot_id}/{inode}" != namespace():
        return None
    if not exists(int(pid)):
        return False
    found = _start(int(pid))
    return None if found is None else found == int(start)


def namespace() -> str:
    """BOOT_ID/PID_NAMESPACE: processes of one such namespace see each other by their ids."""
    boot_id = _boot_id()
    return f"{boot_id}/{_inode()}" if boot_id else ""


def _inode() -> int:
    try:
        return (PROC / "self/ns/pid").stat().st_ino
    except OSError:
        return 0  # a system without PID namespaces


@cache
def _boot_id() -> str:
    try:
        return (PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return _answer("sysctl", "-n", "kern.bootsessionuuid")  # macOS


def exists(pid: int) -> bool:
    """Whether some process of this PID namespace has that id now."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # another user's
    return True


def _start(pid: int) -> int | None:
    """When a process began, in a unit that no clock step changes; None where it is not shown."""
    folder = "self" if pid == os.getpid() else str(pid)
    try:
        if folder != "self" and not _shows_own_namespace():
            return None
        fields = (PROC / folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
        return ENDED if fields[0] in "ZX" else int(fields[19])
    except (OSError, IndexError, ValueError):
        return None if (PROC / "self").exists() else _start_without_proc(pid)


def _shows_own_namespace() -> bool:
    """/proc may be that of the machine around a container, with other ids."""
    return os.readlink(PROC / "self") == str(os.getpid())  # noqa: PTH115 - of a magic link


def _start_without_proc(pid: int) -> int | None:
    """The second in which it began, which macOS keeps as it was."""
    try:
        shown = _answer("ps", "-o", "lstart=", "-p", str(pid))
        return calendar.timegm(time.strptime(shown, "%a %b %d %H:%M:%S %Y"))
    except ValueError:
        return None


def _answer(*command: str) -> str:
    environment = {**os.environ, "LC_ALL": "C", "TZ": "UTC"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=10, env=environment, check=False
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
