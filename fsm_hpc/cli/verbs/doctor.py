"""The verb doctor: check a site before jobs are spent on it."""

from __future__ import annotations

import argparse

from fsm_hpc.cli import options
from fsm_hpc.cli.usage import Group, Verb


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.json_flag(parser)
    options.shared_flag(parser)


def main(flags: argparse.Namespace, overrides: list[str]) -> int:
    from fsm_hpc.cluster.site.doctor import doctor
    from fsm_hpc.study.compose import compose_any

    return doctor(compose_any(overrides), as_json=flags.json, shared=flags.shared)


VERB = Verb(
    Group.STEER,
    "Check a site before jobs are spent on it.",
    "[key=value ...] [--json] [--shared]",
    ("doctor", "doctor cluster.partition=long cluster.cpus=16"),
    main,
    add_arguments,
)
