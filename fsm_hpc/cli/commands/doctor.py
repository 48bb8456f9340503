"""The command doctor: check a site before jobs are spent on it."""

from __future__ import annotations

import argparse

from fsm_hpc.cli import options
from fsm_hpc.cli.usage import Command, Group


def main(flags: argparse.Namespace, overrides: list[str]) -> int:
    from fsm_hpc.cluster.site.doctor import doctor
    from fsm_hpc.study.compose import compose_any

    return doctor(compose_any(overrides), as_json=flags.json)


COMMAND = Command(
    Group.STEER,
    "Check a site before jobs are spent on it.",
    "[key=value ...] [--json]",
    ("doctor", "doctor cluster.partition=long cluster.cpus=16"),
    main,
    options.json_flag,
)
