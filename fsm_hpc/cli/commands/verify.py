"""The command verify: check with an independent program that formulas are optimal."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from fsm_hpc.cli import options
from fsm_hpc.cli.usage import SELECTION, Command, Group, option
from fsm_hpc.errors import UserError

if TYPE_CHECKING:
    from fsm_hpc.study.files import FoldPaths

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def _seconds(text: str) -> float:
    """The seconds of 90s, 10m or 4h."""
    number, unit = text[:-1], text[-1:]
    try:
        return float(number) * _UNITS[unit]
    except (KeyError, ValueError):
        message = f"expected a duration such as 90s, 10m or 4h, found {text[:40]!r}"
        raise argparse.ArgumentTypeError(message) from None


def main(flags: argparse.Namespace, arguments: list[str]) -> int:
    """0 if all claims are verified, 1 if one is refuted, 3 if some are not checked."""
    expected = "one model.json, result.json or fold"
    paths, overrides = options.files_and_overrides(arguments, expected, is_required=False)
    if paths:
        return _file(flags, Path(paths[0]), overrides)
    return _study(flags, overrides)


def _file(flags: argparse.Namespace, path: Path, overrides: list[str]) -> int:
    from fsm_hpc.report import verification
    from fsm_hpc.report.alternatives.rule import read_rule
    from fsm_hpc.search.claim import claim_of, write_claim
    from fsm_hpc.search.proof import VERIFIED
    from fsm_hpc.study import keys

    keys.check_used(overrides, keys.OF_TABLE, "verify")
    if flags.multirun:
        raise UserError(f"-m verifies a study in jobs: omit it to verify {path}")
    if flags.claim is not None:
        rule = read_rule(path, overrides, limit=verification.LIMIT)
        write_claim(flags.claim, claim_of(rule.problem, rule.formula, rule.bound))
        print(f"wrote {flags.claim}, which contains the table")
        return 0
    outcomes = verification.verify_file(path, overrides, min(flags.budget, flags.each))
    for label, checked in outcomes.items():
        prefix = "" if checked.outcome == VERIFIED else f"{checked.outcome}: "
        text = f"{prefix}{checked.reason}"
        print(f"{label}: {text}" if len(outcomes) > 1 else text)
    return max(verification.OUTCOMES.index(checked.outcome) for checked in outcomes.values())


def _study(flags: argparse.Namespace, overrides: list[str]) -> int:
    from fsm_hpc.report import verification

    if flags.claim is not None:
        raise UserError("--claim: expected one model.json, result.json or fold")
    tables = [text for text in overrides if text.startswith("data_dir=")]
    of_jobs = [text for text in overrides if flags.multirun and text.startswith("cluster")]
    folds = _folds([text for text in overrides if text not in (*tables, *of_jobs)])
    if flags.multirun:
        from fsm_hpc.report import verification_jobs
        from fsm_hpc.study.compose import compose_any

        budgets = verification_jobs.Budgets(flags.budget, flags.each)
        code = verification_jobs.launch(folds, tables, compose_any(of_jobs), budgets)
        if code is not None:
            return code
    else:
        for text in verification.verify_folds(folds, tables, flags.budget, flags.each):
            print(text, file=sys.stderr)
    counts = verification.outcomes(folds)
    print(verification.in_words(counts))
    if counts["refuted"]:
        return 1
    return 0 if counts["verified"] == counts.total() else 3


def _folds(overrides: list[str]) -> list[FoldPaths]:
    """The selected folds of methods that find a formula."""
    from fsm_hpc.cluster.watch import selection
    from fsm_hpc.search.method import Method
    from fsm_hpc.study.fold_id import ALL

    for text in overrides:
        if text.startswith("out="):
            path = Path(text.removeprefix("out=")) / "model.json"
            raise UserError(f"verify takes the file of a rule, not {text}: verify {path}")
    selected = selection.sort(overrides)
    selected.refuse_rule("verify")
    selected.refuse_without_effect()
    folds = selection.select(overrides)
    if not folds:
        raise UserError(
            f"{selected.study} has no folds: run a study first, or select one: study=NAME"
        )
    formulas = (fold for fold in folds if Method(fold.id.method).finds_formula)
    return [fold.paths for fold in formulas if fold.id.fold != ALL]


COMMAND = Command(
    Group.RESULTS,
    "Check with an independent program that formulas are optimal.",
    "[MODEL|FOLD] [key=value ...] [--budget TIME] [--each TIME] [--claim FILE] [-m]",
    ("verify my_rule/model.json", "verify study=paper --budget 4h -m"),
    main,
    (
        option(
            "--budget TIME", "time limit for all claims (default: 1h)", type=_seconds, default="1h"
        ),
        option("--each TIME", "time limit per claim (default: 10m)", type=_seconds, default="10m"),
        option("--claim FILE", "write the claim to a file, and do not check it", type=Path),
        options.multirun("verify the folds of a study in jobs"),
    ),
    SELECTION
    | {
        "dataset.path=FILE": "the table of MODEL or FOLD, if it has moved",
        "data_dir=FOLDER": "the folder of your own copies of the datasets",
    },
)
