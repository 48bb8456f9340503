"""A typed view of conf/, validated before anything runs; conf/ alone states the defaults."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from fsm_hpc.data.fold_kind import Folding, FoldKind
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError
from fsm_hpc.search.method import Method
from fsm_hpc.search.solvers.names import Encoding, SolverName
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.system.files import conf_dir

T = TypeVar("T")


class ClusterKind(Enum):
    """Where jobs run."""

    AUTO = "auto"  # slurm where there is sbatch
    SLURM = "slurm"
    LOCAL = "local"


@dataclass(frozen=True, slots=True)
class MethodSettings:
    """conf/method: what is learnt, and how long a baseline is tuned."""

    name: Method
    trials: int | None = None  # of a baseline

    def __post_init__(self) -> None:
        if self.trials is not None:
            _at_least("method.trials", self.trials, 1)


@dataclass(frozen=True, slots=True)
class SolverSettings:
    """conf/solver: who searches for the formula."""

    name: SolverName
    threads: int | None = None  # None: all cores that the job has
    head_start_s: float | None = None  # portfolio: native alone for so long
    encoding: Encoding | None = None  # clingo_dl: the fast rules, or the paper's as they stand

    def __post_init__(self) -> None:
        _at_least("solver.threads", self.threads or 1, 1)
        _at_least("solver.head_start_s", self.head_start_s or 0, 0)

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

    def __post_init__(self) -> None:
        _at_least("scan.patience", self.patience, 1)
        _at_least("scan.budget_h", self.budget_h, 0)
        _at_least("scan.splits", self.splits, 1)
        _at_least("scan.plateau", 1 if self.plateau is None else self.plateau, 1)
        _at_least("scan.max_length", 1 if self.max_length is None else self.max_length, 1)


@dataclass(frozen=True, slots=True)
class FinalSettings:
    """How long the final formula may take."""

    budget_h: float

    def __post_init__(self) -> None:
        _at_least("final.budget_h", self.budget_h, 0)


@dataclass(frozen=True, slots=True)
class FitSettings:
    """The verb fit: how a rule is judged, and how long it may take in all."""

    folds: int
    budget_h: float

    def __post_init__(self) -> None:
        if self.folds != 0:
            _at_least("fit.folds", self.folds, 2)
        _at_least("fit.budget_h", self.budget_h, 0)


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """conf/cluster: where jobs run and what each is given."""

    kind: ClusterKind
    cpus: int
    mem_gb: float
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
    sbatch: dict[str, Any] | None  # any other sbatch option
    setup: tuple[str, ...]  # shell lines before the job
    python: str | None  # None: the one that submits

    def __post_init__(self) -> None:
        _at_least("cluster.cpus", self.cpus, 1)
        _at_least("cluster.mem_gb", self.mem_gb, 0.25)
        _at_least("cluster.timeout_h", self.timeout_h, 1 / 60)
        _at_least("cluster.signal_delay_s", self.signal_delay_s, 1)
        _at_least("cluster.max_parallel", self.max_parallel, 1)
        _at_least("cluster.max_retries", self.max_retries, 0)
        if not 0 < self.memory_share <= 1:
            found = self.memory_share
            raise UserError(f"cluster.memory_share: expected between 0 and 1, found {found}")


@dataclass(frozen=True, slots=True)
class Config:
    """One fold: one dataset x method x k, and how it is run."""

    dataset: DatasetSpec
    method: MethodSettings
    solver: SolverSettings
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
    wait: bool

    def __post_init__(self) -> None:
        _at_least("folds", self.folds, 2)
        if not 0 <= self.fold < self.folds:
            raise UserError(f"fold: expected 0 to {self.folds - 1}, found {self.fold}")
        if not 0 < self.validation_fraction < 1:
            found = self.validation_fraction
            raise UserError(f"validation_fraction: expected between 0 and 1, found {found}")
        if not 0 <= self.seed < 2**32:
            raise UserError(f"seed: expected 0 to {2**32 - 1}, found {self.seed}")
        for key, name in (("study", self.study), ("dataset.name", self.dataset.name)):
            if not name or name.startswith(".") or "/" in name:
                raise UserError(f"{key}: expected the name of one folder, found {name!r}")

    @property
    def id(self) -> FoldId:
        return FoldId(self.dataset.name, self.method.name.value, self.fold)

    @property
    def folding(self) -> Folding:
        return Folding(
            self.fold_kind, self.folds, self.seed, self.validation_fraction, self.scan.splits
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values that `build(Config, ...)` turns back into an equal Config."""
        return typing.cast(dict[str, Any], _plain(asdict(self)))


# What version 0.1 did where it had no setting: a config that it wrote means that.
BEFORE: dict[str, Any] = {
    "scan": {"plateau": None, "splits": 1},
    "fold_kind": "kfold",
    "fit": {"folds": 10, "budget_h": 0.25},
    "out": None,
}


def of_any_version(saved: Mapping[str, Any]) -> Config:
    """The config that this version or an older one wrote down."""
    values = {**BEFORE, **saved}
    for section, defaults in BEFORE.items():
        if isinstance(defaults, dict):
            values[section] = {**defaults, **saved.get(section, {})}
    return build(Config, values)


@cache
def stated_default(key: str) -> Any:
    """What conf/config.yaml says of a key, without Hydra, which takes a while to load."""
    import yaml

    return yaml.safe_load((conf_dir() / "config.yaml").read_text(encoding="utf-8"))[key]


def build(kind: type[T], values: Mapping[str, Any], where: str = "") -> T:
    """A dataclass from plain values; wrong names and types are the user's to mend."""
    hints = typing.get_type_hints(kind)
    unknown = sorted(set(values) - set(hints))
    if unknown:
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
        if value is None:
            return None
        return _typed(next(o for o in options if o is not type(None)), value, where)
    if origin is tuple and isinstance(value, (str, int, float)):
        return (_typed(options[0], value, where),)  # `dataset.drop=id` is a list of one
    if origin is tuple and isinstance(value, (list, tuple)):
        return tuple(_typed(options[0], item, where) for item in value)
    if origin is dict and isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(hint) and isinstance(value, Mapping):
        return build(typing.cast(type[Any], hint), value, where + ".")
    return _scalar(hint, value, where)


def _scalar(hint: Any, value: Any, where: str) -> Any:
    if isinstance(hint, type) and issubclass(hint, Enum):
        names = [member.value for member in hint]
        if value in names:
            return hint(value)
        raise UserError(f"{where}: expected one of {', '.join(names)}, found {value!r}")
    if hint is Path and isinstance(value, (str, Path)):
        return Path(value).expanduser()
    if hint is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if hint is str and isinstance(value, (int, float)):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(hint, type) and type(value) is hint:
        return value
    words = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
    raise UserError(f"{where}: expected {words.get(hint, 'a list or a group')}, found {value!r}")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    return str(value) if isinstance(value, Path) else value


def _at_least(name: str, value: float, least: float) -> None:
    if not value >= least:
        raise UserError(f"{name}: expected at least {least}, found {value}")
