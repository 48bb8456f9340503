"""The default command: one fold here, or with -m all folds of a sweep."""

from __future__ import annotations

import argparse

import fsm_hpc
from fsm_hpc.cli import completion, options, usage
from fsm_hpc.cli.usage import Command, Group
from fsm_hpc.errors import UserError, did_you_mean
from fsm_hpc.study.config import Config


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-m", "--multirun", action="store_true", help="submit every fold of a sweep"
    )
    options.submission_flags(parser)
    options.config_flags(parser)
    parser.add_argument(
        "--info",
        "-i",
        nargs="?",
        const="all",
        choices=["all", "config", "defaults", "defaults-tree", "plugins", "searchpath"],
        help="show how the config is composed",
    )
    parser.add_argument(
        "--shell-completion", "-sc", metavar="install=SHELL", help="of bash, zsh or fish"
    )
    parser.add_argument("--run", "-r", action="store_true", help="run one fold (default)")
    hydras_own = parser.add_argument_group("options of Hydra that have a replacement here")
    hydras_own.add_argument("--config-path", "-cp", metavar="X", help="--config-dir FOLDER")
    hydras_own.add_argument("--hydra-help", action="store_true", help="--help, --info")
    hydras_own.add_argument("--experimental-rerun", metavar="X", help="resume")
    parser.add_argument("--version", action="version", version=fsm_hpc.__version__)


# options of Hydra's own commands that this one does not have, and what to write instead
INSTEAD = {
    "config_path": "--config-dir FOLDER adds a folder, --config-name NAME takes its primary config",
    "hydra_help": "--help shows the options of a command, --info how its config is composed",
    "experimental_rerun": "`resume` goes on with folds that have begun",
}


def main(flags: argparse.Namespace, overrides: list[str]) -> int:
    """Show the config, submit a sweep, or run one fold in this process."""
    from fsm_hpc.study import compose, hydra, hydra_keys

    for name, instead in INSTEAD.items():
        if getattr(flags, name):
            raise UserError(f"--{name.replace('_', '-')} is not an option: {instead}")
    if flags.shell_completion:
        return completion.run(flags.shell_completion)
    stray = [one for one in overrides if "=" not in one and not one.startswith("~")]
    if stray:
        near = did_you_mean(stray[0], usage.names())
        raise UserError(f"expected key=value or a command first, found {stray[0]!r}{near}")
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
            raise UserError(f"--{name} belongs to a sweep: add -m")
    if not overrides:
        print(usage.overview(), end="")
        return 2
    return _run_here(compose.compose(overrides))


def _run_here(config: Config) -> int:
    """One fold in this process, with live progress; Ctrl-C keeps what is done."""
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
    done = fold.final_result(prepared)
    if done is not None:
        told = f"{config.id} is finished; {prepared.paths.result} stays as it is"
        console.print(told, soft_wrap=True)
    else:
        fold.report_changes(prepared, console.print)
        shown = progress.FoldProgress(console, str(config.id))
        with study_lock.held([study]):
            (config,) = variants.assign_variants(
                [config]
            )  # another command may have begun the study
            plan.ensure_free(config)
            study_lock.ensure_held(StudyPaths(study))
            variants.save_defaults([config])
            attempt = foreground.Foreground(config, shown)
        with shown:
            done = attempt.result()
    if done is None:
        told = f"stopped; the same command goes on from {prepared.paths.folder}"
        console.print(told, soft_wrap=True)
        return 130
    progress.print_result(console, done)
    return 0


COMMAND = Command(
    Group.RUN,
    "One fold here; with -m all folds of a sweep, as jobs of a cluster where there is one.",
    "dataset=NAME method=NAME [fold=K] [key=value ...] [-m] [--wait] [--after LIST] "
    "[--notify TEXT] [--cfg job|hydra|all] ...",
    (
        "dataset=bank method=interval -m",
        "dataset=bank method=interval fold=0",
        "dataset=csv dataset.path=my.csv dataset.target=label method=pivot -m",
        "+experiment=paper -m",
    ),
    main,
    add_arguments,
)
