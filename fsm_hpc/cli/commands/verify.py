"""The command verify: check with an independent program that formulas are optimal."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from fsm_hpc.cli import options
from fsm_hpc.cli.usage import Command, Group
from fsm_hpc.errors import UserError

if TYPE_CHECKING:
    from fsm_hpc.study.files import FoldPaths

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def _seconds(text: str) -> float:
    """90s, 10m or 4h."""
    number, unit = text[:-1], text[-1:]
    try:
        return float(number) * _UNITS[unit]
    except (KeyError, ValueError):
        message = f"expected a duration such as 90s, 10m or 4h, found {text[:40]!r}"
        raise argparse.ArgumentTypeError(message) from None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--budget",
        type=_seconds,
        default="1h",
        help="time for all claims, with -m of each job (1h)",
    )
    parser.add_argument("--each", type=_seconds, default="10m", help="time for one claim (10m)")
    parser.add_argument("--claim", type=Path, metavar="FILE", help="write the claim; do not check")
    parser.add_argument("-m", "--multirun", action="store_true", help="verify a study as jobs")


def main(flags: argparse.Namespace, arguments: list[str]) -> int:
    """0 when everything is verified, 1 when a claim is refuted, 3 when some are not checked."""
    expected = "one model.json, result.json or fold"
    named, settings = options.files_and_overrides(arguments, expected, is_required=False)
    if named:
        return _one(flags, Path(named[0]), settings)
    return _study(flags, settings)


def _one(flags: argparse.Namespace, path: Path, settings: list[str]) -> int:
    from fsm_hpc.report import verification
    from fsm_hpc.report.alternatives.rule import read_rule
    from fsm_hpc.search.claim import claim_of, write_claim
    from fsm_hpc.search.proof import VERIFIED
    from fsm_hpc.study import keys

    keys.check_used(settings, keys.OF_TABLE, "verify")
    if flags.multirun:
        raise UserError(f"-m verifies a study as jobs: leave it out to verify {path} here")
    if flags.claim is not None:
        rule = read_rule(path, settings, limit=verification.LIMIT)
        write_claim(flags.claim, claim_of(rule.problem, rule.formula, rule.bound))
        print(f"wrote {flags.claim}, which contains the table")
        return 0
    outcomes = verification.verify_file(path, settings, min(flags.budget, flags.each))
    for label, done in outcomes.items():
        reason = done.reason if done.outcome == VERIFIED else f"{done.outcome}: {done.reason}"
        print(f"{label}: {reason}" if len(outcomes) > 1 else reason)
    return max(verification.OUTCOMES.index(done.outcome) for done in outcomes.values())


def _study(flags: argparse.Namespace, settings: list[str]) -> int:
    from fsm_hpc.report import verification

    if flags.claim is not None:
        raise UserError("--claim: expected one model.json or fold to write the claim of")
    tables = [argument for argument in settings if argument.startswith("data_dir=")]
    of_jobs = [one for one in settings if flags.multirun and one.startswith("cluster")]
    folds = _folds([one for one in settings if one not in (*tables, *of_jobs)])
    if flags.multirun:
        from fsm_hpc.report import verification_jobs
        from fsm_hpc.study.compose import compose_any

        budgets = verification_jobs.Budgets(flags.budget, flags.each)
        code = verification_jobs.launch(folds, tables, compose_any(of_jobs), budgets)
        if code is not None:
            return code
    else:
        for told in verification.verify_folds(folds, tables, flags.budget, flags.each):
            print(told, file=sys.stderr)
    counts = verification.outcomes(folds)
    print(verification.in_words(counts))
    if counts["refuted"]:
        return 1
    return 0 if counts["verified"] == counts.total() else 3


def _folds(overrides: list[str]) -> list[FoldPaths]:
    """The finished folds that the overrides mean, of methods that find a formula."""
    from fsm_hpc.cluster.watch import selection
    from fsm_hpc.search.method import Method
    from fsm_hpc.study.fold_id import ALL

    chosen = selection.sort(overrides)
    chosen.refuse_rule("verify")
    chosen.refuse_without_effect()
    folds = selection.select(overrides)
    if not folds:
        raise UserError(f"{chosen.study} has no folds; run a study first, or name one: study=NAME")
    formulas = (fold for fold in folds if Method(fold.id.method).finds_formula)
    return [fold.paths for fold in formulas if fold.id.fold != ALL]


COMMAND = Command(
    Group.READ,
    "Check with an independent program that formulas are optimal for their length.",
    "MODEL|FOLD [dataset.path=FILE] [--claim FILE], or [study=NAME] [dataset=NAME] [method=NAME] "
    "[data_dir=FOLDER] [--budget 4h] [--each 10m] [-m]",
    ("verify my_rule/model.json", "verify study=paper --budget 4h -m"),
    main,
    add_arguments,
)
