"""A trial SLURM for the tests that need one."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from slurm import daemons, trial
from slurm.install import install, missing_programs
from slurm.settings import Settings
from tests.support.site import LONG, SHORT, Answers, Site


@pytest.fixture(scope="session")
def cluster() -> Iterator[Settings]:
    """Three nodes that the machine does not have; skipped, loudly, where they cannot be."""
    _provide_slurm()
    folder = Path(tempfile.mkdtemp(prefix="fsm-test-", dir=tempfile.gettempdir()))
    try:
        yield trial.up(folder, owner=os.getpid())
    finally:
        trial.down(folder)


@pytest.fixture
def site(cluster: Settings, tmp_path: Path) -> Iterator[Site]:
    """A shell on the cluster; its jobs end with the test."""
    here = Site(cluster, tmp_path)
    yield here
    here.shell("scancel", "--user", str(os.getuid()), "--quiet")


@pytest.fixture
def all_nodes(cluster: Settings) -> Iterator[Settings]:
    """Every node is up again after the test."""
    yield cluster
    for node in cluster.node_names:
        if not daemons.pids(cluster, "slurmd", "-N", node):
            daemons.start_slurmd(cluster, node)
        Site(cluster, Path.cwd()).shell("scontrol", "update", f"NodeName={node}", "State=RESUME")


@pytest.fixture(scope="session")
def uninterrupted(cluster: Settings, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """The answer of the long fold up to its short end, without any cluster."""
    site = Site(cluster, tmp_path_factory.mktemp("uninterrupted"))
    site.fsm(*LONG, SHORT, limit_s=400)
    return site.answers()


def _provide_slurm() -> None:
    try:
        install()
    except Exception as error:
        reason = f"NO TEST RAN AGAINST A REAL SLURM: {error}"
        warnings.warn(reason, stacklevel=1)
        pytest.skip(f"{reason} (missing: {', '.join(missing_programs())})")
