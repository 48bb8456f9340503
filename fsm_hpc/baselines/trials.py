"""The finished trials of a baseline on disk, and Optuna's study of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fsm_hpc.baselines.base import Suggest
from fsm_hpc.system import files, serialization
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.value_types import Share, SpentSeconds

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Trial:
    """Parameters that were tried, and the validation accuracy that they gave."""

    parameters: dict[str, Any]
    value: Share
    seconds: SpentSeconds


@dataclass(frozen=True, slots=True)
class _Saved:
    problem: str  # a digest of all that the trials depend on
    trials: tuple[Trial, ...]
    checksum: str = ""


def load(path: Path, problem: str, say: Callable[[str], None]) -> list[Trial]:
    """The trials of this problem; a file that is damaged, or of another one, is renamed."""
    renamed = files.quarantine_if_invalid(path, _read)
    saved = _read(path)
    if saved is not None and saved.problem != problem:
        renamed = f"{path.name} is of other rows or settings; kept as {files.rename_outdated(path)}"
        saved = None
    if renamed:
        say(renamed)
    return [] if saved is None else list(saved.trials)


def save(path: Path, problem: str, trials: list[Trial]) -> None:
    content = serialization.plain(_Saved(problem, tuple(trials)))
    serialization.write(path, FORMAT, content | {"checksum": serialization.checksum(content)})


def _read(path: Path) -> _Saved | None:
    saved = serialization.load(_Saved, path, FORMAT)
    if saved is None:
        return None
    content = serialization.plain(_Saved(saved.problem, saved.trials))
    if saved.checksum != serialization.checksum(content):
        raise UnreadableError(f"{path.name} was changed since it was written")
    return saved


def study_of(trials: list[Trial], suggest: Suggest) -> Any:
    """Optuna's study, in memory, with these trials."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize")
    for trial in trials:
        fixed = optuna.trial.FixedTrial(trial.parameters)
        suggest(fixed)
        study.add_trial(
            optuna.trial.create_trial(
                params=trial.parameters, distributions=fixed.distributions, value=trial.value
            )
        )
    return study
