"""The contact file of a search, by which its helpers find it and authenticate."""

from __future__ import annotations

import json
import os
import socket
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from fsm_hpc.errors import UserError
from fsm_hpc.system import serialization

if TYPE_CHECKING:
    from distributed.security import Security

LOOPBACK = "127.0.0.1"
NEEDED = ("distributed", "cryptography")


@dataclass(frozen=True, slots=True)
class Contact:
    """The address of a search, the digest of its code, and the certificate for connections."""

    address: str
    code: str
    certificate: str
    key: str

    def write(self, path: Path) -> None:
        """Write atomically, readable by the user only."""
        draft = path.with_suffix(".draft")
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
            json.dump(asdict(self), stream)
        draft.rename(path)

    @staticmethod
    def read(path: Path) -> Contact | None:
        """None while it does not exist; its owner can run code here, so it must be the user."""
        saved = serialization.read(path, is_own=True)
        return None if saved is None else serialization.convert(Contact, saved, path.name)

    @property
    def security(self) -> Security:
        return security_of(self.certificate, self.key)


def over(path: Path) -> Path:
    """The file beside it that marks the end of the search."""
    return path.with_suffix(".over")


def security_of(certificate: str, key: str) -> Security:
    """Encrypted connections in which both ends present this certificate."""
    from distributed.security import Security

    own = {
        f"tls_{who}_{what}": value
        for who in ("client", "scheduler", "worker")
        for what, value in (("cert", certificate), ("key", key))
    }
    return Security(require_encryption=True, tls_ca_file=certificate, **own)


def new_certificate() -> tuple[str, str]:
    """A new certificate and its key, for one search."""
    from distributed.security import Security

    made = Security.temporary()
    return str(made.tls_client_cert), str(made.tls_client_key)


def ensure_installed() -> None:
    """Check that the packages of the extra `nodes` are installed."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise UserError(
            f"cluster.nodes: several nodes need {' and '.join(missing)}, not installed here; "
            "pip install 'fsm_hpc[nodes]', or cluster.nodes=1"
        )


def address_towards(host: str, port: int) -> str:
    """The address of this machine in a connection to that host."""
    with socket.create_connection((host, port), timeout=30) as connection:
        return str(connection.getsockname()[0])
