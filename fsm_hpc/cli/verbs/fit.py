"""The verb fit: one rule from all rows of a table, and what to expect of it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fsm_hpc.cli import options
from fsm_hpc.cli.usage import Group, Verb
from fsm_hpc.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console

    from fsm_hpc.models.model import Model
    from fsm_hpc.study.config import Config
    from fsm_hpc.study.files import RulePaths


# One rule is worth more care than one of many folds: a mean over splits does not fall for one lucky
# part, and with the paper's patience of two a scan misses every rule that begins with "not".
DEFAULTS = {"scan.splits": 5, "scan.patience": 4}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-m", "--multirun", action="store_true", help="send it to SLURM as a job")
    options.shared_flag(parser)
    options.config_flags(parser)


def main(flags: argparse.Namespace, words: list[str]) -> int:
    """Fit the rule here, or send it to SLURM."""
    from fsm_hpc.cluster.node import fitting
    from fsm_hpc.cluster.submit.plan import kind_of
    from fsm_hpc.models import fit_several
    from fsm_hpc.study.compose import compose
    from fsm_hpc.study.config import ClusterKind
    from fsm_hpc.study.hydra import key_of
    from fsm_hpc.system import clock, terminal

    started = clock.monotonic()
    words = [_labels(word) for word in words]
    given = {key_of(word) for word in words}
    words += [f"{key}={value}" for key, value in DEFAULTS.items() if key not in given]
    if options.shows_config(flags, words):
        return 0
    config = compose(words)
    if not config.method.name.finds_formula:
        known = "median, pivot or interval"
        raise UserError(f"fit: expected method={known}, found {config.method.name.value}")
    console = terminal.console()
    classes = fit_several.classes_of(config)
    if classes and flags.multirun:
        raise UserError(
            f"{config.dataset.target} has {len(classes)} classes, whose rules are fitted here; for "
            "a job of one against the rest add dataset.positive=CLASS dataset.negative=rest"
        )
    if classes:
        return _fit_several(config, classes, console, fitting.Here, started)
    if flags.multirun and kind_of(config) is ClusterKind.SLURM:
        from fsm_hpc.cluster import study_lock, trust
        from fsm_hpc.cluster.submit.transaction import send_fit
        from fsm_hpc.models.fit import rule_paths
        from fsm_hpc.study.files import StudyPaths

        study = StudyPaths(config.results_dir / config.study)
        with trust.written_by_others(allowed=flags.shared), study_lock.held([study.root]):
            if not flags.shared:
                trust.refuse_shared([rule_paths(config)], "fit -m", [study])
            job_id, out = send_fit(config)
        told = f"job {job_id} fits the rule; it will be in {out}"
        console.print(f"{told}; `status out={out}` tells how far it is", soft_wrap=True)
        return 0
    return _fit_here(config, console, fitting.Here, started)


def _labels(word: str) -> str:
    """`labels=FILE` is a setting of the table, whether its config lists it or not."""
    if word.startswith("choose="):
        return f"fit.{word}"
    return f"++dataset.{word}" if word.startswith("labels=") else word


def _fit_here(config: Config, console: Console, here: type, started: float) -> int:
    from fsm_hpc.cluster.node import cores
    from fsm_hpc.models import fit
    from fsm_hpc.models.progress import FoldProgress
    from fsm_hpc.study import fold

    dataset = fold.load_asked(config)
    for note in (*dataset.notes, *filter(None, [cores.too_many_threads(config)])):
        console.print(note, soft_wrap=True)
    with FoldProgress(console, str(config.id.dataset)) as shown:
        model = here(config, shown, started).result()
    paths = fit.rule_paths(config)
    if model is None:
        console.print(f"stopped; the same command goes on from {paths.folder}", soft_wrap=True)
        return 130
    _tell(console, model, paths, [note for note in model.notes if note not in dataset.notes])
    return 0


def _fit_several(
    config: Config, classes: Sequence[str], console: Console, here: type, started: float
) -> int:
    """A rule for each class against the rest, then all of them in one file."""
    from fsm_hpc.data.dataset import READ_AS_MISSING
    from fsm_hpc.models import card, exporters, fit, fit_several, model, several
    from fsm_hpc.models.progress import FoldProgress
    from fsm_hpc.search.solvers.names import SolverName
    from fsm_hpc.search.solvers.native.compiling import ensure_compiled
    from fsm_hpc.system import clock, files
    from fsm_hpc.system.numbers import percent

    console.print(
        f"{config.dataset.target} has {len(classes)} classes: {', '.join(classes)}; each gets a "
        "formula against the rest",
        soft_wrap=True,
    )
    paths = fit.rule_paths(config)
    fit.refuse_other_rules(paths.model, config)
    rules = []
    if config.solver.name is not SolverName.CLINGO_DL:
        started += ensure_compiled()  # which no budget has in it
    for done, one in enumerate(classes):
        spent_s = clock.monotonic() - started
        share = fit_several.share_of_time(config, spent_s, done, len(classes))
        with FoldProgress(console, f"{config.id.dataset} {one}") as shown:
            made = here(fit_several.against_rest(config, one, share), shown).result()
        if made is None:
            console.print(f"stopped; the same command goes on from {paths.folder}", soft_wrap=True)
            return 130
        rules.append(made)
    for note in rules[0].reading.get("notes", ()):
        if note.startswith(READ_AS_MISSING):
            console.print(note, soft_wrap=True)
    whole = fit_several.put_together(config, classes, rules)
    model.quarantine_outdated(paths.model, whole.settings, console.print)
    several.save(paths.model, whole)
    files.write_atomically(paths.card, card.page(whole))
    console.print(exporters.export(whole, "text"), soft_wrap=True)
    for note in whole.notes:
        console.print(note, soft_wrap=True)
    expected = whole.figures.get("accuracy")
    if expected:
        low, high = expected["interval"]
        console.print(
            f"on rows that they had not seen {percent(expected['value'])} are answered rightly "
            f"({percent(low)} to {percent(high)}); majority {percent(whole.figures['majority'])}"
        )
    console.print(f"wrote {paths.model} and {paths.card}", soft_wrap=True)
    return 0


def _tell(console: Console, model: Model, paths: RulePaths, notes: Sequence[str]) -> None:
    """The rule, what to expect of it, and what to do with it."""
    from fsm_hpc.models.card import expectations
    from fsm_hpc.models.model import constraints_in_words
    from fsm_hpc.study.measures import errors_in_words
    from fsm_hpc.system.numbers import percent

    console.print(str(model.formula), style="bold", soft_wrap=True)
    console.print(model.words, soft_wrap=True)
    unproved = "chosen, not optimal" if model.is_chosen else "not proved optimal"
    state = "proved optimal" if model.proved else unproved
    errors = errors_in_words(model.errors, model.rows, model.measure, model.weight)
    console.print(
        f"size {model.formula.size} within {model.length}, {errors}, {state}; "
        f"majority {percent(model.figures['majority'])}"
    )
    if model.constraints:
        console.print(f"it meets: {constraints_in_words(model)}", soft_wrap=True)
    for name, value, spread, meaning in expectations(model):
        console.print(f"  {name:<18} {value:>8}  {spread:<18} {meaning}")
    for note in notes:
        style = "yellow" if note.startswith("warning") else None
        console.print(note, style=style, soft_wrap=True)
    console.print(f"wrote {paths.model} and {paths.card}", soft_wrap=True)


VERB = Verb(
    Group.MODELS,
    "One rule from all rows, with what to expect of it: model.json and its card.",
    "dataset=NAME method=NAME [out=FOLDER] [fit.folds=10] [fit.budget_h=0.25] "
    "[choose=optimum|consensus|simplest|given] [labels=FILE] [-m]",
    (
        "fit dataset=csv dataset.path=my.csv dataset.target=label method=pivot out=my_rule",
        "fit dataset=heart_disease method=interval",
        "fit dataset=heart_disease method=pivot labels=answers.csv out=explained",
    ),
    main,
    add_arguments,
)
