"""The settings of one fold: typed fields with default, help and range, the one place for each."""

from __future__ import annotations

import typing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
    Scope,
    setting,
)


@dataclass(frozen=True, slots=True)
class ScanSettings:
    """When the length scan ends."""

    patience: int = setting(
        2,
        "lengths in a row below the best validation accuracy, then stop",
        least=1,
        changes=Scope.FORMULAS,
    )
    plateau: int | None = setting(
        4,
        "lengths in a row that bring no new best validation accuracy, then stop",
        least=1,
        changes=Scope.FORMULAS,
        legacy=None,
    )
    max_length: int | None = setting(
        10,
        "stop at this length at the latest: nobody reads longer rules",
        least=1,
        changes=Scope.FORMULAS,
    )
    splits: int = setting(
        1,
        "70/30 splits whose mean validation accuracy chooses the length",
        least=1,
        changes=Scope.FORMULAS,
        legacy=1,
    )
    budget_h: float = setting(
        72.0, "hours for all lengths together, earlier attempts included; not of baselines", least=0
    )
    alternatives: float | None = setting(
        None, "0.01: write all formulas within that slack into alternatives.json", least=0
    )
    claim: bool = setting(
        False, "write claim.json.gz, which an independent program can check; contains the table"
    )


@dataclass(frozen=True, slots=True)
class FinalSettings:
    """How long the final formula may take."""

    budget_h: float = setting(
        72.0, "hours for the final formula, earlier attempts included", least=0
    )


@dataclass(frozen=True, slots=True)
class FitSettings:
    """The command fit: how a rule is judged, and how long it may take in all."""

    folds: int = setting(10, "of the same procedure, to tell what to expect of the rule; 0: none")
    budget_h: float = setting(
        0.05, "hours for everything together, earlier attempts included", least=0
    )
    choose: RuleChoice = setting(
        RuleChoice.OPTIMUM, "which of all formulas within the slack is taken"
    )
    slack: float = setting(
        0.01, "share of the fitted rows, or number of errors, that the choice may cost", least=0
    )
    given: str | None = setting(None, "with choose=given: the formula")
    compare: Compare = setting(
        Compare.SIMPLE, "other models on the same folds; all: XGBoost as well"
    )
    claim: bool = setting(
        False, "write claim.json.gz, which an independent program can check; contains the table"
    )

    def __post_init__(self) -> None:
        if self.folds != 0 and not self.folds >= 2:
            raise UserError(f"fit.folds: expected at least 2, found {self.folds}")


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """conf/cluster: where jobs run and what each is given."""

    scheduler: str = setting(
        "auto",
        "a module of cluster/schedulers, or beside your own file; auto: as detected",
        text=MODULE,
    )
    detect: dict[str, Any] = setting(
        dict, "for auto: clusters, each by the program that shows that it is here"
    )
    nodes: int = setting(1, "machines that search one fold together", least=1)
    cpus: int = setting(8, "cores per node; checked when the job starts", least=1)
    mem_gb: float = setting(64.0, "memory per node", least=0.25)
    memory_share: float = setting(0.9, "share of mem_gb that the solver may use")
    timeout_h: float = setting(
        72.0, "time limit of one attempt; a scan goes on in the next one", least=1 / 60
    )
    signal_delay_s: int = setting(
        120, "so long before the limit the job saves its state and requeues itself", least=1
    )
    max_parallel: int = setting(
        256, "jobs at the same time, over all arrays of a submission", least=1
    )
    max_retries: int = setting(
        10, "node failures and preemptions after which a fold waits for resume", least=0
    )
    partition: str | None = setting(None, "null: the site's default", text=ONE_WORD)
    account: str | None = setting(None, "account that pays", text=ONE_WORD)
    qos: str | None = setting(None, "quality of service", text=ONE_WORD)
    constraint: str | None = setting(None, "features that nodes must have", text=ONE_WORD)
    mail_user: str | None = setting(None, "address for mail of the scheduler", text=ONE_WORD)
    mail_type: str | None = setting(None, "events for mail: END,FAIL", text=ONE_WORD)
    options: dict[str, Any] | None = setting(
        None, "any other option of the scheduler: {nice: 100, reservation: course}", runs_code=True
    )
    setup: tuple[str, ...] = setting(
        (), "shell lines before the job: [module load python/3.11]", runs_code=True
    )
    python: str | None = setting(
        None, "null: the Python that submits, at the same path on the nodes", runs_code=True
    )
    by: dict[str, Any] = setting(dict, "other values for some datasets and methods")
    folds_per_job: str = setting(
        "1", "auto: short folds share a job; a number: so many do", text=NUMBER_OR_AUTO
    )

    def __post_init__(self) -> None:
        for name, value in (self.options or {}).items():
            ONE_LINE.check(f"cluster.options.{name}", f"{name}{value}")
        if not 0 < self.memory_share <= 1:
            raise UserError(f"cluster.memory_share: expected 0 to 1, found {self.memory_share}")


@dataclass(frozen=True, slots=True)
class Config:
    """One fold: one dataset x method x k, and how it is run."""

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
        None, "folder of model.json and model.html; null: <method>/model in the study"
    )
    study: str = setting("default", "results/<study>/<dataset>/<method>/fold-<k>/", text=FOLDER)
    results_dir: Path = setting(Path("results"), "relative to the folder of the command")
    data_dir: Path | None = setting(
        None, "folder with your own copies of the tables; also FSM_DATA_DIR"
    )
    allow_changed_data: bool = setting(
        False, "true: accept a table whose SHA-256 is not the expected one"
    )
    folds: int = setting(10, "parts of the cross-validation", least=2, changes=Scope.ALL)
    fold: int = setting(0, "which of them is held out; with -m all of them")
    fold_kind: FoldKind = setting(
        FoldKind.KFOLD,
        "kfold, stratified, or grouped by dataset.group",
        changes=Scope.ALL,
        legacy="kfold",
    )
    seed: int = setting(
        42, "of the folds, of the 70/30 splits and of the baselines", changes=Scope.ALL
    )
    validation_fraction: float = setting(
        0.3, "of the rows that are not held out", changes=Scope.ALL
    )
    variant: str = setting(
        "", "not to be set: named by the settings that differ from those of the study"
    )
    overrides: tuple[str, ...] = field(default=(), compare=False)  # of the command, fold apart

    def __post_init__(self) -> None:
        if self.fold != ALL and not 0 <= self.fold < self.folds:
            raise UserError(f"fold: expected 0 to {self.folds - 1}, found {self.fold}")
        if not 0 < (found := self.validation_fraction) < 1:
            raise UserError(f"validation_fraction: expected between 0 and 1, found {found}")
        if not 0 <= self.seed < 2**32:
            raise UserError(f"seed: expected 0 to {2**32 - 1}, found {self.seed}")
        if self.nodes > 1 and self.solver.name is SolverName.CLINGO_DL:
            raise UserError(
                f"cluster.nodes={self.nodes}: solver=clingo_dl runs on one machine; several share "
                "a search with solver=native or solver=portfolio (its native part)"
            )
        FOLDER.check("dataset.name", self.dataset.name)

    @property
    def id(self) -> FoldId:
        return FoldId(self.dataset.name, self.method.name.value, self.fold, self.variant)

    @property
    def nodes(self) -> int:
        """Machines that the fold is searched on; a baseline takes one."""
        return self.cluster.nodes if self.method.name.finds_formula else 1

    @property
    def budgets_h(self) -> dict[str, float]:
        """What limits the time of a `fit`, by key."""
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
        except UnicodeEncodeError:  # bytes of a path that are no text
            return typing.cast(dict[str, Any], serialization.plain(self))
