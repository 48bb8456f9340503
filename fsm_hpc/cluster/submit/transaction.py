"""Submit arrays so that each fold has its job or stays as it was, whatever happens."""

from __future__ import annotations

import re
import secrets
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from fsm_hpc.cluster import arrays, generations, schedulers, study_lock, submissions
from fsm_hpc.cluster.arrays import ArrayState, JobArray
from fsm_hpc.cluster.node import fitting, supervise
from fsm_hpc.cluster.schedulers.base import Batch, JobRecord, Scheduler, UnclearError
from fsm_hpc.cluster.study_lock import LostLockError
from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.cluster.submit.plan import Array, Decision, lay_out
from fsm_hpc.errors import UserError
from fsm_hpc.models.tasks import rule_paths
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.study.fold import load_dataset
from fsm_hpc.system import files
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.numbers import counted
from fsm_hpc.system.serialization import NewerFormatError

LATE_S = 3600.0  # how long after a refusal jobs of it are still looked for
LOOKS = 4  # for jobs of an unclear answer, a second apart


@dataclass(frozen=True, slots=True)
class Submitted:
    """One array that a scheduler has accepted."""

    array: Array
    job_ids: tuple[str, ...]
    after: tuple[str, ...] = ()  # jobs that have to end before these begin


def submit(decisions: Sequence[Decision]) -> Iterator[Submitted]:
    """Submit what is to be submitted, array by array; the study has to be held."""
    sent: list[str] = []
    for array in lay_out(decisions):
        first = array.folds[0]
        after = tuple(sent[position] for position in array.after)
        tasks = [[(d.ref.paths, d.config, d.ref.data_digest) for d in t.folds] for t in array.tasks]
        made = _new(first.ref.paths.study, tasks, is_array=len(tasks) > 1)
        batch = _batch(made, array.config, supervise.work_in_array)
        batch = replace(batch, at_a_time=array.at_a_time, after=after)
        job_ids = tuple(_send(made, batch))
        sent.append(job_ids[0].split("_")[0])
        yield Submitted(array, job_ids, after)


def _batch(array: JobArray, config: Config, task: Callable[..., Any]) -> Batch:
    count = len(array.tasks) if array.is_array else None
    return Batch(config, array.output, array.name, task, (str(array.output),), count)


def send_fit(config: Config) -> tuple[str, Path]:
    """Submit a rule to be fitted as one job; its id, and where the rule will be."""
    data = load_dataset(config.dataset, config.data_dir, config.allow_changed_data)
    paths = rule_paths(config)
    out = paths.folder
    study = StudyPaths(config.results_dir / config.study)
    member = (paths, replace(config, out=out.absolute()), data.digest)
    made = _new(study, [[member]], is_array=False)
    return _send(made, _batch(made, config, fitting.work_in_array))[0], out


def _new(
    study: StudyPaths,
    tasks: Sequence[Sequence[tuple[FoldPaths, Config, str | None]]],
    is_array: bool,
) -> JobArray:
    folds = [member for task in tasks for member in task]
    study_lock.ensure_held(study)
    output = output_folder(study)
    known = [generations.next_of(paths) for paths, _, _ in folds]
    number = max(generations.next_of_study(study), *known)
    generations.remember(study, number)
    kind = folds[0][1].cluster.scheduler
    new = partial(submissions.new_submission, kind=kind, output=str(output))
    members = tuple(
        (paths, replace(new(config, table=digest), generation=number, folds_in_job=len(task)))
        for task in tasks
        for paths, config, digest in task
    )
    return JobArray(output, new_name(study), members, is_array, tuple(map(len, tasks)))


def new_name(study: StudyPaths, what: str = "") -> str:
    """A name for jobs that no others have, and that a scheduler can be asked for."""
    plain = re.sub(r"[^\w.-]", "_", study.root.name)[:40]
    return "-".join(filter(None, ("fsm", plain, what, secrets.token_hex(4))))


def output_folder(study: StudyPaths) -> Path:
    """A new folder for the files of one array."""
    stamp = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
    folder = StudyPaths(study.root.absolute()).submissions / stamp
    folder.mkdir(parents=True, mode=stat.S_IRWXU)  # what a job runs is the user's alone
    return folder


def _send(array: JobArray, batch: Batch) -> list[str]:
    """One transaction: written down, sent, confirmed; what was there before stays until then."""
    arrays.save(array)
    scheduler = schedulers.of(batch.config)
    try:
        job_id = scheduler.submit(batch, partial(study_lock.ensure_held, array.study))
    except UnclearError as error:
        found = _job_of(array, scheduler, LOOKS)
        if found is None:
            arrays.end(array.output, ArrayState.WITHDRAWN)
            raise UserError(
                f"{scheduler.title} refused {counted(len(array.members), 'job')}: {error}; "
                "`python -m fsm_hpc doctor` checks the site, cluster=local runs them here"
            ) from None
        job_id = found
    except Exception:
        arrays.end(array.output, ArrayState.WITHDRAWN)
        raise
    try:
        _confirm(array, job_id)
    except LostLockError:
        if arrays.state_of(array.output)[0] is ArrayState.WITHDRAWN:  # by who took over
            scheduler.cancel([JobRecord(job_id)])
        raise
    return array.job_ids(job_id)


def _job_of(array: JobArray, scheduler: Scheduler, looks: int) -> str | None:
    """The id of the array's jobs, where the scheduler has them after all."""
    for look in range(looks):
        found = scheduler.find([array.name])
        if found is None:
            raise UserError(
                f"{scheduler.title} gave no clear answer, and no list of its jobs either: whether "
                f"it has the {len(array.members)} jobs named {array.name} is open; the next "
                "command finds out, and goes on with them or submits them"
            )
        if array.name in found:
            return found[array.name]
        time.sleep(0 if look + 1 == looks else 1)
    return None


def _confirm(array: JobArray, job_id: str) -> None:
    """Every fold says which job it has; jobs that were cancelled meanwhile are ended."""
    study_lock.ensure_held(array.study)
    arrays.end(array.output, ArrayState.SENT, job_id)
    cancelled: list[str] = []
    files.write_each(
        partial(_confirm_fold, paths, replace(submission, job_id=its_id), cancelled)
        for (paths, submission), its_id in zip(array.members, array.job_ids(job_id), strict=True)
    )
    array.scheduler.cancel([JobRecord(its_id) for its_id in cancelled])
    arrays.end(array.output, ArrayState.SETTLED, job_id)


def _confirm_fold(paths: FoldPaths, submission: Submission, cancelled: list[str]) -> None:
    try:
        latest = submissions.load(paths)
    except NewerFormatError:
        return  # a newer version has submitted it anew
    is_other = latest is not None and latest.token != submission.token
    if latest is not None and is_other and latest.generation >= submission.generation:
        return  # somebody has submitted it anew
    mark = latest.cancelled_at if latest and latest.token == submission.token else None
    submissions.save(paths, replace(submission, cancelled_at=mark))
    if mark is not None and submission.job_id is not None:
        cancelled.append(submission.job_id)


def recover(studies: Sequence[StudyPaths]) -> list[str]:
    """Settle what a command left that was ended in the middle; what was done, to be told.

    The studies have to be held, so that nobody is in the middle of it now.
    """
    open_ = [output for study in studies for output in arrays.unsettled(study, LATE_S)]
    unreadable = [text for output in open_ if (text := _complaint(output))]
    known = [array for output in open_ if (array := arrays.understood(output)) is not None]
    return [*unreadable, *filter(None, map(_settle, known))]


def _complaint(output: Path) -> str:
    """Why the folds of an array are not known; its jobs cannot read them either."""
    try:
        arrays.read(output)
    except NewerFormatError:  # a newer version looks after it
        return ""
    except (UnreadableError, OSError) as error:
        return f"{output}: {error}; its jobs cannot begin, and the folder may be removed"
    return ""


def _settle(array: JobArray) -> str | None:
    state, job_id, _ = arrays.state_of(array.output)
    scheduler = array.scheduler
    if state is ArrayState.SENT and job_id is not None:
        _confirm(array, job_id)
        return f"job {job_id} was sent by a command that was ended: its folds have it now"
    found = scheduler.find([array.name])
    if found is None:
        if state is ArrayState.WITHDRAWN:
            return None
        return f"whether {scheduler.title} has the jobs named {array.name} is open: no answer"
    found_id = found.get(array.name)
    if state is ArrayState.WITHDRAWN:
        if found_id is None:
            return None
        scheduler.cancel([JobRecord(found_id)])
        return f"job {found_id} came late, after it was said to be refused: cancelled"
    if found_id is None:
        arrays.end(array.output, ArrayState.WITHDRAWN)
        return f"{len(array.members)} jobs named {array.name} never reached {scheduler.title}"
    _confirm(array, found_id)
    return f"job {found_id} had been sent without an answer: its folds have it now"
