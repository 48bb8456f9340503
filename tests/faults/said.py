"""The commands that are struck, limited and raced: small ones, which end in a second."""

SMALL = ("dataset=hepatitis", "solver.threads=1")
MEDIAN = ("dataset=hepatitis", "method=median")
FEW = ("fit.folds=2", "scan.splits=2")
NATIVE = (*SMALL, "method=pivot", "fold=1", "solver=native", "scan.max_length=7")
WITH_ALTERNATIVES = (
    *(*SMALL, "method=pivot", "fold=1", "solver=native", "scan.plateau=null"),
    *("scan.patience=9", "scan.max_length=6", "scan.alternatives=4"),
)
CLINGO_DL = (*SMALL, "method=median", "fold=1", "solver=clingo_dl", "scan.max_length=4")
PORTFOLIO = (*SMALL, "method=interval", "fold=1", "solver.head_start_s=0", "scan.max_length=4")
RANDOM_FOREST = (*SMALL, "method=random_forest", "fold=1", "method.trials=2")
XGBOOST = (*SMALL, "method=xgboost", "fold=1", "method.trials=3")
FIT = ("fit", *SMALL, "method=median", "solver=native", *FEW, "scan.max_length=3")
RULE = ("fit", *SMALL, "method=pivot", "solver=native", "fit.folds=0", "scan.max_length=4")
FOLD = (*MEDIAN, "fold=1", "solver=native", "solver.threads=1", "scan.max_length=3")
QUICK_RULE = ("fit", *MEDIAN, "solver=native", "fit.folds=0", "scan.max_length=2", "out=rule")
SAID = (
    *(NATIVE, WITH_ALTERNATIVES, CLINGO_DL, PORTFOLIO, RANDOM_FOREST, XGBOOST),
    *(FIT, RULE, FOLD, QUICK_RULE),
)
