"""The command report: one page of a study."""

from __future__ import annotations

import argparse
from pathlib import Path

from fsm_hpc.cli import options
from fsm_hpc.cli.usage import Command, Group


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.table_flags(parser)
    parser.add_argument("--output", type=Path, help="the page; report.html of the study")


def main(flags: argparse.Namespace, overrides: list[str]) -> int:
    """Write the page, and say where it is."""
    from fsm_hpc.report.findings import summary
    from fsm_hpc.report.page.page import render
    from fsm_hpc.system import files

    paths, study = options.read_study(overrides)
    page = render(study, options.report_options(flags))
    output: Path = flags.output or paths.report
    files.write_atomically(output, page)
    print(summary(study))
    print(f"wrote {output} ({output.stat().st_size / 1e6:.1f} MB)")
    return 0


COMMAND = Command(
    Group.READ,
    "One self-contained page of a study.",
    "[study=NAME] [dataset=NAME] [method=NAME] [--metric NAME] [--paper] [--names] [--output FILE]",
    ("report study=paper --paper",),
    main,
    add_arguments,
)
