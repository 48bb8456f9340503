"""The command collect: print findings and tables; write CSV files, tables and figures."""

from __future__ import annotations

import argparse

from fsm_hpc.cli import options
from fsm_hpc.cli.usage import SELECTION, Command, Group, option
from fsm_hpc.report import mixture, rows_csv
from fsm_hpc.report.collect import Study
from fsm_hpc.report.findings import findings, summary
from fsm_hpc.report.tables import builder
from fsm_hpc.report.tables.builder import FORMATS, TableBuilder
from fsm_hpc.report.tables.text import to_terminal
from fsm_hpc.study.files import StudyPaths

SHOWN = 30  # findings on the screen; folds.csv has them all


def main(flags: argparse.Namespace, overrides: list[str]) -> int:
    """Collect the current results; exit code 0 also when folds are missing, unless --strict."""
    paths, study = options.read_study(overrides)
    mixtures = mixture.find(study)
    problems = findings(study, mixtures)
    tables = TableBuilder(study, mixtures, options.report_options(flags))
    written = _write(paths, study, tables, flags)  # first: a reader may leave before the end
    print(summary(study))
    for finding in problems[:SHOWN]:
        print(f"  {finding}")
    if len(problems) > SHOWN:
        print(f"  and {len(problems) - SHOWN} more in {paths.folds_csv}")
    for table in tables.all()[1:]:  # the first one repeats the findings
        print(f"\n{to_terminal(table).rstrip()}")
    print(f"\nwrote {', '.join(written)}")
    return 1 if flags.strict and problems else 0


def _write(
    paths: StudyPaths, study: Study, tables: TableBuilder, flags: argparse.Namespace
) -> list[str]:
    """Write the requested files; their names."""
    files = rows_csv.write(study, paths.folds_csv, paths.lengths_csv)
    builder.write(paths.tables, tables.all(), flags.format or FORMATS)
    written = [*map(str, files), f"{paths.tables}/"]
    if flags.plots:
        from fsm_hpc.report.figures import files as figure_files

        figure_files.write(paths.plots, study, flags.paper, flags.metric)
        written.append(f"{paths.plots}/")
    return written


COMMAND = Command(
    Group.RESULTS,
    "Write tables of accuracy, formulas and runtime: LaTeX, CSV, Markdown.",
    "[key=value ...] [--metric NAME] [--paper] [--plots] [--strict] [options]",
    ("collect study=paper --paper", "collect --metric balanced_accuracy --names"),
    main,
    (
        *options.TABLES,
        option(
            "--format", "file format of the tables (default: all)", choices=FORMATS, action="append"
        ),
        option("--plots", "also draw figures"),
        option("--strict", "exit with code 1 if folds are missing or inconsistent"),
    ),
    SELECTION,
)
