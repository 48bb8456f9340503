"""Identities of processes for files that a test writes."""

from __future__ import annotations

import subprocess

from fsm_hpc.system import process_identity

ELSEWHERE = "11111111-2222-3333-4444-555555555555/4026531836/1/5"  # on another machine


def dead_pid() -> int:
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def identity(pid: int) -> str:
    """Of the process with this id; of one that has ended where there is none."""
    return process_identity.of(pid) or f"{process_identity.namespace()}/{pid}/1"


def reused(pid: int) -> str:
    """Of an earlier process that had the same id."""
    return f"{process_identity.namespace()}/{pid}/1"
