"""Query SLURM with a time limit; without a usable answer the state of a job is unknown."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Collection, Iterable, Iterator

from fsm_hpc.cluster.schedulers.base import JobReport, JobState, JobStatus
from fsm_hpc.system.numbers import number_ranges

_STATES = {
    JobState.WAITING: (
        *("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT"),
    ),
    JobState.RUNNING: (
        *("RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT"),
    ),
    JobState.FINISHED: ("COMPLETED",),
    JobState.CANCELLED: ("CANCELLED",),
    JobState.OUT_OF_MEMORY: ("OUT_OF_MEMORY",),
    JobState.LOST: ("NODE_FAIL", "PREEMPTED"),
}
_STATE_OF = {name: state for state, names in _STATES.items() for name in names}
QUERY_S = 10.0  # without slurmctld every command blocks for about 9 s; sacct is slow, too
MOST_ARRAYS = 300  # above this number, `status` does not query sacct for core-hours
CHUNK = 500  # ids on one command line
# variables that change answers: SQUEUE_PARTITION hides jobs, SCANCEL_INTERACTIVE prompts
USER_ENV_PREFIXES = ("SQUEUE_", "SACCT_", "SCANCEL_", "SCONTROL_", "SLURM_TIME_FORMAT")


def status(name: str, reason: str = "", node: str = "") -> JobStatus:
    """The status for a job state of SLURM such as PENDING."""
    state = _STATE_OF.get(name, JobState.FAILED)
    is_held = state is JobState.WAITING and "held" in reason.lower()
    advice = "held: run `scontrol release`" if is_held else ""
    return JobStatus(state, f"SLURM: {name}", reason, node, advice)


def is_installed() -> bool:
    """Whether jobs can be submitted from this machine."""
    return shutil.which("sbatch") is not None


def run(*command: str, time_limit_s: float = QUERY_S) -> str | None:
    """The output of a SLURM command; None if it failed, is missing or was too slow."""
    try:
        completed = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=time_limit_s,
            env={
                name: value
                for name, value in os.environ.items()
                if not name.startswith(USER_ENV_PREFIXES)
            },
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return completed.stdout.decode(errors="replace") if completed.returncode == 0 else None


def query(job_ids: Collection[str]) -> JobReport:
    """The status of jobs: from squeue, and from sacct for jobs that have left the queue."""
    job_ids = [job_id for job_id in job_ids if _is_job(job_id)]
    if not job_ids:
        return JobReport()
    unanswered: list[str] = []
    garbled: list[str] = []
    jobs: dict[str, JobStatus] = {}
    queue = run("squeue", *_QUEUE, "-h")
    if queue is None:
        unanswered.append("squeue")
    else:
        queued = _read_queue(matching_lines(queue, _QUEUED))
        jobs = {job_id: queued[job_id] for job_id in job_ids if job_id in queued}
    # if only a step was out of memory, squeue prints FAILED and sacct the reason
    unsettled = {i for i in job_ids if i not in jobs or jobs[i].state is JobState.FAILED}
    for chunk in _chunks(sorted({job_id.split("_")[0] for job_id in unsettled})):
        accounts = run("sacct", "-n", "-P", "-j", ",".join(chunk), "-o", "JobID,State,NodeList")
        if accounts is None:
            unanswered.append("sacct")
            break
        ended = _read_accounting(matching_lines(accounts, _ACCOUNTED))
        jobs |= {job: status_ for job, status_ in ended.items() if job in unsettled}
        if not all_lines_match(accounts, _ACCOUNTED) and _of_chunk(unsettled, chunk) - jobs.keys():
            garbled.append("sacct")
    missing = unsettled - jobs.keys()
    if missing and "squeue" not in unanswered:
        queued, is_clear = _query_missing(sorted(missing)) if _prints_heading() else ({}, False)
        jobs |= queued
        if not is_clear:
            garbled.append("squeue")
    queue_answered = "squeue" not in (*unanswered, *garbled)
    return JobReport(jobs, tuple(unanswered), tuple(dict.fromkeys(garbled)), queue_answered)


def _of_chunk(job_ids: Collection[str], arrays: Collection[str]) -> set[str]:
    return {job_id for job_id in job_ids if job_id.split("_")[0] in arrays}


_QUEUE = ("-r", "-t", "all", "-u", str(os.getuid()), "-o", "%i|%T|%r|%N")
# an array's task `7_1`, tasks `7_[1-3]`, and a component `7+0` of a heterogeneous job
_QUEUED = re.compile(r"\d+(\+\d+)?(_\S+)?\|[A-Z_]+\|.*\|.*")
_ACCOUNTED = re.compile(r"\d\S*\|[A-Z_]+[^|]*\|[^|]*")
_CLUSTER = re.compile(r"CLUSTER: ")  # heading of the lines of each of several clusters


def matching_lines(answer: str, line: re.Pattern[str]) -> list[str]:
    """The lines of an answer that match the pattern and end with a newline."""
    *complete, _ = answer.split("\n")
    return [text for text in complete if line.fullmatch(text)]


def all_lines_match(answer: str, line: re.Pattern[str]) -> bool:
    """Whether every line of an answer that is not empty matches the pattern."""
    texts = [text for text in answer.split("\n") if text.strip() and not _CLUSTER.match(text)]
    return len(matching_lines(answer, line)) == len(texts)


def _prints_heading() -> bool:
    """Whether squeue works: it prints a heading even if the queue is empty."""
    return bool((run("squeue", *_QUEUE) or "").strip())


def _query_missing(missing: list[str]) -> tuple[dict[str, JobStatus], bool]:
    """The status of jobs that the first answer did not list, and whether all lines matched.

    An answer that was truncated between two lines looks complete, so squeue is run again.
    """
    found: dict[str, JobStatus] = {}
    is_clear = True
    for chunk in _chunks(missing):
        # squeue fails for an unknown job id: then none of these jobs is in the queue
        answer = run("squeue", *_QUEUE, "-h", "-j", ",".join(chunk)) or ""
        queued = _read_queue(matching_lines(answer, _QUEUED))
        found |= {job: status_ for job, status_ in queued.items() if job in missing}
        is_clear = is_clear and (all_lines_match(answer, _QUEUED) or set(chunk) <= found.keys())
    return found, is_clear


def _read_queue(lines: Iterable[str]) -> dict[str, JobStatus]:
    jobs: dict[str, JobStatus] = {}
    for line in lines:
        job, state, reason, node = line.split("|", 3)
        entry = status(state, "" if reason == "None" else reason, node)
        jobs |= dict.fromkeys(_expand(job), entry)
    return jobs


def _read_accounting(lines: Iterable[str]) -> dict[str, JobStatus]:
    jobs: dict[str, JobStatus] = {}
    for line in lines:
        name, state, node = line.split("|", 2)
        job, _, step = name.partition(".")
        state_name = state.split(" ")[0]  # "CANCELLED by 1000"
        if not step:
            jobs |= dict.fromkeys(_expand(job), status(state_name, "", node))
        elif state_name == "OUT_OF_MEMORY" and job in jobs:
            jobs[job] = status(state_name, f"step {step}", node)
    return jobs


def _expand(job: str) -> list[str]:
    """The job ids of an array expression: `7_[1-3,5]` has four."""
    match = re.fullmatch(r"(\d+)_\[([\d,:-]+)(%\d+)?\]", job)
    if match is None:
        return [job]
    return [f"{match[1]}_{n}" for part in match[2].split(",") for n in _numbers(part)]


def _numbers(part: str) -> range:
    """`5`, `1-3` or `0-8:4`, which is 0, 4, 8."""
    match = re.fullmatch(r"(\d+)(?:-(\d+)(?::([1-9]\d*))?)?", part)
    if match is None:
        return range(0)
    return range(int(match[1]), int(match[2] or match[1]) + 1, int(match[3] or 1))


def usage(job_ids: Collection[str]) -> dict[str, tuple[float, float]] | None:
    """Core-seconds allocated to each job, restarts included, and core-seconds used.

    None if sacct does not answer, or if there are too many arrays to query.
    """
    found: dict[str, tuple[float, float]] = {}
    job_ids = {job_id for job_id in job_ids if _is_job(job_id)}
    arrays = sorted({job_id.split("_")[0] for job_id in job_ids})
    if len(arrays) > MOST_ARRAYS:
        return None
    for chunk in _chunks(arrays):
        columns = ("-j", ",".join(chunk), "-o", "JobID,CPUTimeRAW,TotalCPU")
        answer = run("sacct", "-n", "-P", "-D", *columns)
        if answer is None:
            return None
        for line in matching_lines(answer, _USED):
            job, allocated, used = line.split("|")
            if job in job_ids:
                before = found.get(job, (0.0, 0.0))
                found[job] = before[0] + float(allocated or 0), before[1] + _seconds(used)
        if not all_lines_match(answer, _USED) and _of_chunk(job_ids, chunk) - found.keys():
            return None
    return dict.fromkeys(job_ids, (0.0, 0.0)) | found


_USED = re.compile(r"\d\S*\|\d*\|[\d:.-]*")


def _seconds(text: str) -> float:
    """Seconds from `days-hours:minutes:seconds.thousandths`; leading parts may be missing."""
    days, _, rest = text.rpartition("-")
    parts = [float(part) for part in rest.split(":") if part]
    return float(days or 0) * 86400 + sum(p * 60.0**n for n, p in enumerate(reversed(parts)))


def named(names: Collection[str]) -> dict[str, str] | None:
    """The id of the job or array with each name, from the queue or the last two days of sacct.

    None if SLURM gave no usable answer.
    """
    wanted = ",".join(names)
    by_name = ("-t", "all", "-u", str(os.getuid()), "-o", "%F|%j", "-n", wanted)
    queue = run("squeue", "-h", *by_name)
    if queue is None:
        return None
    lines = [line.partition("|") for line in matching_lines(queue, _NAMED)]
    found = {name: job_id for job_id, _, name in lines if name in names}
    if len(found) < len(set(names)):
        if not all_lines_match(queue, _NAMED):
            return None
        since = ("-S", "now-2days", "--name", wanted)
        accounts = run("sacct", "-n", "-P", "-X", *since, "-o", "JobID,JobName") or ""
        for line in accounts.splitlines():
            job_id, _, name = line.partition("|")
            if name in names and job_id.split("_")[0].isdigit():
                found.setdefault(name, job_id.split("_")[0])
    is_known = found or _prints_heading()  # an empty answer may be a failure
    return found if is_known else None


_NAMED = re.compile(r"\d+\|.*")


def max_array_size() -> int:
    """The largest number of jobs in an array; SLURM's default if it gives no answer."""
    answer = run("scontrol", "show", "config") or ""
    match = re.search(r"^MaxArraySize\s*=\s*(\d+)", answer, re.MULTILINE)
    # the limit is on the index, which starts at 0
    return max(1, int(match.group(1)) if match else 1000)


def cancel(job_ids: Iterable[str]) -> list[str]:
    """Cancel jobs; returns the ids that SLURM did not confirm."""
    listed = list(job_ids)
    invalid = [job_id for job_id in listed if not _is_job(job_id)]  # never passed to scancel
    arrays = _by_array([job_id for job_id in listed if _is_job(job_id)])
    unconfirmed = [
        job_id
        for chunk in _chunks(list(arrays))
        if run("scancel", *chunk, time_limit_s=30) is None
        for expression in chunk
        for job_id in arrays[expression]
    ]
    return invalid + unconfirmed


def _by_array(job_ids: list[str]) -> dict[str, list[str]]:
    """The ids grouped by array, with the array expression as key: `7_[0-3,5]`."""
    groups: dict[str, list[str]] = {}
    for job_id in job_ids:
        groups.setdefault(job_id.split("_")[0], []).append(job_id)
    return {_array(array, ids): ids for array, ids in groups.items()}


def _array(array: str, job_ids: list[str]) -> str:
    tasks = sorted({int(job_id.split("_")[1]) for job_id in job_ids if "_" in job_id})
    if not tasks or array in job_ids:
        return array
    if len(tasks) == 1:
        return job_ids[0]
    return f"{array}_[{number_ranges(tasks).replace(' ', '')}]"


def _is_job(job_id: str) -> bool:
    """Whether it has the form of a job id of SLURM."""
    return re.fullmatch(r"[0-9]+(_[0-9]+)?", job_id) is not None


def _chunks(items: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(items), CHUNK):
        yield items[start : start + CHUNK]
