"""The command compile: compile the solver before its first use."""

from __future__ import annotations

import argparse

from fsm_hpc.cli.usage import Command, Group


def main(flags: argparse.Namespace, arguments: list[str]) -> int:
    from fsm_hpc.errors import UserError
    from fsm_hpc.search.solvers.native import compiling
    from fsm_hpc.study import first_use

    if arguments:
        raise UserError(f"compile takes no arguments, found {arguments[0]!r}")
    seconds = first_use.compile_all(print)
    folder = compiling.STAGE.folder
    where = f"cached in {folder}" if folder else "not cached: every process compiles it again"
    print(f"the solver is compiled ({seconds:.1f} s), {where}")
    return 0


COMMAND = Command(
    Group.SETUP,
    "Compile the solver for this machine before its first use.",
    "",
    ("compile",),
    main,
)
