"""The journal of a baseline's trials on disk: a line that is damaged costs its trial only."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from fsm_hpc.system import files
from fsm_hpc.system.files import UnreadableError

MOST_BYTES = 256 * 2**20
Say = Callable[[str], None]
Line = dict[str, Any]
_STUDY, _TRIAL, _PARAMETER, _END, _NOTE = 0, 4, 5, 6, 9  # Optuna's codes of lines that it writes
_MAXIMIZE = [2]
_COMPLETE = 1  # Optuna's state of a trial with a value
_NEEDED: dict[int, dict[str, type]] = {
    _STUDY: {"worker_id": str, "study_name": str, "directions": list},
    _TRIAL: {"worker_id": str, "study_id": int, "datetime_start": str},
    _PARAMETER: {"worker_id": str, "trial_id": int, "param_name": str, "distribution": str},
    _END: {"worker_id": str, "trial_id": int, "state": int, "datetime_complete": str},
    _NOTE: {"worker_id": str, "trial_id": int, "system_attr": dict},
}


def open_study(path: Path, name: str, say: Say) -> Any:
    """Optuna's study of that name, with every trial that the journal has whole."""
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    path.parent.mkdir(parents=True, exist_ok=True)
    mend(path, say)
    # Creating a file with O_EXCL is atomic on NFS too, which fcntl locks are not everywhere.
    with files.naming(path):
        backend = JournalFileBackend(str(path), lock_obj=JournalFileOpenLock(str(path)))
        study = optuna.create_study(
            storage=JournalStorage(backend),
            study_name=name,
            direction="maximize",
            load_if_exists=True,
        )
    states = optuna.trial.TrialState
    for trial in study.get_trials(deepcopy=False, states=(states.RUNNING,)):
        study.tell(trial.number, state=states.FAIL)  # of a job that was killed
    return study


def mend(path: Path, say: Say) -> None:
    """Leave out what is not understood, after the journal as it was is kept aside and named."""
    try:
        if path.is_symlink():
            raise UnreadableError(f"{path.name} cannot be read: it is a link")
        content = files.read_regular(path, MOST_BYTES)
    except UnreadableError as error:
        say(f"{error}; kept as {files.keep_aside(path).name}")
        return
    if not content:
        return
    *texts, torn = content.split(b"\n")
    found = Journal.of([_line(text) for text in texts])
    if found.is_damaged:
        kept = found.whole_trials()
        where = files.keep_aside(path).name
        say(f"{path.name} has damaged lines: {len(kept)} trials are whole; kept as {where}")
        _write(path, [*found.studies[: bool(kept)], *_numbered(kept)])
    elif torn:  # what a dying machine wrote of a last line
        with files.open_to_append(path) as stream:
            stream.truncate(len(content) - len(torn))


def _write(path: Path, lines: list[Line]) -> None:
    files.write_atomically(path, "".join(json.dumps(line) + "\n" for line in lines))


def _numbered(trials: list[list[Line]]) -> Iterator[Line]:
    """Optuna numbers trials by the order of their lines."""
    for number, lines in enumerate(trials):
        yield lines[0]
        yield from (line | {"trial_id": number} for line in lines[1:])


@dataclass
class Journal:
    """The lines of a journal, those of one trial together.

    One process at a time writes a journal, so that the lines of a trial stand in one piece.
    """

    studies: list[Line] = field(default_factory=list)
    trials: list[list[Line]] = field(default_factory=list)
    is_damaged: bool = False

    @staticmethod
    def of(lines: list[Line | None]) -> Journal:
        found = Journal()
        is_open = False  # whether the last trial goes on
        for line in lines:
            op = None if line is None else line["op_code"]
            if line is None or (op in (_PARAMETER, _END, _NOTE) and not is_open):
                found.is_damaged = True
                if is_open:
                    found.trials.pop()
                is_open = False
            elif op == _STUDY:
                found.studies.append(line)
            elif op == _TRIAL:
                found.trials.append([line])
                is_open = True
            else:
                found.trials[-1].append(line)
                is_open = op != _END
        ended = [trial for trial in found.trials if _is_complete(trial)]
        found.is_damaged |= len(found.whole_trials()) < len(ended)
        found.is_damaged |= any(_ids(trial) - {n} for n, trial in enumerate(found.trials))
        return found

    def whole_trials(self) -> list[list[Line]]:
        """The finished trials that are as Optuna wrote them; none where it is not sure whose."""
        names = {line["study_name"] for line in self.studies}
        if len(names) != 1:
            return [] if self.is_damaged else self.trials
        ended = [trial for trial in self.trials if _is_complete(trial)]
        usual = Counter(frozenset(_names(trial)) for trial in ended).most_common(1)
        return [t for t in ended if usual[0][0] == set(_names(t)) and _is_sound(t)]


def _ids(trial: list[Line]) -> set[int]:
    return {line["trial_id"] for line in trial[1:]}


def _names(trial: list[Line]) -> list[str]:
    return [line["param_name"] for line in trial if line["op_code"] == _PARAMETER]


def _is_complete(trial: list[Line]) -> bool:
    return bool(trial[-1]["op_code"] == _END and trial[-1]["state"] == _COMPLETE)


def _is_sound(trial: list[Line]) -> bool:
    """Whether Optuna can make a trial of the lines, with an accuracy as its value."""
    from optuna.distributions import json_to_distribution
    from optuna.trial import create_trial

    try:
        known = {
            line["param_name"]: (json_to_distribution(line["distribution"]), line)
            for line in trial
            if line["op_code"] == _PARAMETER
        }
        create_trial(
            value=trial[-1]["values"][0],
            params={
                n: d.to_external_repr(one["param_value_internal"]) for n, (d, one) in known.items()
            },
            distributions={n: d for n, (d, _) in known.items()},
        )
        begun, ended = (
            datetime.fromisoformat(text)
            for text in (trial[0]["datetime_start"], trial[-1]["datetime_complete"])
        )
        (value,) = trial[-1]["values"]
        is_one = len(_ids(trial)) == 1 and trial[0]["study_id"] == 0
        return is_one and 0 <= value <= 1 and begun <= ended
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError):
        return False


def _line(text: bytes) -> Line | None:
    """A line as Optuna wrote it; None where it is none."""
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(line, dict) or type(line.get("op_code")) is not int:
        return None
    needed = _NEEDED.get(line["op_code"])
    if needed is None or any(type(line.get(key)) is not kind for key, kind in needed.items()):
        return None
    is_ours = line.get("directions", _MAXIMIZE) == _MAXIMIZE
    return line if is_ours and len(line.get("system_attr", "1")) == 1 else None
