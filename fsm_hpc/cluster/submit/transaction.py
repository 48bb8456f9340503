"""Submit arrays so that each fold has its job or stays as it was, whatever happens."""

from __future__ import annotations

import os
import re
import secrets
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from fsm_hpc.cluster import (
    arrays,
    cancellations,
    generations,
    schedulers,
    study_lock,
    submissions,
)
from fsm_hpc.cluster.arrays import ArrayState, JobArray, Member
from fsm_hpc.cluster.node import supervise
from fsm_hpc.cluster.schedulers.base import Batch, JobRecord, Scheduler, UnclearError
from fsm_hpc.cluster.study_lock import LostLockError
from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.cluster.submit.plan import Array, Decision, lay_out
from fsm_hpc.errors import UserError
from fsm_hpc.study.config import Config, OncePerJob
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.system import files
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.numbers import counted
from fsm_hpc.system.serialization import NewerFormatError

Submissions = Mapping[str, Submission]  # by the absolute folder of each fold
LOOKS = 4  # for jobs of an unclear answer, a second apart


@dataclass(frozen=True, slots=True)
class Submitted:
    """One array that a scheduler has accepted."""

    array: Array
    job_ids: tuple[str, ...]
    after: tuple[str, ...] = ()  # jobs that have to end before these begin


def submit(decisions: Sequence[Decision]) -> Iterator[Submitted]:
    """Submit the folds array by array; the study has to be held."""
    job_ids: list[str] = []
    earlier = _earlier(decisions)
    for part in lay_out(decisions):
        is_array = len(part.tasks) > 1
        array, members = _save_array(part)
        after = tuple(job_ids[position] for position in part.after)
        batch = Batch(
            part.config,
            array.output,
            array.name,
            supervise.work_in_array,
            (str(array.output),),
            count=len(part.tasks) if is_array else None,
            at_a_time=part.at_a_time,
            after=after,
        )
        job_ids.append(_send(array, members, batch, earlier))
        yield Submitted(part, tuple(array.job_ids(job_ids[-1])), after)


def _earlier(decisions: Sequence[Decision]) -> Submissions:
    studies = dict.fromkeys(decision.ref.paths.study for decision in decisions)
    return {
        folder: submission
        for study in studies
        for folder, submission in arrays.records(study).submissions.items()
    }


def _save_array(part: Array) -> tuple[JobArray, list[Member]]:
    """Write an array and its generation before a scheduler is called."""
    study = part.folds[0].ref.paths.study
    study_lock.ensure_held(study)
    known = max(decision.status.files.generation for decision in part.folds)
    generation = max(generations.next_of_study(study), 1 + known)
    generations.remember(study, generation)
    config = part.config
    shared = submissions.new_submission(
        config, config.cluster.scheduler, str(output_folder(study)), generation
    )
    values = OncePerJob(lambda config: submissions.absolute(config).to_dict())
    members = [
        (
            decision.ref.paths,
            replace(
                shared,
                config=values(decision.config) | _of_fold(decision.config),
                table=decision.ref.data_digest,
                folds_in_job=len(task.folds),
            ),
        )
        for task in part.tasks
        for decision in task.folds
    ]
    sizes = [len(task.folds) for task in part.tasks]
    return arrays.save(members, new_job_name(study), len(sizes) > 1, sizes), members


def _of_fold(config: Config) -> dict[str, Any]:
    return {"fold": config.fold, "variant": config.variant}


def new_job_name(study: StudyPaths, purpose: str = "") -> str:
    """A name for jobs that no others have, and that a scheduler can search for."""
    plain = re.sub(r"[^\w.-]", "_", study.root.name)[:40]
    return "-".join(filter(None, ("fsm", plain, purpose, secrets.token_hex(4))))


def of_one_core(config: Config, hours: float, **changes: Any) -> Config:
    """The config for a job of one core that serves a study, as the one that collects."""
    small = replace(
        config.cluster,
        nodes=1,
        cpus=1,
        mem_gb=4.0,
        timeout_h=hours,
        signal_delay_s=60,
        **changes,
    )
    return replace(config, cluster=small)


def output_folder(study: StudyPaths) -> Path:
    """A new folder for the files of one array."""
    stamp = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
    folder = StudyPaths(study.root.absolute()).submissions / stamp
    folder.mkdir(parents=True, mode=stat.S_IRWXU)  # what a job runs is the user's alone
    return folder


def _send(
    array: JobArray,
    members: Sequence[Member],
    batch: Batch,
    earlier: Submissions,
) -> str:
    """One transaction: an array is submitted and confirmed, or its folds keep their records."""
    scheduler = schedulers.of(batch.config)
    try:
        job_id = scheduler.submit(batch, partial(study_lock.ensure_held, array.study))
    except UnclearError as error:
        arrived = _job_of(array, scheduler, LOOKS)
        if arrived is None:
            arrays.with_state(array, ArrayState.WITHDRAWN)
            raise UserError(
                f"{scheduler.title} refused {counted(array.count, 'job')}: {error}; "
                "`python -m fsm_hpc doctor` checks the site, cluster=local runs them here"
            ) from None
        job_id = arrived
    except Exception:
        arrays.with_state(array, ArrayState.WITHDRAWN)
        raise
    try:
        _confirm(array, members, job_id, earlier)
    except LostLockError:
        if arrays.read(array.output).state is ArrayState.WITHDRAWN:  # by the next owner
            scheduler.cancel([JobRecord(job_id)])
        raise
    return job_id


def _job_of(array: JobArray, scheduler: Scheduler, looks: int) -> str | None:
    """The id of the array's jobs, where the scheduler has them after all."""
    for look in range(looks):
        job_ids = scheduler.find([array.name])
        if job_ids is None:
            raise UserError(
                f"{scheduler.title} gave no clear answer and no list of its jobs, so it is unknown "
                f"whether it has the {array.count} jobs named {array.name}; the next command "
                "checks this and submits them if they are missing"
            )
        if array.name in job_ids:
            return job_ids[array.name]
        time.sleep(0 if look + 1 == looks else 1)
    return None


def _confirm(array: JobArray, members: Sequence[Member], job_id: str, earlier: Submissions) -> None:
    """State that the scheduler has the array, and cancel earlier submissions of its folds."""
    study_lock.ensure_held(array.study)
    arrays.with_state(array, ArrayState.SENT, job_id)
    failed = cancellations.cancel(_replaced(members, earlier))
    if failed:
        paths, error = next(iter(failed.items()))
        raise UserError(f"an earlier submission of {paths.id} cannot be cancelled: {error}")
    for paths, _ in members:
        os.makedirs(paths.folder, exist_ok=True)  # noqa: PTH103 - of a new fold
    arrays.with_state(array, ArrayState.SETTLED, job_id)


def _replaced(members: Sequence[Member], earlier: Submissions) -> Iterator[Member]:
    """The earlier submissions of these folds."""
    for paths, submission in members:
        listed = earlier.get(os.path.abspath(paths.folder))  # noqa: PTH100 - a Path is slower
        try:
            stored = submissions.read(paths)
        except NewerFormatError:
            continue  # a newer version has submitted it anew
        except UnreadableError:
            files.quarantine(paths.submission)
            stored = None
        for other in (listed, stored):
            if other is not None and other.generation < submission.generation:
                yield paths, other


def recover(studies: Sequence[StudyPaths]) -> list[str]:
    """Settle arrays of commands that were killed; messages about each.

    The studies have to be held, so that no other command is submitting them.
    """
    messages: list[str] = []
    for study in studies:
        open_, unreadable = arrays.unsettled(study)
        messages += [*unreadable, *(_settle(array, members) for array, members in open_)]
    return list(filter(None, messages))


def _settle(array: JobArray, members: Sequence[Member]) -> str:
    scheduler, is_withdrawn = array.scheduler, array.state is ArrayState.WITHDRAWN
    earlier = arrays.records(array.study, before=array.first.generation).submissions
    if array.state is ArrayState.SENT and array.job_id is not None:
        _confirm(array, members, array.job_id, earlier)
        return f"job {array.job_id} of an interrupted command was found and is used for its folds"
    job_ids = scheduler.find([array.name])
    job_id = (job_ids or {}).get(array.name)
    if is_withdrawn and job_id is None:
        return ""
    if job_ids is None:
        return f"it is unknown whether {scheduler.title} has the jobs named {array.name}: no answer"
    if job_id is None:
        arrays.with_state(array, ArrayState.WITHDRAWN)
        return f"{array.count} jobs named {array.name} never reached {scheduler.title}"
    if is_withdrawn:
        scheduler.cancel([JobRecord(job_id)])
        return f"job {job_id} appeared although its submission had been refused; it was cancelled"
    _confirm(array, members, job_id, earlier)
    return f"job {job_id} of an unconfirmed submission was found and is used for its folds"
