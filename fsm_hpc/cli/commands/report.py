"""The command report: write a study as one HTML page."""

from __future__ import annotations

import argparse
from pathlib import Path

from fsm_hpc.cli import options
from fsm_hpc.cli.usage import SELECTION, Command, Group, option


def main(flags: argparse.Namespace, overrides: list[str]) -> int:
    """Write the page and print its path."""
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
    Group.RESULTS,
    "Write a study as one self-contained HTML page.",
    "[key=value ...] [--metric NAME] [--paper] [--names] [--output FILE]",
    ("report study=paper --paper",),
    main,
    (
        *options.TABLES,
        option("--output FILE", "output file (default: report.html in the study)", type=Path),
    ),
    SELECTION,
)
