"""dask's scheduler and worker, encrypted and without web pages."""

from __future__ import annotations

import logging
from typing import Any

import dask
from distributed import Scheduler, SpecCluster, Worker
from distributed.security import Security

SETTINGS = {
    "distributed.scheduler.worker-ttl": "60s",  # a node without a heartbeat for so long is lost
    "distributed.scheduler.allowed-failures": 1 << 30,  # a lost part goes to another helper
    "distributed.scheduler.work-stealing": False,  # there is one part for each helper
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.gil.enabled": False,
}


class PlainScheduler(Scheduler):  # type: ignore[misc]
    """A scheduler without web pages, which would need no certificate."""

    def start_http_server(self, *args: Any, **kwargs: Any) -> None:
        """No HTTP server."""


class PlainWorker(Worker):  # type: ignore[misc]
    """A worker without web pages."""

    def start_http_server(self, *args: Any, **kwargs: Any) -> None:
        """No HTTP server."""


def scheduler(host: str, security: Security) -> SpecCluster:
    """A scheduler in this process, without workers."""
    _configure()
    address = {"host": host, "port": 0, "protocol": "tls", "security": security}
    specification = {"cls": PlainScheduler, "options": {**address, "dashboard": False}}
    return SpecCluster(workers={}, scheduler=specification, security=security)


def worker(address: str, host: str, security: Security) -> Worker:
    """A worker in this process for one part at a time."""
    _configure()
    return PlainWorker(
        address, host=host, nthreads=1, memory_limit=0, security=security, dashboard=False
    )


def silence(level: int = logging.ERROR) -> None:
    """Silence dask's messages about closed streams; lost nodes are reported by `parts`."""
    for name in ("distributed", "tornado"):
        logging.getLogger(name).setLevel(level)
    for name, logger in logging.root.manager.loggerDict.items():
        if name.startswith("distributed") and isinstance(logger, logging.Logger):
            logger.setLevel(level)


def _configure() -> None:
    dask.config.set(SETTINGS)
    silence()
