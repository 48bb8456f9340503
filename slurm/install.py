"""The Debian packages that the one-machine SLURM is made of."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence

PACKAGES = ("slurmctld", "slurmd", "slurm-client", "munge", "slurmdbd", "mariadb-server-core")
PROGRAMS = ("munged", "mariadbd", "slurmdbd", "slurmctld", "slurmd", "sbatch", "sacctmgr")
SYSTEM_PATH = os.pathsep.join(
    [os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]
)  # daemons live in sbin, which is not on an ordinary user's path


def missing_programs() -> list[str]:
    """The programs that the one-machine SLURM needs and this machine does not have."""
    return [name for name in PROGRAMS if shutil.which(name, path=SYSTEM_PATH) is None]


def how_to_install(packages: Sequence[str] = PACKAGES) -> str:
    """The command that brings the packages, for a message."""
    return f"sudo apt-get install --no-install-recommends {' '.join(packages)}"


def install() -> None:
    """Bring the packages with apt, as root; raises RuntimeError with what to do otherwise."""
    if not missing_programs():
        return
    if shutil.which("apt-get") is None:
        raise RuntimeError(f"there is no apt-get here; install {', '.join(PACKAGES)} by hand")
    if os.geteuid() != 0:
        raise RuntimeError(f"installing packages takes root; run: {how_to_install()}")
    trouble = apt_install(PACKAGES)
    if missing_programs():
        raise RuntimeError(
            f"still missing after the installation: {', '.join(missing_programs())}. {trouble}"
        )


def apt_install(packages: Sequence[str]) -> str:
    """Bring Debian packages; what apt-get had to complain about, which need not be fatal."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    trouble = []
    for command in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        done = subprocess.run(
            ["apt-get", "-qq", *command],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=900,
        )
        if done.returncode != 0:
            trouble.append(f"apt-get {command[0]} failed: {done.stderr.strip()[-500:]}")
    return "; ".join(trouble)
