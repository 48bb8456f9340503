"""The default command: run one fold here, or with -m all folds of a sweep."""

from __future__ import annotations

import argparse

import fsm_hpc
from fsm_hpc.cli import completion, options, usage
from fsm_hpc.cli.usage import CTRL_C, Command, Group, option
from fsm_hpc.errors import UserError, did_you_mean
from fsm_hpc.study.config import Config

INFO = ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath")


def main(flags: argparse.Namespace, overrides: list[str]) -> int:
    """Show the config, submit a sweep, or run one fold in this process."""
    from fsm_hpc.study import compose, hydra, hydra_keys

    if flags.shell_completion:
        return completion.run(flags.shell_completion)
    check_overrides(overrides)
    if flags.info:
        hydra.show_info(flags.info, overrides)
        return 0
    if options.shows_config(flags, overrides):
        return 0
    if flags.multirun or hydra_keys.is_multirun(overrides):
        from fsm_hpc.cluster.submit.launch import launch

        return launch(compose.expand(overrides), options.of_submission(flags))
    for name in ("wait", "after", "notify"):
        if getattr(flags, name):
            raise UserError(f"--{name} needs a sweep: add -m")
    if not overrides:
        print(usage.overview(), end="")
        return 2
    return _run_here(compose.compose(overrides))


def check_overrides(arguments: list[str]) -> None:
    """Refuse an argument that is neither an override nor the name of a command."""
    for text in arguments:
        if "=" not in text and not text.startswith(("-", "~")):
            near = did_you_mean(text, usage.names())
            raise UserError(f"expected a command or key=value, found {text!r}{near}")


def _run_here(config: Config) -> int:
    """Run one fold in this process, with live progress; Ctrl-C keeps the finished lengths."""
    from fsm_hpc.cluster import study_lock
    from fsm_hpc.cluster.node import foreground
    from fsm_hpc.cluster.submit import plan
    from fsm_hpc.models import progress
    from fsm_hpc.study import fold, variants
    from fsm_hpc.study.files import StudyPaths
    from fsm_hpc.system import terminal

    console = terminal.console()
    study = config.results_dir / config.study
    (config,) = variants.assign_variants([config])
    prepared = fold.prepare(config)
    for note in prepared.dataset.notes:
        console.print(note, soft_wrap=True)
    result = fold.final_result(prepared)
    if result is not None:
        console.print(f"{config.id} is finished: {prepared.paths.result}", soft_wrap=True)
    else:
        fold.report_changes(prepared, console.print)
        with study_lock.held([study]):
            # again, as another command may have started the study
            (config,) = variants.assign_variants([config])
            plan.ensure_free(config)
            study_lock.ensure_held(StudyPaths(study))
            variants.save_defaults([config])
            shown = progress.FoldProgress(console, str(config.id))
            attempt = foreground.Foreground(config, shown)
        with shown:
            result = attempt.result()
    if result is None:
        message = f"stopped; run the same command again to continue from {prepared.paths.folder}"
        console.print(message, soft_wrap=True)
        return CTRL_C
    progress.print_result(console, result)
    return 0


COMMAND = Command(
    Group.RUN,
    "Run one fold; with -m, run or submit all folds of a sweep.",
    "dataset=NAME method=NAME [key=value ...] [-m] [options]",
    (
        "dataset=bank method=interval -m",
        "dataset=bank method=interval fold=0",
        "dataset=csv dataset.path=my.csv dataset.target=label method=pivot -m",
        "+experiment=paper -m",
    ),
    main,
    (
        options.multirun("run all folds of a sweep, as jobs if there is a scheduler"),
        option("--run -r", "run one fold (default)"),
        *options.SUBMISSION,
        *options.CONFIG,
        option(
            "--info -i", "show how the config is composed", nargs="?", const="all", choices=INFO
        ),
        option(
            "--shell-completion -sc install=SHELL",
            "print the completion script for bash, zsh or fish",
        ),
        option("--version", "print the version", action="version", version=fsm_hpc.__version__),
    ),
    {
        "dataset=NAME": "the dataset; `datasets` lists all; csv: your own table in dataset.path",
        "method=NAME": "the method: median, pivot, interval, or a baseline such as tree or xgboost",
        "fold=K": "the fold to hold out (default: 0; with -m: all folds)",
        "study=NAME": "name of the study; its results are in results/NAME (default: default)",
        "cluster=NAME": "where to run: a config in conf/cluster, local or auto (default: auto)",
        "+experiment=NAME": "settings of a whole study, for instance paper",
        "KEY=A,B": "with -m: run all combinations; --cfg job lists all settings",
    },
)
