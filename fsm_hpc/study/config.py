"""A typed view of conf/, validated before anything runs; conf/ alone states the defaults."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeVar

from fsm_hpc.data.fold_kind import Folding, FoldKind
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError
from fsm_hpc.search.constraints import Constraints
from fsm_hpc.search.method import Method
from fsm_hpc.search.near_optimal.choices import RuleChoice
from fsm_hpc.search.objective import Objective
from fsm_hpc.search.solvers.names import Encoding, SolverName
from fsm_hpc.study import option_lists
from fsm_hpc.study.checks import (
    OPTIONS,
    at_least,
    finite,
    one_folder,
    one_line,
    one_name,
    one_word,
    refuse_option,
)
from fsm_hpc.study.cut_settings import CutSettings
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.study.language_settings import LanguageSettings
from fsm_hpc.study.same import Same
from fsm_hpc.system.files import conf_dir

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MethodSettings:
    """conf/method: what is learnt, and how long a baseline is tuned."""

    name: Method
    trials: int | None = None  # of a baseline
    time_limit_s: float | None = None  # of one fit, for packages that take such a limit

    def __post_init__(self) -> None:
        at_least("method.trials", 1 if self.trials is None else self.trials, 1)
        at_least("method.time_limit_s", 1 if self.time_limit_s is None else self.time_limit_s, 1)


@dataclass(frozen=True, slots=True)
class SolverSettings:
    """conf/solver: who searches for the formula."""

    name: SolverName
    threads: int | None = None  # None: all cores that the job has
    head_start_s: float | None = None  # portfolio: native alone for so long
    encoding: Encoding | None = None  # clingo_dl: the fast rules, or the paper's as they stand

    def __post_init__(self) -> None:
        at_least("solver.threads", 1 if self.threads is None else self.threads, 1)
        at_least("solver.head_start_s", self.head_start_s or 0, 0)

    @property
    def options(self) -> dict[str, Any]:
        """What only some solvers take, by name."""
        of = {SolverName.PORTFOLIO: "head_start_s", SolverName.CLINGO_DL: "encoding"}
        name = of.get(self.name)
        value = getattr(self, name) if name else None
        return {} if name is None or value is None else {name: value}


@dataclass(frozen=True, slots=True)
class ScanSettings:
    """When the length scan ends."""

    patience: int
    plateau: int | None
    max_length: int | None
    splits: int
    budget_h: float
    alternatives: float | None

    def __post_init__(self) -> None:
        at_least("scan.budget_h", self.budget_h, 0)
        for name in ("patience", "plateau", "max_length", "splits"):
            value = getattr(self, name)
            at_least(f"scan.{name}", 1 if value is None else value, 1)
        at_least("scan.alternatives", self.alternatives or 0, 0)


@dataclass(frozen=True, slots=True)
class FinalSettings:
    """How long the final formula may take."""

    budget_h: float

    def __post_init__(self) -> None:
        at_least("final.budget_h", self.budget_h, 0)


@dataclass(frozen=True, slots=True)
class FitSettings:
    """The verb fit: how a rule is judged, and how long it may take in all."""

    folds: int
    budget_h: float
    choose: RuleChoice
    slack: float
    given: str | None

    def __post_init__(self) -> None:
        if self.folds != 0:
            at_least("fit.folds", self.folds, 2)
        at_least("fit.budget_h", self.budget_h, 0)
        at_least("fit.slack", self.slack, 0)


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """conf/cluster: where jobs run and what each is given."""

    scheduler: str  # the name of a module in cluster/schedulers; auto: what detect finds
    detect: dict[str, Any]  # for auto: clusters by the program that shows that they are here
    nodes: int  # that one fold is searched on
    cpus: int  # of each
    mem_gb: float  # of each
    memory_share: float  # of mem_gb that the solver may use
    timeout_h: float  # of one attempt
    signal_delay_s: int  # before the limit: save, requeue
    max_parallel: int  # jobs at a time, over all arrays of a submission
    max_retries: int  # after node failures and preemptions
    partition: str | None
    account: str | None
    qos: str | None
    constraint: str | None
    mail_user: str | None
    mail_type: str | None
    options: dict[str, Any] | None  # any other option of the scheduler
    setup: tuple[str, ...]  # shell lines before the job
    python: str | None  # None: the one that submits
    by: dict[str, Any]  # other values for some datasets and methods
    guess: bool  # cores and memory by the size of each table

    def __post_init__(self) -> None:
        one_name("cluster.scheduler", self.scheduler)
        at_least("cluster.nodes", self.nodes, 1)
        at_least("cluster.cpus", self.cpus, 1)
        at_least("cluster.mem_gb", self.mem_gb, 0.25)
        at_least("cluster.timeout_h", self.timeout_h, 1 / 60)
        at_least("cluster.signal_delay_s", self.signal_delay_s, 1)
        at_least("cluster.max_parallel", self.max_parallel, 1)
        at_least("cluster.max_retries", self.max_retries, 0)
        for name in ("partition", "account", "qos", "constraint", "mail_user", "mail_type"):
            one_word(f"cluster.{name}", getattr(self, name) or "-")
        for name, value in (self.options or {}).items():
            one_line(f"cluster.options.{name}", f"{name}{value}")
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
    objective: Objective
    rule: Constraints
    cluster: ClusterSettings
    scan: ScanSettings
    final: FinalSettings
    fit: FitSettings
    out: Path | None
    study: str
    results_dir: Path
    data_dir: Path | None
    allow_changed_data: bool
    folds: int
    fold: int
    fold_kind: FoldKind
    seed: int
    validation_fraction: float
    variant: str  # given by `study/variants.py`: the name of a folder

    def __post_init__(self) -> None:
        at_least("folds", self.folds, 2)
        if not 0 <= self.fold < self.folds:
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
        one_folder("study", self.study)
        one_folder("dataset.name", self.dataset.name)

    @property
    def id(self) -> FoldId:
        return FoldId(self.dataset.name, self.method.name.value, self.fold, self.variant)

    @property
    def nodes(self) -> int:
        """Machines that the fold is searched on; a baseline takes one."""
        return self.cluster.nodes if self.method.name.finds_formula else 1

    @property
    def folding(self) -> Folding:
        return Folding(
            self.fold_kind, self.folds, self.seed, self.validation_fraction, self.scan.splits
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values that `build(Config, ...)` turns back into an equal Config."""
        return typing.cast(dict[str, Any], _plain(self))


# What version 0.1 did where it had no setting: a config that it wrote means that.
BEFORE: dict[str, Any] = {
    "objective": {"name": "accuracy"},
    "rule": {},
    "scan": {"plateau": None, "splits": 1, "alternatives": None},
    "cuts": {"name": "observed"},
    "language": {"name": "paper"},
    "fold_kind": "kfold",
    "fit": {"folds": 10, "budget_h": 0.25, "choose": "optimum", "slack": 0.01, "given": None},
    "out": None,
    "variant": "",
    "cluster": {"nodes": 1, "by": {}, "guess": False, "detect": {}},
}
RENAMED = {"kind": "scheduler", "sbatch": "options"}  # settings of the cluster in version 0.2


def of_any_version(saved: Mapping[str, Any]) -> Config:
    """The config that this version or an older one wrote down."""
    fold = saved.get("fold")
    if type(fold) is not int:
        return _read_once(Same(saved))
    # the thousands of folds of a study differ in little else
    return replace(_read_once(Same({**saved, "fold": 0})), fold=fold)


@lru_cache(maxsize=4096)
def _read_once(written: Same) -> Config:
    saved = {key: value for key, value in written.of.items() if key not in OPTIONS}
    values = {**BEFORE, **saved}
    for section, defaults in BEFORE.items():
        given = saved.get(section, {})
        if isinstance(defaults, dict) and isinstance(given, Mapping):
            values[section] = {**defaults, **given}
    for old, new in RENAMED.items():
        if old in values["cluster"]:
            values["cluster"][new] = values["cluster"].pop(old)
    return build(Config, values)


@cache
def stated_default(key: str) -> Any:
    """What conf/config.yaml says of a key, without Hydra, which takes a while to load."""
    import yaml

    return yaml.safe_load((conf_dir() / "config.yaml").read_text(encoding="utf-8"))[key]


_hints: Callable[[Any], dict[str, Any]] = cache(typing.get_type_hints)


@lru_cache(maxsize=256)  # folds of a sweep share their sections, and there may be thousands
def _built_once(kind: typing.Hashable, values: Same, where: str) -> Any:
    return build(typing.cast(type[Any], kind), values.of, where)


def build(kind: type[T], values: Mapping[str, Any], where: str = "") -> T:
    """A dataclass from plain values; wrong names and types are the user's to mend."""
    hints = _hints(kind)
    unknown = sorted(set(values) - set(hints))
    if unknown:
        refuse_option(where + unknown[0])
        known = ", ".join(hints)
        raise UserError(f"{where}{unknown[0]} is not a setting; expected one of: {known}")
    for expected in fields(kind):  # type: ignore[arg-type]
        required = expected.default is MISSING and expected.default_factory is MISSING
        if required and expected.name not in values:
            raise UserError(f"{where}{expected.name} is missing")
    return kind(**{name: _typed(hints[name], v, where + name) for name, v in values.items()})


def _typed(hint: Any, value: Any, where: str) -> Any:
    if hint is Any:
        return value
    options = typing.get_args(hint)
    origin = typing.get_origin(hint)
    if origin in (types.UnionType, typing.Union):
        inner = next(option for option in options if option is not type(None))
        return None if value is None else _typed(inner, value, where)
    if origin is tuple and isinstance(value, (list, tuple, str, int, float)):
        items = value if isinstance(value, (list, tuple)) else [value]  # `dataset.drop=id`: of one
        return tuple(_typed(options[0], item, where) for item in items)
    if hint is str and isinstance(value, (list, tuple)) and option_lists.is_list(where):
        return ",".join(map(str, value)) or None
    if origin is dict and isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(hint) and isinstance(value, Mapping):
        return _built_once(typing.cast(typing.Hashable, hint), Same(value), where + ".")
    return _scalar(hint, value, where)


def _scalar(hint: Any, value: Any, where: str) -> Any:
    if isinstance(hint, type) and issubclass(hint, Enum):
        names = [member.value for member in hint]
        if value in names:
            return hint(value)
        raise UserError(f"{where}: expected one of {', '.join(names)}, found {value!r}")
    if isinstance(value, str) and "\0" in value:
        raise UserError(f"{where}: expected text without NUL, found {value!r}")
    if hint is Path and isinstance(value, (str, Path)):
        return Path(value).expanduser()
    finite(where, value)
    if hint is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if hint is str and isinstance(value, (int, float)):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(hint, type) and type(value) is hint:
        return value
    words = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
    raise UserError(f"{where}: expected {words.get(hint, 'a list or a group')}, found {value!r}")


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    return str(value) if isinstance(value, Path) else value
