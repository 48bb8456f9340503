"""A MariaDB server of its own on an empty folder, for the SQL of exported rules."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pymysql
import pytest

SERVER = shutil.which("mariadbd", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
START_S = 60
needs_mariadb = pytest.mark.skipif(
    SERVER is None, reason="MariaDB is not installed (Debian: mariadb-server-core)"
)


@contextmanager
def mariadb() -> Iterator[Path]:
    """The socket of a server that listens on no network; it ends with the block."""
    assert SERVER is not None
    with TemporaryDirectory(prefix="fsm_db_") as folder:  # a socket's path must be short
        socket = Path(folder) / "socket"
        options = ["--no-defaults", f"--datadir={folder}/data", "--user=root", f"--tmpdir={folder}"]
        network = ["--skip-grant-tables", "--skip-networking", f"--socket={socket}"]
        (Path(folder) / "data").mkdir()
        with (Path(folder) / "log").open("w") as log:
            command = [SERVER, *options, *network, "--innodb-buffer-pool-size=16M"]
            server = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            _wait_for(socket, server, Path(folder) / "log")
            yield socket
        finally:
            server.terminate()
            server.wait(timeout=START_S)


def connected(socket: Path, charset: str = "utf8mb4") -> Any:
    return pymysql.connect(unix_socket=str(socket), user="root", charset=charset, autocommit=True)


def _wait_for(socket: Path, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and server.poll() is None:
        try:
            connected(socket).close()
            return
        except pymysql.err.OperationalError:
            time.sleep(0.1)
    raise RuntimeError(f"MariaDB did not start:\n{log.read_text()[-2000:]}")
