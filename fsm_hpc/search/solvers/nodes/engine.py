"""dask's scheduler and worker as they are used here: encrypted, without their web pages."""

from __future__ import annotations

import logging
from typing import Any

import dask
from distributed import Scheduler, SpecCluster, Worker
from distributed.security import Security

SETTINGS = {
    "distributed.scheduler.worker-ttl": "60s",  # a node that is silent for so long is lost
    "distributed.scheduler.allowed-failures": 1 << 30,  # a lost part goes to whoever is left
    "distributed.scheduler.work-stealing": False,  # there is one part for each helper
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.gil.enabled": False,
}


class Unseen(Scheduler):  # type: ignore[misc]
    """A scheduler without pages: they ask for no certificate."""

    def start_http_server(self, *given: Any, **named: Any) -> None:
        """Listen to nothing but helpers."""


class UnseenWorker(Worker):  # type: ignore[misc]
    """A worker without pages."""

    def start_http_server(self, *given: Any, **named: Any) -> None:
        """Listen to nothing but the scheduler."""


def scheduler(host: str, security: Security) -> SpecCluster:
    """A scheduler in this process, with no worker of its own."""
    _configure()
    options = {"host": host, "port": 0, "protocol": "tls", "security": security}
    made = {"cls": Unseen, "options": {**options, "dashboard": False}}
    return SpecCluster(workers={}, scheduler=made, security=security)


def worker(address: str, host: str, security: Security) -> Worker:
    """A worker in this process that takes one part at a time."""
    _configure()
    return UnseenWorker(
        address, host=host, nthreads=1, memory_limit=0, security=security, dashboard=False
    )


def hush(level: int = logging.ERROR) -> None:
    """dask tells at length of streams that close when nodes come and go; we say that ourselves."""
    for name in ("distributed", "tornado"):
        logging.getLogger(name).setLevel(level)
    for name, logger in logging.root.manager.loggerDict.items():
        if name.startswith("distributed") and isinstance(logger, logging.Logger):
            logger.setLevel(level)


def _configure() -> None:
    dask.config.set(SETTINGS)
    hush()
