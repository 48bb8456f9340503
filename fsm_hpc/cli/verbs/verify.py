"""The verb verify: check with an independent program that formulas are optimal."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from fsm_hpc.cli.usage import Group, Verb
from fsm_hpc.errors import UserError

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
    parser.add_argument("--budget", type=_seconds, default="1h", help="time for all claims (1h)")
    parser.add_argument("--each", type=_seconds, default="10m", help="time for one claim (10m)")
    parser.add_argument("--claim", type=Path, metavar="FILE", help="write the claim; do not check")


def main(flags: argparse.Namespace, arguments: list[str]) -> int:
    """0 when everything is verified, 1 when a claim is refuted, 3 when some are not checked."""
    named = [argument for argument in arguments if "=" not in argument or Path(argument).exists()]
    settings = [argument for argument in arguments if argument not in named]
    if len(named) > 1:
        raise UserError(f"expected one model.json, result.json or fold, found {', '.join(named)}")
    if named:
        return _one(flags, Path(named[0]), settings)
    return _study(flags, settings)


def _one(flags: argparse.Namespace, path: Path, settings: list[str]) -> int:
    from fsm_hpc import checker
    from fsm_hpc.report import verification
    from fsm_hpc.report.alternatives.rule import read_rule
    from fsm_hpc.search.proof import VERIFIED
    from fsm_hpc.study import keys

    keys.check_used(settings, keys.OF_TABLE, "verify")
    if flags.claim is not None:
        verification.PreparedClaim.write(str(path), read_rule(path, settings), flags.claim)
        print(f"wrote {flags.claim}, which contains the table")
        return 0
    outcomes = verification.verify_file(path, settings, min(flags.budget, flags.each))
    for label, done in outcomes.items():
        reason = done.reason if done.outcome == VERIFIED else f"{done.outcome}: {done.reason}"
        print(f"{label}: {reason}" if len(outcomes) > 1 else reason)
    order = (VERIFIED, *checker.OUTCOMES)
    return max(order.index(done.outcome) for done in outcomes.values())


def _study(flags: argparse.Namespace, settings: list[str]) -> int:
    from fsm_hpc.cluster.watch import selection
    from fsm_hpc.report import verification
    from fsm_hpc.search.method import Method

    if flags.claim is not None:
        raise UserError("--claim: expected one model.json or fold to write the claim of")
    tables = [argument for argument in settings if argument.startswith("data_dir=")]
    overrides = [argument for argument in settings if argument not in tables]
    chosen = selection.sort(overrides)
    chosen.refuse_rule("verify")
    chosen.refuse_without_effect()
    folds = selection.select(overrides)
    if not folds:
        raise UserError(f"{chosen.study} has no folds; run a study first, or name one: study=NAME")
    study = folds[0].paths.study.root
    finished = (
        f.paths for f in folds if Method(f.id.method).finds_formula and f.paths.result.exists()
    )
    names = [str(paths.folder.relative_to(study)) for paths in finished]
    outcomes = verification.verify_folds(study, names, tables, flags.budget, flags.each, _note)
    counts = Counter(done.outcome if done else "not checked" for done in outcomes.values())
    print(", ".join(f"{counts[outcome]} {outcome}" for outcome in sorted(counts)) or "no claims")
    if counts["refuted"]:
        return 1
    return 0 if counts["verified"] == len(outcomes) else 3


def _note(text: str) -> None:
    print(text, file=sys.stderr)


VERB = Verb(
    Group.READ,
    "Check with an independent program that formulas are optimal for their length.",
    "MODEL|FOLD [dataset.path=FILE] [--claim FILE], or [study=NAME] [dataset=NAME] [method=NAME] "
    "[data_dir=FOLDER] [--budget 4h] [--each 10m]",
    ("verify my_rule/model.json", "verify study=paper --budget 4h"),
    main,
    add_arguments,
)
