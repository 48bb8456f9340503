"""All that a command loads, so that a process forked from here costs no second to start.

Also what Hydra makes of the words that are said again and again, which is most of a short run.
"""

import copy
from collections.abc import Sequence
from typing import Any

import optuna
import sklearn.ensemble
import xgboost

from fsm_hpc.baselines import tuning
from fsm_hpc.cli import main, usage
from fsm_hpc.cli.commands.fit import DEFAULTS
from fsm_hpc.cluster import submissions
from fsm_hpc.models import fit, learn, progress
from fsm_hpc.report.alternatives import find, summary
from fsm_hpc.report.alternatives import page as explorer
from fsm_hpc.report.page import page
from fsm_hpc.study import compose, first_use, hydra
from tests.faults.said import SAID

LOADED = (
    *(explorer, find, fit, learn, main, optuna, page, progress, sklearn.ensemble, summary, tuning),
    xgboost,
)

for name in usage.names():
    usage.load_command(name)
first_use.compile_all()
submissions.code_now()

_composed = hydra.unresolved
_known: dict[tuple[str, ...], dict[str, Any]] = {}


def _remembered(overrides: Sequence[str]) -> dict[str, Any]:
    key = tuple(overrides)
    if key not in _known:
        _known[key] = _composed(overrides)
    return copy.deepcopy(_known[key])


hydra.unresolved = _remembered
for said in SAID:
    if said[0] == "fit":
        given = {word.partition("=")[0] for word in said}
        more = [f"{key}={value}" for key, value in DEFAULTS.items() if key not in given]
        compose.compose([*said[1:], *more])
    else:
        compose.compose(said)
