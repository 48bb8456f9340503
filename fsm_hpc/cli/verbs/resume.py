"""The verb resume: submit unfinished folds again."""

from __future__ import annotations

import argparse

from fsm_hpc.cli.usage import Group, Verb
from fsm_hpc.errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--wait", action="store_true", help="stay until the jobs have ended")


def main(flags: argparse.Namespace, words: list[str]) -> int:
    """Submit the folds again; those that nothing is known of are named and left alone."""
    from fsm_hpc.cluster.submit import resume
    from fsm_hpc.cluster.submit.launch import launch
    from fsm_hpc.system import terminal

    configs, others = resume.configs(words)
    if others:
        names = ", ".join(str(ref.id) for ref in others[:5])
        more = f" and {len(others) - 5} more" if len(others) > 5 else ""
        advice = "nothing says what they were begun with; the words that began them go on, with -m"
        told = f"left alone: {names}{more}: {advice}"
        if not configs:
            raise UserError(told)
        terminal.console().print(told, soft_wrap=True)
    return launch(configs, wait=flags.wait or configs[0].wait)


VERB = Verb(
    Group.STEER,
    "Submit timed-out, failed and lost folds again, with more time or memory when given.",
    "[study=NAME] [dataset=NAME] [method=NAME] [fold=K] [key=value ...] [--wait]",
    ("resume scan.budget_h=144", "resume study=paper dataset=bank cluster.mem_gb=128"),
    main,
    add_arguments,
)
