"""Start and stop the daemons of the trial SLURM, and find its processes."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from slurm.install import SYSTEM_PATH
from slurm.settings import CGROUP_V1, Settings, cgroup_conf, slurm_conf, slurmdbd_conf

MARK = "FSM_TRIAL_SLURM"  # environment variable of every daemon: the folder of its cluster


def environment(settings: Settings) -> dict[str, str]:
    """Environment variables with which the programs of SLURM use this cluster."""
    return {
        **{key: value for key, value in os.environ.items() if not key.startswith("SLURM_")},
        "PATH": SYSTEM_PATH,
        "SLURM_CONF": str(settings.slurm_conf),
        "MYSQL_UNIX_PORT": str(settings.database_socket),
    }


def write_configs(settings: Settings) -> None:
    """Create the folder and every config file in it."""
    folder = settings.folder
    for name in ("munge", "state", "db", *(f"spool-{node}" for node in settings.node_names)):
        (folder / name).mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    (folder / "munge").chmod(0o755)
    (folder / "db").chmod(0o700)
    (folder / "slurm.conf").write_text(slurm_conf(settings))
    if settings.uses_cgroups:
        (folder / "cgroup.conf").write_text(cgroup_conf())
    database = folder / "slurmdbd.conf"
    database.touch(mode=0o600)
    database.write_text(slurmdbd_conf(settings))
    key = folder / "munge" / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))


def start(settings: Settings) -> None:
    """Start all daemons, each when the one that it needs answers."""
    start_munged(settings)
    start_database(settings)
    start_slurmdbd(settings)
    start_slurmctld(settings)
    for node in settings.node_names:
        start_slurmd(settings, node)
    _wait("the nodes to be idle", lambda: _idle_nodes(settings) == settings.nodes, settings)


def start_munged(settings: Settings) -> None:
    folder = settings.folder / "munge"
    options = [f"--{name}={folder}/munge.{end}" for name, end in _MUNGE_FILES]
    _spawn(settings, "munged", "--foreground", "--force", f"--seed-file={folder}/seed", *options)
    _wait("munged", settings.munge_socket.exists, settings)


_MUNGE_FILES = (
    ("key-file", "key"),
    ("socket", "sock"),
    ("pid-file", "pid"),
    ("log-file", "log"),
)


def start_database(settings: Settings) -> None:
    _spawn(
        settings,
        "mariadbd",
        "--no-defaults",
        f"--datadir={settings.folder}/db",
        "--skip-grant-tables",
        "--skip-networking",
        f"--socket={settings.database_socket}",
        "--innodb-flush-log-at-trx-commit=0",
        "--innodb-buffer-pool-size=16M",
        "--user=" + ("root" if os.geteuid() == 0 else os.environ.get("USER", "nobody")),
    )
    _wait("mariadbd", settings.database_socket.exists, settings)


def start_slurmdbd(settings: Settings) -> None:
    _spawn(settings, "slurmdbd", "-D")
    _wait("slurmdbd", lambda: _answers(settings.database_port), settings)


def start_slurmctld(settings: Settings) -> None:
    _spawn(settings, "slurmctld", "-D", "-i")
    _wait("slurmctld", lambda: _answers(settings.first_port), settings)


def start_slurmd(settings: Settings, node: str) -> None:
    _spawn(settings, "slurmd", "-D", "-N", node)


def answers(settings: Settings) -> bool:
    """Whether slurmctld answers and no node is down."""
    states = _sinfo(settings, "-o", "%T").split()
    return len(states) == settings.nodes and not any("down" in s or "*" in s for s in states)


def log_errors(settings: Settings, most: int = 40) -> list[str]:
    """The last lines with errors in the logs of the daemons, the newest last."""
    lines = [
        f"{path.stem}: {line}"
        for path in sorted(settings.folder.glob("slurm*.log"))
        for line in path.read_text(errors="replace").splitlines()
        if "error" in line
    ]
    return sorted(lines, key=lambda line: line.partition(": ")[2])[-most:]


def pids(settings: Settings, *words: str) -> list[int]:
    """Daemons whose command line contains all these words, such as `slurmd`, `-N`, `n1`."""
    return [pid for pid in _processes(settings) if set(words) <= set(_command(pid))]


def task_pids(settings: Settings, job_id: str, task: int) -> list[int]:
    """The processes of one task of a job, on any simulated node."""
    wanted = {f"SLURM_JOB_ID={job_id}".encode(), f"SLURM_PROCID={task}".encode()}
    return [pid for pid in _processes(settings) if wanted <= set(_variables(pid))]


def stop(settings: Settings) -> None:
    """Cancel all jobs, end all processes of the cluster, and remove its files."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        subprocess.run(
            ["scancel", "--state=RUNNING,PENDING,SUSPENDED", f"--user={os.geteuid()}", "--quiet"],
            env=environment(settings),
            timeout=5,
            capture_output=True,
        )
    for kind, grace_s in ((signal.SIGTERM, 4.0), (signal.SIGKILL, 4.0)):
        end(list(_processes(settings)), kind, grace_s)
    _remove_cgroups(settings)
    shutil.rmtree(settings.folder, ignore_errors=True)


def end(processes: list[int], kind: signal.Signals, grace_s: float) -> None:
    """Signal the processes and wait until they are gone, at most `grace_s`."""
    for pid in processes:
        with contextlib.suppress(OSError):
            os.kill(pid, kind)
    deadline = time.monotonic() + grace_s
    while any(_is_alive(pid) for pid in processes) and time.monotonic() < deadline:
        time.sleep(0.05)


def _spawn(settings: Settings, program: str, *arguments: str) -> None:
    path = shutil.which(program, path=SYSTEM_PATH)
    if path is None:
        raise RuntimeError(f"{program} is not installed; run: python -m slurm.trial install")
    with (settings.folder / f"{program}.out").open("ab") as output:
        subprocess.Popen(
            [path, *arguments],
            env={**environment(settings), MARK: str(settings.folder)},
            cwd=settings.folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # Ctrl-C in the shell does not reach it
        )


def _wait(what: str, ready: Callable[[], bool], settings: Settings, limit_s: float = 40) -> None:
    deadline = time.monotonic() + limit_s
    while not ready():
        if time.monotonic() > deadline:
            raise RuntimeError(f"waited {limit_s:.0f} s for {what}; see {settings.folder}/*.log")
        time.sleep(0.05)


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _idle_nodes(settings: Settings) -> int:
    return len(_sinfo(settings, "-t", "idle", "-o", "%N").split())


def _sinfo(settings: Settings, *options: str) -> str:
    """The output of sinfo, one line per node; empty if slurmctld does not answer."""
    try:
        done = subprocess.run(
            ["sinfo", "-h", "-N", "-p", "main", *options],
            env=environment(settings),
            capture_output=True,
            text=True,
            timeout=15,
        )
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout


def _processes(settings: Settings) -> Iterator[int]:
    """Daemons by MARK, and jobs by SLURM_CONF and a job id.

    A shell has the same SLURM_CONF and no job id, so it is not included.
    """
    mark = f"{MARK}={settings.folder}".encode()
    conf = f"SLURM_CONF={settings.slurm_conf}".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        variables = _variables(int(entry.name))
        in_job = any(variable.startswith(b"SLURM_JOB_ID=") for variable in variables)
        if (mark in variables or (conf in variables and in_job)) and _is_alive(int(entry.name)):
            yield int(entry.name)


def _variables(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _command(pid: int) -> list[str]:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []
    texts = [word.decode(errors="replace") for word in words]
    return [Path(texts[0]).name.rstrip(":"), *texts[1:]]


def _is_alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def _remove_cgroups(settings: Settings) -> None:
    if not settings.uses_cgroups:
        return
    for node in settings.node_names:
        for top in CGROUP_V1.glob(f"*/slurm_{node}"):
            for folder, _, _ in os.walk(top, topdown=False):
                with contextlib.suppress(OSError):
                    Path(folder).rmdir()
