"""The settings of one fold: typed fields with default, help and range."""

from __future__ import annotations

import typing
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Generic, TypeVar

from msgspec import json

from fsm_hpc.baselines.compare import Compare
from fsm_hpc.data.fold_kind import Folding, FoldKind
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError
from fsm_hpc.search.constraints import Constraints
from fsm_hpc.search.near_optimal.rule_choice import RuleChoice
from fsm_hpc.search.objective import Objective
from fsm_hpc.search.solvers.names import SolverName
from fsm_hpc.study.fold_id import ALL, FoldId
from fsm_hpc.study.group_settings import (
    CutSettings,
    LanguageSettings,
    MethodSettings,
    SolverSettings,
)
from fsm_hpc.system import serialization
from fsm_hpc.system.settings import (
    FOLDER,
    MODULE,
    NUMBER_OR_AUTO,
    ONE_LINE,
    ONE_WORD,
    formula_setting,
    result_setting,
    setting,
)

_CLAIM = "write claim.json.gz for the independent checker; it contains the table"


@dataclass(frozen=True, slots=True)
class ScanSettings:
    """When the scan over lengths stops."""

    patience: int = formula_setting(
        2, "stop after this many lengths in a row below the best validation accuracy", least=1
    )
    plateau: int | None = formula_setting(
        4,
        "stop after this many lengths without a better validation accuracy",
        least=1,
        legacy=None,
    )
    max_length: int | None = formula_setting(10, "largest formula length", least=1)
    splits: int = formula_setting(
        1,
        "number of 70/30 splits; their mean validation accuracy selects the length",
        least=1,
        legacy=1,
    )
    budget_h: float = setting(
        72.0, "hours for all lengths, earlier attempts included; not for baselines", least=0
    )
    alternatives: float | None = setting(
        None,
        "write near-optimal formulas with this slack, such as 0.01, to alternatives.json",
        least=0,
    )
    claim: bool = setting(False, _CLAIM)


@dataclass(frozen=True, slots=True)
class FinalSettings:
    """The time budget of the final formula."""

    budget_h: float = setting(
        72.0, "hours for the final formula, earlier attempts included", least=0
    )


@dataclass(frozen=True, slots=True)
class FitSettings:
    """The command fit: cross-validation, time budget, choice of the rule."""

    folds: int = setting(10, "number of cross-validation folds that estimate the accuracy; 0: none")
    budget_h: float = setting(
        0.05, "hours for the rule and its cross-validation, earlier attempts included", least=0
    )
    choose: RuleChoice = setting(RuleChoice.OPTIMUM, "which near-optimal formula is the rule")
    slack: float = setting(
        0.01, "additional errors of that formula: a share of the rows, or a number", least=0
    )
    given: str | None = setting(None, "the formula, with fit.choose=given")
    compare: Compare = setting(
        Compare.SIMPLE, "models to compare with on the same folds; all: also XGBoost"
    )
    claim: bool = setting(False, _CLAIM)

    def __post_init__(self) -> None:
        if self.folds != 0 and not self.folds >= 2:
            raise UserError(f"fit.folds: expected at least 2, found {self.folds}")


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """conf/cluster: where jobs run, and their resources."""

    scheduler: str = setting(
        "auto",
        "a module in cluster/schedulers or next to your config file; auto: detected",
        text=MODULE,
    )
    detect: dict[str, Any] = setting(
        dict, "for scheduler=auto: names of clusters, each with a program that exists only there"
    )
    nodes: int = setting(1, "machines that search one fold together", least=1)
    cpus: int = setting(8, "cores per node; checked when the job starts", least=1)
    mem_gb: float = setting(64.0, "memory per node in GB", least=0.25)
    memory_share: float = setting(0.9, "share of mem_gb that the solver may use")
    timeout_h: float = setting(
        72.0, "time limit of one job in hours; the next job continues the scan", least=1 / 60
    )
    signal_delay_s: int = setting(
        120, "seconds before the time limit at which the job saves and requeues", least=1
    )
    max_parallel: int = setting(
        256, "largest number of running jobs, over all arrays of a submission", least=1
    )
    max_retries: int = setting(
        10, "restarts after node failures and preemptions; then run resume", least=0
    )
    partition: str | None = setting(
        None, "partition of the jobs; null: the default of the site", text=ONE_WORD
    )
    account: str | None = setting(None, "account to charge", text=ONE_WORD)
    qos: str | None = setting(None, "quality of service", text=ONE_WORD)
    constraint: str | None = setting(None, "required node features", text=ONE_WORD)
    mail_user: str | None = setting(
        None, "address to which the scheduler sends mail", text=ONE_WORD
    )
    mail_type: str | None = setting(None, "events that send mail: END,FAIL", text=ONE_WORD)
    options: dict[str, Any] | None = setting(
        None, "other options of the scheduler: {nice: 100, reservation: course}", runs_code=True
    )
    setup: tuple[str, ...] = setting(
        (), "shell lines before the job: [module load python/3.11]", runs_code=True
    )
    python: str | None = setting(
        None, "Python of the jobs; null: that of the submitting command", runs_code=True
    )
    by: dict[str, Any] = setting(dict, "other cluster settings for some datasets and methods")
    folds_per_job: str = setting(
        "1", "folds that share one job; auto: only short ones", text=NUMBER_OR_AUTO
    )

    def __post_init__(self) -> None:
        for name, value in (self.options or {}).items():
            ONE_LINE.check(f"cluster.options.{name}", f"{name}{value}")
        if not 0 < self.memory_share <= 1:
            raise UserError(f"cluster.memory_share: expected 0 to 1, found {self.memory_share}")


@dataclass(frozen=True, slots=True)
class Config:
    """One fold: its dataset, method and number, and how to run it."""

    dataset: DatasetSpec
    method: MethodSettings
    language: LanguageSettings
    solver: SolverSettings
    cuts: CutSettings
    cluster: ClusterSettings
    objective: Objective = field(default_factory=Objective)
    rule: Constraints = field(default_factory=Constraints)
    scan: ScanSettings = field(default_factory=ScanSettings)
    final: FinalSettings = field(default_factory=FinalSettings)
    fit: FitSettings = field(default_factory=FitSettings)
    out: Path | None = setting(
        None, "output folder of fit; null: <dataset>/<method>/model in the study"
    )
    study: str = setting(
        "default", "name of the study; its folds are in <results_dir>/<study>/", text=FOLDER
    )
    results_dir: Path = setting(Path("results"), "folder of all studies")
    data_dir: Path | None = setting(
        None, "folder of your own copies of the datasets; also FSM_DATA_DIR"
    )
    allow_changed_data: bool = setting(False, "accept a table with another SHA-256 than expected")
    folds: int = result_setting(10, "number of cross-validation folds", least=2)
    fold: int = setting(0, "number of the fold to hold out; with -m all folds")
    fold_kind: FoldKind = result_setting(
        FoldKind.KFOLD,
        "how folds are made: kfold, stratified, or grouped by dataset.group",
        legacy="kfold",
    )
    seed: int = result_setting(42, "random seed of the folds, the 70/30 splits and the baselines")
    validation_fraction: float = result_setting(
        0.3, "share of validation rows among the rows that are not held out"
    )
    variant: str = setting("", "set by the program: the settings that differ from the study")
    overrides: tuple[str, ...] = field(default=(), compare=False)  # of the command, without fold

    def __post_init__(self) -> None:
        if self.fold != ALL and not 0 <= self.fold < self.folds:
            raise UserError(f"fold: expected 0 to {self.folds - 1}, found {self.fold}")
        if not 0 < (share := self.validation_fraction) < 1:
            raise UserError(f"validation_fraction: expected between 0 and 1, found {share}")
        if not 0 <= self.seed < 2**32:
            raise UserError(f"seed: expected 0 to {2**32 - 1}, found {self.seed}")
        if self.nodes > 1 and self.solver.name is SolverName.CLINGO_DL:
            raise UserError(
                f"cluster.nodes={self.nodes}: solver=clingo_dl runs on one machine; use "
                "solver=native or solver=portfolio to share a search"
            )
        FOLDER.check("dataset.name", self.dataset.name)

    @property
    def id(self) -> FoldId:
        return FoldId(self.dataset.name, self.method.name.value, self.fold, self.variant)

    @property
    def nodes(self) -> int:
        """The number of machines that search the fold; 1 for a baseline."""
        return self.cluster.nodes if self.method.name.finds_formula else 1

    @property
    def budgets_h(self) -> dict[str, float]:
        """The time budgets of `fit`, by key."""
        hours = (self.fit.budget_h, self.scan.budget_h, self.final.budget_h)
        return dict(zip(("fit.budget_h", "scan.budget_h", "final.budget_h"), hours, strict=True))

    @property
    def folding(self) -> Folding:
        return Folding(
            self.fold_kind, self.folds, self.seed, self.validation_fraction, self.scan.splits
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values that `build(Config, ...)` turns back into an equal Config."""
        try:
            return typing.cast(dict[str, Any], json.decode(json.encode(self, enc_hook=str)))
        except UnicodeEncodeError:  # a path that is not UTF-8
            return typing.cast(dict[str, Any], serialization.plain(self))


T = TypeVar("T")
_OF_JOB = [field.name for field in fields(Config) if field.name not in ("fold", "variant")]


class OncePerJob(Generic[T]):
    """A function of a config that neither its fold nor its variant changes, remembered for all
    configs that share their other values, as the folds of one job of a sweep do."""

    def __init__(self, function: Callable[[Config], T]) -> None:
        self._function = function
        self._known: dict[tuple[int | bool, ...], tuple[Config, T]] = {}  # keeps what has the ids

    def __call__(self, config: Config) -> T:
        key = (config.fold == ALL, *(id(getattr(config, name)) for name in _OF_JOB))
        if key not in self._known:
            self._known[key] = config, self._function(config)
        return self._known[key][1]
