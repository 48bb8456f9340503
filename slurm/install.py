"""Install the Debian packages of the trial SLURM."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence

PACKAGES = ("slurmctld", "slurmd", "slurm-client", "munge", "slurmdbd", "mariadb-server-core")
PROGRAMS = ("munged", "mariadbd", "slurmdbd", "slurmctld", "slurmd", "sbatch", "sacctmgr")
SYSTEM_PATH = os.pathsep.join(
    [os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]
)  # daemons are in sbin, which is not on the PATH of ordinary users


def missing_programs() -> list[str]:
    """Programs that the trial SLURM needs and this machine lacks."""
    return [name for name in PROGRAMS if shutil.which(name, path=SYSTEM_PATH) is None]


def how_to_install(packages: Sequence[str] = PACKAGES) -> str:
    """The command that installs the packages, for a message."""
    return f"sudo apt-get install --no-install-recommends {' '.join(packages)}"


def install() -> None:
    """Install the packages with apt, as root; otherwise the error says what to do."""
    if not missing_programs():
        return
    if shutil.which("apt-get") is None:
        raise RuntimeError(f"apt-get was not found; install {', '.join(PACKAGES)} by hand")
    if os.geteuid() != 0:
        raise RuntimeError(f"only root can install packages; run: {how_to_install()}")
    errors = apt_install(PACKAGES)
    if missing_programs():
        raise RuntimeError(
            f"still missing after the installation: {', '.join(missing_programs())}. {errors}"
        )


def apt_install(packages: Sequence[str]) -> str:
    """Install Debian packages; the errors of apt-get, which need not be fatal."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    errors = []
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
            errors.append(f"apt-get {command[0]} failed: {done.stderr.strip()[-500:]}")
    return "; ".join(errors)
