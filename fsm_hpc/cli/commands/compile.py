"""The command compile: make the solver ready ahead of its first use."""

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
    where = f"kept in {folder}" if folder else "kept nowhere: every process compiles for itself"
    print(f"the solver is ready ({seconds:.1f} s), {where}")
    return 0


COMMAND = Command(
    Group.STEER,
    "Compile the solver ahead of its first use, for this installation and processor.",
    "",
    ("compile",),
    main,
)
