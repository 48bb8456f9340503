"""A fold with its table, its rows and its files, and the resources that it may use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from fsm_hpc.data.columns import Kind
from fsm_hpc.data.dataset import Dataset, load, target_values
from fsm_hpc.data.folds import FoldRows, Rows, fold_rows
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError
from fsm_hpc.search.lengths import Split
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.stop_reason import StopReason
from fsm_hpc.study import fingerprint, result
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.study.fold_id import ALL
from fsm_hpc.study.result import FoldResult
from fsm_hpc.system import files, machine

MOST_CLASSES = 20  # a target with more is numeric, or a mistake


@dataclass(frozen=True)
class Fold:
    """A config with its table, its rows and its files."""

    config: Config
    dataset: Dataset
    rows: FoldRows
    paths: FoldPaths

    @property
    def settings(self) -> dict[str, Any]:
        return fingerprint.settings_that_matter(self.config, self.dataset.digest)

    def problem(self, rows: Rows) -> Problem:
        return problem_of(self.dataset, self.config, rows)

    @property
    def splits(self) -> list[Split]:
        return [Split(self.problem(t), self.problem(v)) for t, v in self.rows.splits]


def problem_of(dataset: Dataset, config: Config, rows: Rows) -> Problem:
    """The search problem of some rows of a table with this config."""
    method = config.method.name
    settings = (config.cuts.of(method), config.language.name, config.objective, dataset.weights)
    return Problem.build(dataset.columns, dataset.labels, method, rows, *settings, config.rule)


def prepare(config: Config) -> Fold:
    """Read the table and split its rows; reports every error in the input."""
    dataset = load_table(config)
    refuse_other_table(config, dataset.digest)
    rows = fold_rows(dataset.labels, dataset.groups, config.fold, config.folding)
    return Fold(config, dataset, rows, fold_paths(config))


def load_table(config: Config) -> Dataset:
    """The table, with the columns that thresholds and constraints name.

    For the fold `all` of more than two classes: the table of the first class.
    """
    classes = several_classes(config) if config.fold == ALL else []
    spec = against_rest(config.dataset, classes[0]) if classes else config.dataset
    dataset = load_dataset(spec, config.data_dir, config.allow_changed_data)
    method = config.method.name
    if method.finds_formula:
        config.cuts.of(method).check(c.name for c in dataset.columns if c.kind is Kind.NUMERIC)
        config.rule.check(dataset.columns, method is Method.INTERVAL)
    return dataset


def several_classes(config: Config) -> list[str]:
    """The classes of a target with more than two; empty if the settings name two."""
    spec = config.dataset
    if spec.positive is not None or spec.negative is not None or spec.labels is not None:
        return []
    values = target_values(spec, config.data_dir, config.allow_changed_data)
    return values if 2 < len(values) <= MOST_CLASSES else []


def against_rest(spec: DatasetSpec, label: str) -> DatasetSpec:
    """The table with one class against all others."""
    return replace(spec, positive=label, negative="rest")


def refuse_other_table(config: Config, digest: str) -> None:
    """Refuse another table of the same file name, which would overwrite results."""
    paths, table = fold_paths(config), config.dataset.own_path
    done = result.load(paths.result, config.id) if table else None
    before = done.provenance.get("table") if done else None
    if done is None or before is None or done.settings.get("data") == digest:
        return
    if before != table:
        raise UserError(
            f"{paths.folder} has the result of another table, {before}; "
            "give this table another name with dataset.name=NAME, or use study=NAME"
        )


@lru_cache(maxsize=8)  # all folds of a sweep use the same table
def load_dataset(spec: DatasetSpec, data_dir: Path | None, allow_changed: bool) -> Dataset:
    return load(spec, data_dir, allow_changed)


def fold_paths(config: Config) -> FoldPaths:
    study = StudyPaths(config.results_dir / config.study)
    return study.fold(config.id)


def reason_to_continue(config: Config, done: FoldResult) -> str | None:
    """Why a run with this config would improve a result; None if it is final."""
    out_of_memory = StopReason.OUT_OF_MEMORY.value
    if out_of_memory in (done.stop_reason, done.final_end):
        has_more = memory_mb(config) > 1.01 * (done.provenance.get("memory_mb") or 0)
        return "ran out of memory; more memory is given now" if has_more else None
    timed_out = done.stop_reason == StopReason.TIMEOUT.value
    can_be_proved = done.weight_error == 0.0 and done.formula  # rounded weights stay rounded
    is_unproved = not done.proved and can_be_proved
    if config.fold == ALL:  # with a share of fit.budget_h, which it may not use completely
        then = done.provenance.get("budgets_h", {})
        larger = [key for key, hours in config.budgets_h.items() if hours > then.get(key, 0.0)]
        is_incomplete = timed_out or is_unproved
        return f"a larger {larger[0]} continues it" if is_incomplete and larger else None
    if timed_out and done.seconds.scan / 3600 < config.scan.budget_h:
        return f"timed out in the scan; a budget of {config.scan.budget_h:g} h continues it"
    if is_unproved and done.seconds.final / 3600 < config.final.budget_h:
        return f"not proved; a budget of {config.final.budget_h:g} h continues it"
    return None


def final_result(fold: Fold) -> FoldResult | None:
    """The result on disk, if it has the settings of this fold and is final."""
    done = result.load(fold.paths.result, fold.config.id)
    if done is None or done.fingerprint != fingerprint.fingerprint(fold.settings):
        return None
    return None if reason_to_continue(fold.config, done) else done


def quarantine_other_results(fold: Fold, say: Callable[[str], None]) -> None:
    """Before a fold is computed: rename files that are not its result, and report their names."""
    paths = fold.paths
    message = files.quarantine_if_invalid(
        paths.result, lambda path: result.read(path, fold.config.id)
    )
    if message:
        say(message)
    done = result.load(paths.result, fold.config.id)
    if done is None or done.fingerprint == fingerprint.fingerprint(fold.settings):
        return
    changed = ", ".join(fingerprint.differences(done.settings, fold.settings)) or "its fingerprint"
    for path in (paths.result, paths.alternatives, paths.verification):
        if path.exists() and (kept := files.rename_outdated(path)):
            say(f"{path.name} belongs to other rows or settings ({changed}); kept as {kept}")


def report_changes(fold: Fold, say: Callable[[str], None]) -> None:
    """Report why a fold with a result is computed again."""
    done = result.load(fold.paths.result, fold.config.id)
    if done is None:
        return
    changed = fingerprint.differences(done.settings, fold.settings)
    more = reason_to_continue(fold.config, done)
    if changed:
        say(f"computing again: {', '.join(changed)}")
    elif more:
        say(f"continuing: {more}")


def threads(config: Config) -> int:
    """Threads of the solver: as configured, else the cores that this process may use.

    With several nodes: cluster.cpus, as they may share one machine.
    """
    cores = machine.available_cores()
    return config.solver.threads or (min(config.cluster.cpus, cores) if config.nodes > 1 else cores)


def memory_mb(config: Config) -> float:
    """The memory limit of the solver: its share of the memory of the job or of the machine."""
    return round(
        config.cluster.memory_share * min(config.cluster.mem_gb * 1024, machine.physical_mb())
    )
