"""The verb fit: one rule from all rows of a table, and what to expect of it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from fsm_hpc.cli.usage import Group, Verb
from fsm_hpc.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console

    from fsm_hpc.models.model import Model
    from fsm_hpc.study.config import Config


# One rule is worth more care than one of many folds: a mean over splits does not fall for one lucky
# part, and with the paper's patience of two a scan misses every rule that begins with "not".
DEFAULTS = {"scan.splits": 5, "scan.patience": 4}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-m", "--multirun", action="store_true", help="send it to SLURM as a job")


def main(flags: argparse.Namespace, words: list[str]) -> int:
    """Fit the rule here, or send it to SLURM."""
    from fsm_hpc.cluster.node import fitting
    from fsm_hpc.cluster.submit.plan import kind_of
    from fsm_hpc.study.compose import compose
    from fsm_hpc.study.config import ClusterKind
    from fsm_hpc.study.hydra import key_of
    from fsm_hpc.system import terminal

    words = [_labels(word) for word in words]
    given = {key_of(word) for word in words}
    config = compose([*words, *(f"{k}={v}" for k, v in DEFAULTS.items() if k not in given)])
    if not config.method.name.finds_formula:
        known = "median, pivot or interval"
        raise UserError(f"fit: expected method={known}, found {config.method.name.value}")
    console = terminal.console()
    if flags.multirun and kind_of(config) is ClusterKind.SLURM:
        from fsm_hpc.cluster.submit.sbatch import send_fit

        job_id, out = send_fit(config)
        console.print(f"job {job_id} fits the rule; it will be in {out}", soft_wrap=True)
        return 0
    return _fit_here(config, console, fitting.Here)


def _labels(word: str) -> str:
    """`labels=FILE` is a setting of the table, whether its config lists it or not."""
    return f"++dataset.{word}" if word.startswith("labels=") else word


def _fit_here(config: Config, console: Console, here: type) -> int:
    from fsm_hpc.models import fit
    from fsm_hpc.models.progress import FoldProgress
    from fsm_hpc.study import fold

    dataset = fold.load_dataset(config.dataset, config.data_dir, config.allow_changed_data)
    for note in dataset.notes:
        console.print(note, soft_wrap=True, markup=False)
    with FoldProgress(console, str(config.id.dataset)) as shown:
        model = here(config, shown).result()
    out = fit.out_folder(config)
    if model is None:
        console.print(f"stopped; the same command goes on from {out}", soft_wrap=True)
        return 130
    _tell(console, model, out)
    return 0


def _tell(console: Console, model: Model, out: Path) -> None:
    """The rule, what to expect of it, and what to do with it."""
    from rich.markup import escape

    from fsm_hpc.models.card import expectations
    from fsm_hpc.models.model import CARD, FILE
    from fsm_hpc.system.terminal import percent

    console.print(f"[bold]{escape(str(model.formula))}[/bold]", soft_wrap=True)
    console.print(model.words, soft_wrap=True, markup=False)
    state = "proved optimal" if model.proved else "not proved optimal"
    console.print(
        f"size {model.formula.size} within {model.length}, {model.errors} errors on {model.rows} "
        f"rows, {state}; majority {percent(model.figures['majority'])}"
    )
    for name, value, spread, meaning in expectations(model):
        console.print(f"  {name:<18} {value:>8}  {spread:<18} {meaning}", markup=False)
    for note in model.notes:
        style = "yellow" if note.startswith("warning") else None
        console.print(note, style=style, soft_wrap=True, markup=False)
    console.print(f"wrote {out / FILE} and {out / CARD}", soft_wrap=True)


VERB = Verb(
    Group.MODELS,
    "One rule from all rows, with what to expect of it: model.json and its card.",
    "dataset=NAME method=NAME [out=FOLDER] [fit.folds=10] [fit.budget_h=0.25] [labels=FILE] [-m]",
    (
        "fit dataset=csv dataset.path=my.csv dataset.target=label method=pivot out=my_rule",
        "fit dataset=heart_disease method=interval",
        "fit dataset=heart_disease method=pivot labels=answers.csv out=explained",
    ),
    main,
    add_arguments,
)
