"""Run folds side by side on this machine; Ctrl-C saves them, and the command again goes on."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import FrameType

from rich.console import Console

from fsm_hpc.cluster import processes, study_lock, submissions
from fsm_hpc.cluster.attempts import SupersededError
from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.cluster.submit.plan import Decision
from fsm_hpc.cluster.watch.evidence import FoldRef
from fsm_hpc.cluster.watch.progress import SweepProgress
from fsm_hpc.study.config import ClusterKind, Config
from fsm_hpc.system import drafts, heartbeat, machine
from fsm_hpc.system.beside import beside
from fsm_hpc.system.children import child_environment, module_command
from fsm_hpc.system.files import UnreadableError, open_to_append
from fsm_hpc.system.interrupts import heard

LOOK_S = 0.2
BEAT_S = 2.0  # how often this command shows that it lives
GRACE_S = 60.0  # for the solvers to come back and the states to be saved
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def side_by_side(config: Config) -> int:
    """How many folds of this size the machine holds at a time, and the user wants at most."""
    held = machine.available_cores() // (config.nodes * _cores(config))
    return max(1, min(held, config.cluster.max_parallel))


@dataclass(frozen=True, slots=True)
class Waiting:
    """A fold that this command is to start."""

    ref: FoldRef
    submission: Submission

    @property
    def heartbeat(self) -> Path:
        return self.ref.paths.study.root / self.submission.heartbeat

    def ensure_ours(self) -> None:
        """Raise where another command has submitted the fold anew."""
        latest = submissions.load(self.ref.paths)
        if latest is None or latest.token != self.submission.token:
            raise SupersededError("another command has submitted it since")


def prepare(console: Console, decisions: Sequence[Decision]) -> list[Waiting]:
    """Write down that the folds are this command's; the study has to be held."""
    beat_file = drafts.draft_of(Path("waiting")).name
    return [ready for decision in decisions for ready in _prepared(console, decision, beat_file)]


def run(console: Console, waiting: list[Waiting]) -> bool:
    """Run the folds; False when they were stopped before the last had ended."""
    if not waiting:
        return True
    places = side_by_side(waiting[0].submission.config_then)
    running: list[subprocess.Popen[bytes]] = []
    folds = [one.ref for one in waiting]
    beats = _heartbeats({one.heartbeat for one in waiting})
    with beats, _stop_requests() as stop, SweepProgress(console, folds) as progress:
        while (waiting or running) and not stop:
            while waiting and len(running) < places:
                running += _start(console, waiting.pop(0))
            time.sleep(LOOK_S)
            running = [process for process in running if process.poll() is None]
            progress.refresh()
        if stop:
            console.print("stopping: the folds save their states")
            _end(running)
    return not stop


@contextlib.contextmanager
def _heartbeats(paths: Iterable[Path]) -> Iterator[None]:
    """Files that show to other machines and containers that folds wait for this command."""
    try:
        with beside(partial(heartbeat.keep, paths, beat_s=BEAT_S)):
            yield
    finally:
        for path in paths:
            with contextlib.suppress(OSError):
                path.unlink()


def _prepared(console: Console, decision: Decision, beat_file: str) -> Iterator[Waiting]:
    """The fold with its share of the machine, and its submission on disk; none that cannot be."""
    if not decision.is_submitted:
        return
    config = decision.config
    cores = _cores(config)
    share_gb = machine.physical_mb() / 1024 / side_by_side(config) / config.nodes
    memory_gb = min(config.cluster.mem_gb, share_gb)
    cluster = replace(config.cluster, kind=ClusterKind.LOCAL, cpus=cores, mem_gb=memory_gb)
    config = replace(config, cluster=cluster)
    paths = decision.ref.paths
    study_lock.ensure_held(paths.study)
    with _left_out(console, decision.ref):
        (paths.study.root / beat_file).touch()
        digest = decision.ref.data_digest
        yield Waiting(decision.ref, submissions.submit_here(paths, config, digest, beat_file))


@contextlib.contextmanager
def _left_out(console: Console, ref: FoldRef) -> Iterator[None]:
    """A fold whose folder cannot be written is named, and the others go on."""
    try:
        yield
    except (OSError, UnreadableError, SupersededError) as error:
        console.print(f"{ref.id} is left out: {error}", soft_wrap=True)


def _cores(config: Config) -> int:
    return min(config.cluster.cpus, machine.available_cores())


def _start(console: Console, waiting: Waiting) -> Iterator[subprocess.Popen[bytes]]:
    ref = waiting.ref
    folder = ref.paths.folder.absolute()
    with _left_out(console, ref), open_to_append(ref.paths.log) as log:
        waiting.ensure_ours()
        yield subprocess.Popen(
            module_command(processes.WORKER, str(folder)),
            env=child_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # the fold's own log has it already
            stderr=log,
            start_new_session=True,  # Ctrl-C reaches this process, which tells the folds
        )


def _end(running: list[subprocess.Popen[bytes]]) -> None:
    for process in running:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + GRACE_S
    for process in running:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - time.monotonic()))
        if process.poll() is None:
            process.kill()


@contextlib.contextmanager
def _stop_requests() -> Iterator[list[int]]:
    """A list that is no longer empty once somebody has asked to stop."""
    asked: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        asked.append(number)

    with heard(STOP_SIGNALS, note):
        yield asked
