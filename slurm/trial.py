"""Start and stop the trial SLURM: `python -m slurm.trial up|down|env|install`."""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

from slurm import daemons
from slurm.install import SYSTEM_PATH, how_to_install, install, missing_programs
from slurm.settings import Settings, cgroups_usable, default_folder, free_ports


def up(
    folder: Path | None = None,
    nodes: int = 3,
    cpus: int = 16,
    memory_mb: int = 131072,
    max_array_size: int = 1001,
    owner: int | None = None,
) -> Settings:
    """Start a cluster, or return the one that runs in this folder.

    It ends when the process with the id `owner` ends, if that is given.
    """
    folder = (folder or default_folder()).absolute()
    running = load(folder)
    if running is not None and daemons.answers(running):
        return running
    if running is not None or (folder / "cluster.json").exists():
        down(folder)  # some of its daemons died; remove the rest
    if missing_programs():
        raise RuntimeError(
            f"{', '.join(missing_programs())} missing; run: python -m slurm.trial install"
            f" (as root; it is: {how_to_install()})"
        )
    if folder.exists() and not (folder / "slurm.conf").exists() and any(folder.iterdir()):
        raise RuntimeError(f"{folder} contains other files; give an empty folder")
    shutil.rmtree(folder, ignore_errors=True)
    port = free_ports(2 + nodes)
    settings = Settings(
        folder, f"t{port}n", nodes, cpus, memory_mb, port, max_array_size, cgroups_usable()
    )
    daemons.write_configs(settings)
    try:
        daemons.start(settings)
    except BaseException:
        _keep_logs(settings)
        daemons.stop(settings)
        raise
    (folder / "cluster.json").write_text(json.dumps(asdict(settings), default=str))
    if owner is not None:
        _start_guard(folder, owner)
    return settings


def guard(folder: Path, owner: int) -> None:
    """Stop the cluster when its owner has ended."""
    while Path(f"/proc/{owner}/environ").exists() and (folder / "cluster.json").exists():
        time.sleep(1)
    down(folder)


def _start_guard(folder: Path, owner: int) -> None:
    subprocess.Popen(
        [sys.executable, "-m", "slurm.trial", "guard", f"--folder={folder}", f"--owner={owner}"],
        cwd=Path(__file__).parents[1],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def load(folder: Path | None = None) -> Settings | None:
    """The cluster that runs in this folder; None without one."""
    file = (folder or default_folder()).absolute() / "cluster.json"
    if not file.exists():
        return None
    values = json.loads(file.read_text())
    settings = Settings(**{**values, "folder": Path(values["folder"])})
    return settings if daemons.pids(settings) else None


def down(folder: Path | None = None) -> bool:
    """Stop the cluster and all its processes; False if there was none."""
    file = (folder or default_folder()).absolute() / "cluster.json"
    if not file.exists():
        return False
    values = json.loads(file.read_text())
    daemons.stop(Settings(**{**values, "folder": Path(values["folder"])}))
    return True


def exports(settings: Settings) -> str:
    """Shell lines that make a shell use the cluster."""
    return "\n".join(
        f"export {key}={shlex.quote(value)}"
        for key, value in (("SLURM_CONF", str(settings.slurm_conf)), ("PATH", SYSTEM_PATH))
    )


def _keep_logs(settings: Settings) -> None:
    """Print the last lines of all logs before the folder is removed."""
    for log in sorted([*settings.folder.glob("*.log"), *settings.folder.glob("*.out")]):
        lines = log.read_text(errors="replace").splitlines()[-8:]
        print(f"--- {log.name}", *lines, sep="\n", file=sys.stderr)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m slurm.trial", description=__doc__)
    parser.add_argument("command", choices=["up", "down", "env", "install", "guard"])
    parser.add_argument("--folder", type=Path, help=f"default: {default_folder()}")
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--cpus", type=int, default=16, help="per simulated node")
    parser.add_argument("--memory-mb", type=int, default=131072, help="per simulated node")
    parser.add_argument("--max-array-size", type=int, default=1001)
    parser.add_argument("--owner", type=int, help="stop the cluster when this process ends")
    options = parser.parse_args(arguments)
    try:
        return _run(options)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1


def _run(options: argparse.Namespace) -> int:
    if options.command == "install":
        install()
        print("all packages of the trial SLURM are installed")
        return 0
    if options.command == "guard":
        guard(options.folder, options.owner)
        return 0
    if options.command == "down":
        found = down(options.folder)
        print("the trial SLURM was stopped" if found else "no trial SLURM was running")
        return 0
    if options.command == "env":
        settings = load(options.folder)
        if settings is None:
            raise RuntimeError("no trial SLURM is running; start it with: make cluster-up")
        print(exports(settings))
        return 0
    began = time.monotonic()
    settings = up(
        options.folder,
        options.nodes,
        options.cpus,
        options.memory_mb,
        options.max_array_size,
        options.owner,
    )
    print(
        f"started {settings.nodes} nodes of {settings.cpus} CPUs in {settings.folder} "
        f'({time.monotonic() - began:.1f} s); use them in a shell: eval "$(make -s cluster-env)"'
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
