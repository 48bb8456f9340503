"""A pytest plugin: every test of the rooms that is run with it is a case of the table."""

from __future__ import annotations

import pytest

from tests.faults.ledger import EXAMPLES, Case, write


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """A test that passed is one fault survived; one that failed gave a wrong answer, or none."""
    is_failed = report.failed and report.when in ("setup", "call")
    if report.when == "call" or is_failed:
        if report.skipped:
            return
        bad = {"wrong": 1} if is_failed else {}
        told = report.longreprtext[-2000:] if is_failed else ""
        kind = EXAMPLES.get(report.nodeid.partition("::")[0], "real SLURM")
        write(Case(kind, report.nodeid, 1, bad, told))
