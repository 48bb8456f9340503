"""The command without a verb: one fold here, or with -m all folds of a sweep."""

from __future__ import annotations

import argparse

import fsm_hpc
from fsm_hpc.cli import options, usage
from fsm_hpc.cli.usage import Group, Verb
from fsm_hpc.errors import UserError, did_you_mean
from fsm_hpc.study.config import Config


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-m", "--multirun", action="store_true", help="submit every fold of a sweep"
    )
    options.submission_flags(parser)
    parser.add_argument("--cfg", choices=["job"], help="show the composed config and do nothing")
    parser.add_argument("--version", action="version", version=fsm_hpc.__version__)


def main(flags: argparse.Namespace, words: list[str]) -> int:
    """Show the config, submit a sweep, or run one fold in this process."""
    from fsm_hpc.study import compose

    stray = [word for word in words if "=" not in word and not word.startswith("~")]
    if stray:
        near = did_you_mean(stray[0], usage.names())
        raise UserError(f"expected key=value or a verb first, found {stray[0]!r}{near}")
    if flags.cfg:
        print(compose.show(words), end="")
        return 0
    if flags.multirun:
        from fsm_hpc.cluster.submit.launch import launch

        return launch(compose.expand(words), options.of_submission(flags))
    for name in ("wait", "after", "notify"):
        if getattr(flags, name):
            raise UserError(f"--{name} belongs to a sweep: add -m")
    if not words:
        print(usage.overview(), end="")
        return 2
    return _run_here(compose.compose(words))


def _run_here(config: Config) -> int:
    """One fold in this process, with live progress; Ctrl-C keeps what is done."""
    from fsm_hpc.cluster import study_lock
    from fsm_hpc.cluster.node import cores, foreground
    from fsm_hpc.cluster.submit import plan
    from fsm_hpc.models import progress
    from fsm_hpc.study import fold, variants
    from fsm_hpc.study.files import StudyPaths
    from fsm_hpc.system import terminal

    console = terminal.console()
    study = config.results_dir / config.study
    (config,) = variants.placed([config])
    prepared = fold.prepare(config)
    for note in prepared.dataset.notes:
        console.print(note, soft_wrap=True)
    done = fold.final_result(prepared)
    if done is not None:
        told = f"{config.id} is finished; {prepared.paths.result} stays as it is"
        console.print(told, soft_wrap=True)
    else:
        fold.tell_change(prepared, console.print)
        if few := cores.too_many_threads(config):
            console.print(few, style="yellow", soft_wrap=True)
        shown = progress.FoldProgress(console, str(config.id))
        with study_lock.held([study]):
            (config,) = variants.placed([config])  # another command may have begun the study
            plan.ensure_free(config)
            study_lock.ensure_held(StudyPaths(study))
            variants.remember([config])
            attempt = foreground.Foreground(config, shown.watch, shown.on_trial, shown.say)
        with shown:
            done = attempt.result()
    if done is None:
        told = f"stopped; the same command goes on from {prepared.paths.folder}"
        console.print(told, soft_wrap=True)
        return 130
    progress.print_result(console, done)
    return 0


VERB = Verb(
    Group.RUN,
    "One fold here; with -m all folds of a sweep, as SLURM jobs where there is sbatch.",
    "dataset=NAME method=NAME [fold=K] [key=value ...] [-m] [--wait] [--after LIST] "
    "[--notify TEXT] [--cfg job]",
    (
        "dataset=bank method=interval -m",
        "dataset=bank method=interval fold=0",
        "dataset=csv dataset.path=my.csv dataset.target=label method=pivot -m",
        "+experiment=paper -m",
    ),
    main,
    add_arguments,
)
