"""Ask SLURM, each time with a time-out: its word is a hint, and no answer stays unknown."""

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
_STATE_OF = {word: state for state, words in _STATES.items() for word in words}
ASK_S = 10.0  # with slurmctld away every command blocks about 9 s; sacct takes its time too
MOST_ARRAYS = 300  # that the accounts are asked about for `status`
CHUNK = 500  # ids on one command line
# a user's settings of a shell: SQUEUE_PARTITION would hide jobs, SCANCEL_INTERACTIVE ask back
USER_ENV_PREFIXES = ("SQUEUE_", "SACCT_", "SCANCEL_", "SCONTROL_", "SLURM_TIME_FORMAT")


def status(word: str, reason: str = "", node: str = "") -> JobStatus:
    """What SLURM's word for the state of a job means."""
    state = _STATE_OF.get(word, JobState.FAILED)
    is_held = state is JobState.WAITING and "held" in reason.lower()
    advice = "held: `scontrol release` lets it start" if is_held else ""
    return JobStatus(state, f"SLURM: {word}", reason, node, advice)


def is_here() -> bool:
    """Whether jobs can be submitted from this machine."""
    return shutil.which("sbatch") is not None


def run(*command: str, time_limit_s: float = ASK_S) -> str | None:
    """The output of a SLURM command; None when it failed, is missing or was too slow."""
    try:
        done = subprocess.run(
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
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None


def ask(job_ids: Collection[str]) -> JobReport:
    """What squeue says about my jobs, and sacct about those that have left the queue."""
    job_ids = [job_id for job_id in job_ids if _is_job(job_id)]
    if not job_ids:
        return JobReport()
    silent: list[str] = []
    garbled: list[str] = []
    jobs: dict[str, JobStatus] = {}
    queue = run("squeue", *_QUEUE, "-h")
    if queue is None:
        silent.append("squeue")
    else:
        queued = _read_queue(understood(queue, _QUEUED))
        jobs = {job_id: queued[job_id] for job_id in job_ids if job_id in queued}
    # squeue says FAILED where only a step was out of memory: sacct knows
    unsettled = {i for i in job_ids if i not in jobs or jobs[i].state is JobState.FAILED}
    for chunk in _chunks(sorted({job_id.split("_")[0] for job_id in unsettled})):
        accounts = run("sacct", "-n", "-P", "-j", ",".join(chunk), "-o", "JobID,State,NodeList")
        if accounts is None:
            silent.append("sacct")
            break
        ended = _read_accounting(understood(accounts, _ACCOUNTED))
        jobs |= {job: found for job, found in ended.items() if job in unsettled}
        if not is_whole(accounts, _ACCOUNTED) and _of_chunk(unsettled, chunk) - jobs.keys():
            garbled.append("sacct")
    missing = unsettled - jobs.keys()
    if missing and "squeue" not in silent:
        again, is_clear = _asked_again(sorted(missing)) if _has_a_heading() else ({}, False)
        jobs |= again
        if not is_clear:
            garbled.append("squeue")
    queue_answered = "squeue" not in (*silent, *garbled)
    return JobReport(jobs, tuple(silent), tuple(dict.fromkeys(garbled)), queue_answered)


def _of_chunk(job_ids: Collection[str], arrays: Collection[str]) -> set[str]:
    return {job_id for job_id in job_ids if job_id.split("_")[0] in arrays}


_QUEUE = ("-r", "-t", "all", "-u", str(os.getuid()), "-o", "%i|%T|%r|%N")
# an array's task `7_1`, tasks `7_[1-3]`, and a component `7+0` of a heterogeneous job
_QUEUED = re.compile(r"\d+(\+\d+)?(_\S+)?\|[A-Z_]+\|.*\|.*")
_ACCOUNTED = re.compile(r"\d\S*\|[A-Z_]+[^|]*\|[^|]*")
_CLUSTER = re.compile(r"CLUSTER: ")  # before the lines of each, where several are asked


def understood(answer: str, line: re.Pattern[str]) -> list[str]:
    """The lines of an answer that are of this form; the last one only where it has its end."""
    *whole, _ = answer.split("\n")
    return [text for text in whole if line.fullmatch(text)]


def is_whole(answer: str, line: re.Pattern[str]) -> bool:
    """Whether every line of an answer has been understood; an empty one has."""
    texts = [text for text in answer.split("\n") if text.strip() and not _CLUSTER.match(text)]
    return len(understood(answer, line)) == len(texts)


def _has_a_heading() -> bool:
    """A queue without any job still has a heading; an answer with nothing at all is none."""
    return bool((run("squeue", *_QUEUE) or "").strip())


def _asked_again(missing: list[str]) -> tuple[dict[str, JobStatus], bool]:
    """What squeue says of the jobs that it has left out, which an answer may also do that was cut
    between two lines; and whether all of that was understood."""
    found: dict[str, JobStatus] = {}
    is_clear = True
    for chunk in _chunks(missing):
        # of a job that it does not know it says so, with an exit code: that is none in the queue
        answer = run("squeue", *_QUEUE, "-h", "-j", ",".join(chunk)) or ""
        queued = _read_queue(understood(answer, _QUEUED))
        found |= {job: status_ for job, status_ in queued.items() if job in missing}
        is_clear = is_clear and (is_whole(answer, _QUEUED) or set(chunk) <= found.keys())
    return found, is_clear


def _read_queue(lines: Iterable[str]) -> dict[str, JobStatus]:
    jobs: dict[str, JobStatus] = {}
    for line in lines:
        job, state, reason, node = line.split("|", 3)
        found = status(state, "" if reason == "None" else reason, node)
        jobs |= dict.fromkeys(_expand(job), found)
    return jobs


def _read_accounting(lines: Iterable[str]) -> dict[str, JobStatus]:
    jobs: dict[str, JobStatus] = {}
    for line in lines:
        name, state, node = line.split("|", 2)
        job, _, step = name.partition(".")
        word = state.split(" ")[0]  # "CANCELLED by 1000"
        if not step:
            jobs |= dict.fromkeys(_expand(job), status(word, "", node))
        elif word == "OUT_OF_MEMORY" and job in jobs:
            jobs[job] = status(word, f"step {step}", node)
    return jobs


def _expand(job: str) -> list[str]:
    """`7_[1-3,5]` is four jobs."""
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
    """Seconds of cores set aside for each job, restarts included, and those that it used; None
    where the accounts do not answer, or there are too many jobs to ask about."""
    found: dict[str, tuple[float, float]] = {}
    job_ids = {job_id for job_id in job_ids if _is_job(job_id)}
    arrays = sorted({job_id.split("_")[0] for job_id in job_ids})
    if len(arrays) > MOST_ARRAYS:
        return None
    for chunk in _chunks(arrays):
        asked = ("-j", ",".join(chunk), "-o", "JobID,CPUTimeRAW,TotalCPU")
        answer = run("sacct", "-n", "-P", "-D", *asked)
        if answer is None:
            return None
        for line in understood(answer, _USED):
            job, allocated, used = line.split("|")
            if job in job_ids:
                before = found.get(job, (0.0, 0.0))
                found[job] = before[0] + float(allocated or 0), before[1] + _seconds(used)
        if not is_whole(answer, _USED) and _of_chunk(job_ids, chunk) - found.keys():
            return None
    return dict.fromkeys(job_ids, (0.0, 0.0)) | found


_USED = re.compile(r"\d\S*\|\d*\|[\d:.-]*")


def _seconds(text: str) -> float:
    """SLURM's `days-hours:minutes:seconds.thousandths`, of which the first parts may be missing."""
    days, _, rest = text.rpartition("-")
    parts = [float(part) for part in rest.split(":") if part]
    return float(days or 0) * 86400 + sum(p * 60.0**n for n, p in enumerate(reversed(parts)))


def named(names: Collection[str]) -> dict[str, str] | None:
    """The jobs in the queue, or in the accounts of two days, that have one of these names: name ->
    job id, of an array that of the array; None where nobody can say."""
    wanted = ",".join(names)
    by_name = ("-t", "all", "-u", str(os.getuid()), "-o", "%F|%j", "-n", wanted)
    queue = run("squeue", "-h", *by_name)
    if queue is None:
        return None
    lines = [line.partition("|") for line in understood(queue, _NAMED)]
    found = {name: job_id for job_id, _, name in lines if name in names}
    if len(found) < len(set(names)):
        if not is_whole(queue, _NAMED):
            return None
        since = ("-S", "now-2days", "--name", wanted)
        told = run("sacct", "-n", "-P", "-X", *since, "-o", "JobID,JobName") or ""
        for line in told.splitlines():
            own, _, name = line.partition("|")
            if name in names and own.split("_")[0].isdigit():
                found.setdefault(name, own.split("_")[0])
    is_known = found or _has_a_heading()  # an empty answer is none
    return found if is_known else None


_NAMED = re.compile(r"\d+\|.*")


def max_array_size() -> int:
    """How many jobs an array may have here; SLURM's default when it does not tell."""
    answer = run("scontrol", "show", "config") or ""
    match = re.search(r"^MaxArraySize\s*=\s*(\d+)", answer, re.MULTILINE)
    # the limit is on the index, which starts at 0
    return max(1, int(match.group(1)) if match else 1000)


def cancel(job_ids: Iterable[str]) -> list[str]:
    """End the jobs; returns the ids that SLURM did not confirm."""
    listed = list(job_ids)
    strange = [job_id for job_id in listed if not _is_job(job_id)]  # never to scancel
    arrays = _by_array([job_id for job_id in listed if _is_job(job_id)])
    silent = [
        job_id
        for chunk in _chunks(list(arrays))
        if run("scancel", *chunk, time_limit_s=30) is None
        for word in chunk
        for job_id in arrays[word]
    ]
    return strange + silent


def _by_array(job_ids: list[str]) -> dict[str, list[str]]:
    """The ids by the word for all those of one array: `7_[0-3,5]`."""
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
    """Whether it is of the form of an id that sbatch gives."""
    return re.fullmatch(r"[0-9]+(_[0-9]+)?", job_id) is not None


def _chunks(items: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(items), CHUNK):
        yield items[start : start + CHUNK]
