"""The command plan: show what -m would submit, and submit nothing."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fsm_hpc.cli import options
from fsm_hpc.cli.usage import Command, Group
from fsm_hpc.system.numbers import counted

if TYPE_CHECKING:
    from fsm_hpc.study.config import Config


def main(flags: argparse.Namespace, overrides: list[str]) -> int:
    """Show folds to submit and to skip, job arrays and core-hours."""
    from fsm_hpc.study import variants
    from fsm_hpc.study.compose import expand

    return show_plan(variants.assign_variants(expand(overrides)), flags.json)


def show_plan(configs: Sequence[Config], as_json: bool) -> int:
    """Show what submitting these folds would do."""
    from fsm_hpc.cluster import schedulers
    from fsm_hpc.cluster.submit.packing import saving
    from fsm_hpc.cluster.submit.plan import decide, expected, lay_out, site_limits, to_dict
    from fsm_hpc.cluster.watch import show
    from fsm_hpc.system import terminal

    decisions, reports = decide(configs)
    arrays = lay_out(decisions)
    if as_json:
        print(json.dumps(to_dict(decisions, arrays), indent=1))
        return 0
    console = terminal.console()
    show.unresponsive_commands(console, reports)
    show.decisions(console, decisions, "to submit")
    if arrays and schedulers.of(configs[0]).ends_with_command:
        folds = counted(sum(len(array.folds) for array in arrays), "fold")
        at_a_time = sum(array.at_a_time for array in arrays)
        console.print(f"{folds} would run here, {at_a_time} at a time")
    elif arrays:
        show.layout(console, arrays, expected(decisions))
        if text := saving(decisions, site_limits(decisions)):
            console.print(text, soft_wrap=True)
    else:
        console.print("nothing to submit")
    return 0


COMMAND = Command(
    Group.RUN,
    "Show jobs and core-hours of a sweep; submit nothing.",
    "dataset=NAME method=NAME [key=value ...] [--json]",
    ("plan dataset=bank,hepatitis method=pivot cluster.cpus=4", "plan +experiment=paper --json"),
    main,
    (options.JSON,),
)
