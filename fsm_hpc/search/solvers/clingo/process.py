"""The clingo process: started when needed, ended at any time."""

from __future__ import annotations

import signal
import subprocess
import tempfile
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import IO

from fsm_hpc.search.solvers.clingo.worker import Failed, Job, Message
from fsm_hpc.system.children import child_environment, module_command
from fsm_hpc.system.files import encodings_dir
from fsm_hpc.system.machine import resident_mb


class ClingoProcess:
    """Sends jobs to a worker process and receives its messages."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._errors: IO[bytes] | None = None

    def start(self, job: Job) -> None:
        if self._process is None or self._process.poll() is not None:
            self.end()
            self._spawn()
        assert self._connection is not None
        self._connection.send(job)

    def next_message(self, timeout_s: float) -> Message | None:
        """The next message of the worker; None without one in that time."""
        assert self._connection is not None
        try:
            if self._connection.poll(timeout_s):
                message: Message = self._connection.recv()
                return message
        except (EOFError, OSError):
            return self._post_mortem()
        return None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def memory_mb(self) -> float:
        """The memory of the worker and of this process."""
        worker = 0.0 if self._process is None else resident_mb(self._process.pid)
        return resident_mb() + worker

    def end(self) -> None:
        """Kill the worker at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._connection is not None:
            self._connection.close()
        if self._errors is not None:
            self._errors.close()
        self._process = self._connection = self._errors = None

    def _spawn(self) -> None:
        ours, theirs = Pipe()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - read when the worker has died
        self._process = subprocess.Popen(
            module_command("fsm_hpc.search.solvers.clingo.worker", str(theirs.fileno())),
            env=child_environment(),
            cwd=encodings_dir(),  # clingo looks for included files here first
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=self._errors,
            stderr=self._errors,
            start_new_session=True,  # Ctrl-C is handled here
        )
        theirs.close()
        self._connection = ours

    def _post_mortem(self) -> Failed:
        assert self._process is not None
        assert self._errors is not None
        code = self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        self.end()
        is_memory = code == -signal.SIGKILL or any("bad_alloc" in line for line in lines)
        return Failed(f"exit code {code}: {lines[-1] if lines else 'no message'}", is_memory)
