"""The command doctor: check installation, disks and scheduler before jobs are submitted."""

from __future__ import annotations

import argparse

from fsm_hpc.cli import options
from fsm_hpc.cli.usage import Command, Group


def main(flags: argparse.Namespace, overrides: list[str]) -> int:
    from fsm_hpc.cluster.site.doctor import doctor
    from fsm_hpc.study.compose import compose_any

    return doctor(compose_any(overrides), as_json=flags.json)


COMMAND = Command(
    Group.SETUP,
    "Check the installation, the disks and the scheduler.",
    "[key=value ...] [--json]",
    ("doctor", "doctor cluster.partition=long cluster.cpus=16"),
    main,
    (options.JSON,),
    {"cluster.KEY=VALUE": "check these job settings, for instance cluster.partition=long"},
)
