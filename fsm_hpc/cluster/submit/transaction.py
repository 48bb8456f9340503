"""Submit arrays so that each fold has its job or stays as it was, whatever happens."""

from __future__ import annotations

import re
import secrets
import stat
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from fsm_hpc.cluster import arrays, generations, schedulers, study_lock, submissions
from fsm_hpc.cluster.arrays import ArrayState, JobArray, Member
from fsm_hpc.cluster.node import supervise
from fsm_hpc.cluster.schedulers.base import Batch, JobRecord, Scheduler, UnclearError
from fsm_hpc.cluster.study_lock import LostLockError
from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.cluster.submit.plan import Array, Decision, lay_out
from fsm_hpc.errors import UserError
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.system import files
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.numbers import counted
from fsm_hpc.system.serialization import NewerFormatError

LOOKS = 4  # for jobs of an unclear answer, a second apart


@dataclass(frozen=True, slots=True)
class Submitted:
    """One array that a scheduler has accepted."""

    array: Array
    job_ids: tuple[str, ...]
    after: tuple[str, ...] = ()  # jobs that have to end before these begin


def submit(decisions: Sequence[Decision]) -> Iterator[Submitted]:
    """Submit what is to be submitted, array by array; the study has to be held."""
    job_ids: list[str] = []
    for part in lay_out(decisions):
        tasks = [[(d.ref.paths, d.config, d.ref.data_digest) for d in t.folds] for t in part.tasks]
        is_array = len(tasks) > 1
        array, members = _written_down(part.folds[0].ref.paths.study, tasks, is_array)
        after = tuple(job_ids[position] for position in part.after)
        batch = Batch(
            part.config,
            array.output,
            array.name,
            supervise.work_in_array,
            (str(array.output),),
            count=len(tasks) if is_array else None,
            at_a_time=part.at_a_time,
            after=after,
        )
        job_ids.append(_send(array, members, batch))
        yield Submitted(part, tuple(array.job_ids(job_ids[-1])), after)


def _written_down(
    study: StudyPaths,
    tasks: Sequence[Sequence[tuple[FoldPaths, Config, str | None]]],
    is_array: bool,
) -> tuple[JobArray, list[Member]]:
    """An array that is on disk, as is its generation, before a scheduler hears of it."""
    study_lock.ensure_held(study)
    known = [generations.next_of(paths) for task in tasks for paths, _, _ in task]
    number = max(generations.next_of_study(study), *known)
    generations.remember(study, number)
    config = tasks[0][0][1]
    shared = submissions.new_submission(
        config, config.cluster.scheduler, str(output_folder(study)), number
    )
    members = [
        (
            paths,
            replace(
                shared,
                config=submissions.absolute(config).to_dict(),
                table=digest,
                folds_in_job=len(task),
            ),
        )
        for task in tasks
        for paths, config, digest in task
    ]
    return arrays.save(members, new_name(study), is_array, [len(task) for task in tasks]), members


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


def _send(array: JobArray, members: Sequence[Member], batch: Batch) -> str:
    """One transaction: written down, sent, confirmed; what was there before stays until then."""
    scheduler = schedulers.of(batch.config)
    try:
        job_id = scheduler.submit(batch, partial(study_lock.ensure_held, array.study))
    except UnclearError as error:
        found = _job_of(array, scheduler, LOOKS)
        if found is None:
            arrays.with_state(array, ArrayState.WITHDRAWN)
            raise UserError(
                f"{scheduler.title} refused {counted(array.count, 'job')}: {error}; "
                "`python -m fsm_hpc doctor` checks the site, cluster=local runs them here"
            ) from None
        job_id = found
    except Exception:
        arrays.with_state(array, ArrayState.WITHDRAWN)
        raise
    try:
        _confirm(array, members, job_id)
    except LostLockError:
        if arrays.read(array.output).state is ArrayState.WITHDRAWN:  # by who took over
            scheduler.cancel([JobRecord(job_id)])
        raise
    return job_id


def _job_of(array: JobArray, scheduler: Scheduler, looks: int) -> str | None:
    """The id of the array's jobs, where the scheduler has them after all."""
    for look in range(looks):
        found = scheduler.find([array.name])
        if found is None:
            raise UserError(
                f"{scheduler.title} gave no clear answer, and no list of its jobs either: whether "
                f"it has the {array.count} jobs named {array.name} is open; the next "
                "command finds out, and goes on with them or submits them"
            )
        if array.name in found:
            return found[array.name]
        time.sleep(0 if look + 1 == looks else 1)
    return None


def _confirm(array: JobArray, members: Sequence[Member], job_id: str) -> None:
    """Every fold says which job it has; jobs that were cancelled meanwhile are ended."""
    study_lock.ensure_held(array.study)
    arrays.with_state(array, ArrayState.SENT, job_id)
    cancelled: list[str] = []
    files.write_each(
        partial(_confirm_fold, paths, replace(submission, job_id=its_id), cancelled)
        for (paths, submission), its_id in zip(members, array.job_ids(job_id), strict=True)
    )
    array.scheduler.cancel([JobRecord(its_id) for its_id in cancelled])
    arrays.with_state(array, ArrayState.SETTLED, job_id)


def _confirm_fold(paths: FoldPaths, submission: Submission, cancelled: list[str]) -> None:
    try:
        latest = submissions.read(paths)
    except NewerFormatError:
        return  # a newer version has submitted it anew
    except UnreadableError:
        files.quarantine(paths.submission)
        latest = None
    is_other = latest is not None and latest.token != submission.token
    if latest is not None and is_other and latest.generation >= submission.generation:
        return  # somebody has submitted it anew
    mark = latest.cancelled_at if latest and latest.token == submission.token else None
    submissions.write(paths, replace(submission, cancelled_at=mark))
    if mark is not None and submission.job_id is not None:
        cancelled.append(submission.job_id)


def recover(studies: Sequence[StudyPaths]) -> list[str]:
    """Settle what a command left that was ended in the middle; what was done, to be told.

    The studies have to be held, so that nobody is in the middle of it now.
    """
    messages: list[str] = []
    for study in studies:
        open_, unreadable = arrays.unsettled(study)
        messages += [*unreadable, *(_settle(array, members) for array, members in open_)]
    return list(filter(None, messages))


def _settle(array: JobArray, members: Sequence[Member]) -> str:
    scheduler, is_withdrawn = array.scheduler, array.state is ArrayState.WITHDRAWN
    if array.state is ArrayState.SENT and array.job_id is not None:
        _confirm(array, members, array.job_id)
        return f"job {array.job_id} was sent by a command that was ended: its folds have it now"
    found = scheduler.find([array.name])
    job_id = (found or {}).get(array.name)
    if is_withdrawn and job_id is None:
        return ""
    if found is None:
        return f"whether {scheduler.title} has the jobs named {array.name} is open: no answer"
    if job_id is None:
        arrays.with_state(array, ArrayState.WITHDRAWN)
        return f"{array.count} jobs named {array.name} never reached {scheduler.title}"
    if is_withdrawn:
        scheduler.cancel([JobRecord(job_id)])
        return f"job {job_id} came late, after it was said to be refused: cancelled"
    _confirm(array, members, job_id)
    return f"job {job_id} had been sent without an answer: its folds have it now"
