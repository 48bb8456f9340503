"""Send arrays to SLURM so that each fold has its job or stays as it was, whatever happens."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from fsm_hpc.cluster import arrays, generations, slurm, study_lock, submissions
from fsm_hpc.cluster.arrays import Fate, JobArray
from fsm_hpc.cluster.node import fitting, supervise
from fsm_hpc.cluster.study_lock import LostLockError
from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.cluster.submit import sbatch
from fsm_hpc.cluster.submit.plan import Array, Decision, lay_out
from fsm_hpc.cluster.submit.sbatch import Request, UnclearError
from fsm_hpc.errors import UserError
from fsm_hpc.models.tasks import rule_paths
from fsm_hpc.study.config import ClusterKind, Config
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
    """One array that SLURM has accepted."""

    array: Array
    job_ids: tuple[str, ...]
    after: tuple[str, ...] = ()  # jobs that have to end before these begin


def to_slurm(decisions: Sequence[Decision]) -> Iterator[Submitted]:
    """Submit what is to be submitted, array by array; the study has to be held."""
    sent: list[str] = []
    for array in lay_out(decisions, slurm.max_array_size()):
        first = array.folds[0]
        after = tuple(sent[position] for position in array.after)
        members = [(d.ref.paths, d.config, d.ref.data_digest) for d in array.folds]
        made = _new(first.ref.paths.study, members, is_array=len(members) > 1)
        config = _after(first.config, after)
        job_ids = tuple(_send(made, config, supervise.work_in_array, array.at_a_time))
        sent.append(job_ids[0].split("_")[0])
        yield Submitted(array, job_ids, after)


def _after(config: Config, job_ids: Sequence[str]) -> Config:
    """The config with a job that begins when these have ended, and as its own options say."""
    if not job_ids:
        return config
    options = dict(config.cluster.sbatch or {})
    given = options.get("dependency")
    waits = f"afterany:{':'.join(job_ids)}"
    options["dependency"] = f"{given},{waits}" if given else waits
    return replace(config, cluster=replace(config.cluster, sbatch=options))


def send_fit(config: Config) -> tuple[str, Path]:
    """Submit a rule to be fitted as one job; its id, and where the rule will be."""
    data = load_dataset(config.dataset, config.data_dir, config.allow_changed_data)
    paths = rule_paths(config)
    out = paths.folder
    study = StudyPaths(config.results_dir / config.study)
    member = (paths, replace(config, out=out.absolute()), data.digest)
    made = _new(study, [member], is_array=False)
    return _send(made, config, fitting.work_in_array, 1)[0], out


def _new(
    study: StudyPaths, folds: Sequence[tuple[FoldPaths, Config, str | None]], is_array: bool
) -> JobArray:
    study_lock.ensure_held(study)
    output = sbatch.output_folder(study)
    known = [generations.next_of(paths) for paths, _, _ in folds]
    number = max(generations.next_of_study(study), *known)
    generations.remember(study, number)
    new = partial(submissions.new_submission, kind=ClusterKind.SLURM, output=str(output))
    members = tuple(
        (paths, replace(new(config, table=digest), generation=number))
        for paths, config, digest in folds
    )
    return JobArray(output, sbatch.new_name(study), members, is_array)


def _send(array: JobArray, config: Config, task: Callable[..., Any], at_a_time: int) -> list[str]:
    """One transaction: written down, sent, confirmed; what was there before stays until then."""
    arrays.save(array)
    count = len(array.members) if array.is_array else None
    arguments = (str(array.output),)
    request = Request(config, array.output, array.name, task, arguments, count, at_a_time)
    ensure_held = partial(study_lock.ensure_held, array.study)
    try:
        job_id = sbatch.send(request, ensure_held)
    except UnclearError as error:
        found = _job_of(array, LOOKS)
        if found is None:
            arrays.end(array.output, Fate.WITHDRAWN)
            raise UserError(
                f"sbatch refused {counted(len(array.members), 'job')}: {error}; "
                "`python -m fsm_hpc doctor` checks the site, cluster=local runs them here"
            ) from None
        job_id = found
    except Exception:
        arrays.end(array.output, Fate.WITHDRAWN)
        raise
    try:
        _confirm(array, job_id)
    except LostLockError:
        if arrays.fate_of(array.output)[0] is Fate.WITHDRAWN:  # by the command that took over
            slurm.cancel([job_id])
        raise
    return array.job_ids(job_id)


def _job_of(array: JobArray, looks: int = 1) -> str | None:
    """The id of the array's jobs, where SLURM has them after all."""
    for look in range(looks):
        found = slurm.named([array.name])
        if found is None:
            raise UserError(
                f"sbatch gave no clear answer, and squeue none either: whether SLURM has the "
                f"{len(array.members)} jobs named {array.name} is open; the next command finds "
                "out, and goes on with them or submits them"
            )
        if array.name in found:
            return found[array.name]
        time.sleep(0 if look + 1 == looks else 1)
    return None


def _confirm(array: JobArray, job_id: str) -> None:
    """Every fold says which job it has; jobs that were cancelled meanwhile are ended."""
    study_lock.ensure_held(array.study)
    arrays.end(array.output, Fate.SENT, job_id)
    cancelled: list[str] = []
    files.write_each(
        partial(_confirm_fold, paths, replace(submission, job_id=its_id), cancelled)
        for (paths, submission), its_id in zip(array.members, array.job_ids(job_id), strict=True)
    )
    slurm.cancel(cancelled)
    arrays.end(array.output, Fate.SETTLED, job_id)


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
    if not known:
        return unreadable
    found = slurm.named([array.name for array in known])
    return unreadable + [told for array in known if (told := _settle(array, found)) is not None]


def _complaint(output: Path) -> str:
    """Why the folds of an array are not known; its jobs cannot read them either."""
    try:
        arrays.read(output)
    except NewerFormatError:  # a newer version looks after it
        return ""
    except (UnreadableError, OSError) as error:
        return f"{output}: {error}; its jobs cannot begin, and the folder may be removed"
    return ""


def _settle(array: JobArray, found: dict[str, str] | None) -> str | None:
    fate, job_id, _ = arrays.fate_of(array.output)
    if fate is Fate.SENT and job_id is not None:
        _confirm(array, job_id)
        return f"job {job_id} was sent by a command that was ended: its folds have it now"
    if found is None:
        if fate is Fate.WITHDRAWN:
            return None
        return f"whether SLURM has the jobs named {array.name} is open: squeue does not answer"
    job_id = found.get(array.name)
    if fate is Fate.WITHDRAWN:
        if job_id is None:
            return None
        slurm.cancel([job_id])
        return f"job {job_id} came late, after it was said to be refused: cancelled"
    if job_id is None:
        arrays.end(array.output, Fate.WITHDRAWN)
        return f"{len(array.members)} jobs named {array.name} never reached SLURM"
    _confirm(array, job_id)
    return f"job {job_id} had been sent without an answer: its folds have it now"
