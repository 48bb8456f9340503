"""All that a command loads, so that a process forked from here costs no second to start."""

import optuna
import sklearn.ensemble
import xgboost

from fsm_hpc.baselines import tuning
from fsm_hpc.cli import main, usage
from fsm_hpc.models import fit, learn, progress
from fsm_hpc.report.alternatives import find, told
from fsm_hpc.report.alternatives import page as explorer
from fsm_hpc.report.page import page
from fsm_hpc.study import first_use

LOADED = (
    *(explorer, find, fit, learn, main, optuna, page, progress, sklearn.ensemble, told, tuning),
    xgboost,
)

for name in usage.names():
    usage.verb(name)
first_use.compile_all()
