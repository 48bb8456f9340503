"""The config files of the trial SLURM."""

from __future__ import annotations

import os
import pwd
import socket
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

CGROUP_V1 = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one trial cluster; several can run at once with different ports and names."""

    folder: Path
    name: str
    nodes: int
    cpus: int
    memory_mb: int
    first_port: int  # ports of slurmctld, slurmdbd, slurmd 1, slurmd 2, ... in this order
    max_array_size: int
    uses_cgroups: bool

    @property
    def slurm_conf(self) -> Path:
        return self.folder / "slurm.conf"

    @property
    def munge_socket(self) -> Path:
        return self.folder / "munge" / "munge.sock"

    @property
    def database_socket(self) -> Path:
        return self.folder / "db.sock"

    @property
    def node_names(self) -> list[str]:
        return [f"{self.name}{number}" for number in range(1, self.nodes + 1)]

    @property
    def database_port(self) -> int:
        return self.first_port + 1


def default_folder() -> Path:
    """A short path: munged refuses long paths of sockets, and parent folders without access."""
    return Path(tempfile.gettempdir()) / f"fsm-slurm-{os.geteuid()}"


def cgroups_usable() -> bool:
    """Whether SLURM can limit memory with cgroups: as root, version 1, writable."""
    probe = CGROUP_V1 / "memory" / f"fsm-probe-{os.getpid()}"
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError:
        return False
    return os.geteuid() == 0 and (CGROUP_V1 / "freezer").is_dir()


def free_ports(count: int, start: int = 16800, end: int = 32000) -> int:
    """The first of `count` consecutive free ports on loopback."""
    step = count + 2
    offset = (os.getpid() * 7919 + int(time.time())) % (end - start - step)
    for shift in range(0, end - start - step, step):
        first = start + (offset + shift) % (end - start - step)
        if all(_is_free(port) for port in range(first, first + count)):
            return first
    raise RuntimeError(f"no {count} consecutive free ports between {start} and {end}")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _user() -> str:
    return pwd.getpwuid(os.geteuid()).pw_name


def slurm_conf(settings: Settings) -> str:
    """slurm.conf: simulated nodes, quick scheduling, loopback only."""
    host = socket.gethostname().split(".")[0]
    folder, user, nodes = settings.folder, _user(), ",".join(settings.node_names)
    # job ids from the clock: with ids from 1, submitit would read pickles of an older cluster
    first_job = int(time.time()) % 1_000_000 * 60 + 1
    tracking = (
        "ProctrackType=proctrack/cgroup\nTaskPlugin=task/cgroup"
        if settings.uses_cgroups
        else "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"
        "JobAcctGatherParams=OverMemoryKill"
    )
    lines = "\n".join(
        f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 "
        f"Port={settings.first_port + 2 + index} CPUs={settings.cpus} "
        f"RealMemory={settings.memory_mb}"
        for index, node in enumerate(settings.node_names)
    )
    # cred_expire is also the delay before a requeued job restarts. It must exceed KillWait: a node
    # that still ends the old job would refuse the new one and drain.
    return f"""\
ClusterName={settings.name}
FirstJobId={first_job}
MaxArraySize={settings.max_array_size}
MaxJobCount=100000
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={settings.first_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={settings.munge_socket},cred_expire=10
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdSpoolDir={folder}/spool-%n
StateSaveLocation={folder}/state
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
DefMemPerCPU=1024
{tracking}
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=2
SwitchType=switch/none
MpiDefault=none
JobRequeue=1
KillWait=2
SlurmdTimeout=10
TCPTimeout=2
MessageTimeout=10
ReturnToService=2
MinJobAge=600
MailProg=/bin/true
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SlurmctldParameters=preempt_send_user_signal
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoragePort={settings.database_port}
AccountingStoragePass={settings.munge_socket}
{lines}
PartitionName=main Nodes={nodes} Default=YES MaxTime=7-0 PriorityTier=10 PreemptMode=OFF
PartitionName=scavenge Nodes={nodes} MaxTime=7-0 PriorityTier=1 PreemptMode=REQUEUE GraceTime=15
"""


def slurmdbd_conf(settings: Settings) -> str:
    """slurmdbd.conf: accounting for sacct, in a private database."""
    return f"""\
AuthType=auth/munge
AuthInfo=socket={settings.munge_socket}
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={settings.database_port}
SlurmUser={_user()}
LogFile={settings.folder}/slurmdbd.log
PidFile={settings.folder}/slurmdbd.pid
CommunicationParameters=NoInAddrAny
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser={_user()}
StorageLoc=slurm_acct
"""


def cgroup_conf() -> str:
    """cgroup.conf: limit memory; cores are not limited, as nodes simulate more than exist."""
    return f"""\
CgroupPlugin=cgroup/v1
CgroupAutomount=no
CgroupMountpoint={CGROUP_V1}
ConstrainRAMSpace=yes
ConstrainSwapSpace=no
ConstrainCores=no
"""
