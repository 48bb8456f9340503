"""The script of jobs for SLURM, made by submitit, and what sbatch answers to it."""

from __future__ import annotations

import math
import os
import re
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from fsm_hpc.cluster.node import begin
from fsm_hpc.cluster.schedulers.base import SETUP_FAILED, Batch, UnclearError
from fsm_hpc.errors import UserError
from fsm_hpc.study.config import ClusterSettings
from fsm_hpc.system import files
from fsm_hpc.system.children import python_path

SBATCH_S = 300.0  # after which no answer is expected any more
SBATCH_INTERRUPT_TIMEOUT_S = 10.0  # that sbatch has to answer after Ctrl-C
PICKLE = "task.pkl"
LAUNCH_AGAIN_S = (5, 20, 60)  # pauses before a launch that failed is tried again


# a node or a task that is lost does not end the others: the first one gives its parts out again
NO_KILL_ARGS = ("--no-kill", "--kill-on-bad-exit=0", "--wait=0")


def send(batch: Batch, before: Callable[[], None] = lambda: None) -> str:
    """Hand the jobs to SLURM; the id that it gives them. What they need is there before."""
    script = write(batch)
    before()
    with _outside_of_any_job():
        return _ask_sbatch(script)


def write(batch: Batch) -> Path:
    """The script, and the pickle of the function: a job that starts at once finds it."""
    # each is a line of the job's script, which must not go on as another
    if re.search(r"[\x00-\x1f\x7f]", str(batch.output)):
        raise UserError(
            f"SLURM cannot take a folder with control characters: {str(batch.output)!r}"
        )
    script = batch.output / "jobs.sh"
    files.write_atomically(script, with_srun_retry(submitit_script(batch)))
    return script


def submitit_script(batch: Batch) -> str:
    """The script that submitit makes, and its pickle beside it.

    All that is private to submitit stands here; pyproject.toml names the one version that it is
    of, and tests/cluster/schedulers/test_submitit.py says what is relied on.
    """
    import submitit
    from submitit.core.utils import DelayedSubmission

    cluster, output = batch.config.cluster, batch.output
    executor = submitit.SlurmExecutor(
        folder=output, max_num_timeout=0, python=python_command(cluster)
    )
    executor.update_parameters(**parameters(batch))
    if batch.count is not None:
        executor.parameters["map_count"] = batch.count
    task = DelayedSubmission(batch.task, *batch.arguments)
    task.set_timeout(math.ceil(cluster.timeout_h * 60), 0)
    task.dump(output / PICKLE)
    return str(executor._make_submission_file_text(executor._submitit_command_str, ""))


# of a job that has ended well: submitit's files, and the sign that it has begun
_LEFT = ('"$FSM_JOB"_submitted.pkl', '"$FSM_JOB"_*_result.pkl', f'"${begin.MARK}"')


def with_srun_retry(script: str) -> str:
    """The script, with its srun tried again where SLURM did not get to start anything.

    A controller or a node that answers late fails a launch; what has begun is never begun twice.
    """
    *before, launch = script.rstrip().splitlines()
    if not launch.startswith("srun "):
        raise RuntimeError(f"expected a script of submitit that ends with srun, found {launch!r}")
    pauses = " ".join(map(str, (*LAUNCH_AGAIN_S, "no")))
    again = (
        f"for pause in {pauses}; do",
        f"  {launch}",
        "  code=$?",
        f"  [ $code -eq 0 ] && rm -f {' '.join(_LEFT)}",
        f'  [ $code -eq 0 -o -e "${begin.MARK}" -o $pause = no ] && exit $code',
        '  echo "SLURM did not start it (srun: $code); again in $pause s"',
        "  sleep $pause",
        "done",
    )
    return "\n".join((*before, *again)) + "\n"


def _ask_sbatch(script: Path) -> str:
    """Ctrl-C does not reach sbatch, which may have sent its jobs by then, but this process."""
    try:
        process = subprocess.Popen(
            ["sbatch", str(script)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=_environment(script.read_text(encoding="utf-8")),
        )
    except OSError as error:
        raise UserError(f"sbatch cannot be run: {error}") from None
    try:
        said, complaint = process.communicate(timeout=SBATCH_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise UnclearError(f"sbatch did not answer within {SBATCH_S:.0f} s") from None
    except KeyboardInterrupt:
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=SBATCH_INTERRUPT_TIMEOUT_S)
        process.kill()
        raise
    told = re.search(rb"Submitted batch job (\d+)", said)
    if process.returncode == 0 and told is not None:
        return told[1].decode()
    raise UnclearError(_why((complaint or said).decode(errors="replace")))


# variables of sbatch that are not called as its options are
_VARIABLES = {
    "array": "SBATCH_ARRAY_INX",
    "time": "SBATCH_TIMELIMIT",
    "mem": "SBATCH_MEM_PER_NODE",
    "requeue": "SBATCH_NO_REQUEUE",
}
_NEVER = ("SBATCH_WAIT", "SBATCH_WAIT_ALL_NODES", "SBATCH_ARRAY_INX", "SBATCH_JOB_NAME")


def _environment(script: str) -> dict[str, str]:
    """Without what would win over the script: sbatch takes a variable before a line of it.

    SBATCH_JOB_NAME would take away the name that jobs are found by, SBATCH_PARTITION the one that
    this command has said. What the script does not say stays the shell's to say.
    """
    said = re.findall(r"^#SBATCH --([a-z-]+)", script, re.MULTILINE)
    taken = {f"SBATCH_{name.upper().replace('-', '_')}" for name in said}
    taken |= {_VARIABLES[name] for name in said if name in _VARIABLES} | set(_NEVER)
    kept = {name: value for name, value in os.environ.items() if name not in taken}
    path = {"PYTHONPATH": os.pathsep.join(python_path())} if "PYTHONPATH" in kept else {}
    return kept | path


def parameters(batch: Batch) -> dict[str, Any]:
    """submitit's parameters for the jobs of a batch."""
    config, cluster = batch.config, batch.config.cluster
    chosen = {
        name: getattr(cluster, name)
        for name in ("partition", "account", "qos", "constraint", "mail_user", "mail_type")
    }
    return {
        "job_name": batch.name,
        "time": math.ceil(cluster.timeout_h * 60),
        "nodes": config.nodes,
        "ntasks_per_node": 1,
        "cpus_per_task": cluster.cpus,
        "mem": f"{math.ceil(cluster.mem_gb * 1024)}MB",
        "signal_delay_s": cluster.signal_delay_s,
        "array_parallelism": batch.at_a_time,
        "stderr_to_stdout": True,
        "wckey": None,  # submitit's own would be refused where wckeys are enforced
        "setup": setup_lines(cluster, batch.output),
        **({} if config.nodes == 1 else {"srun_args": list(NO_KILL_ARGS)}),
        "additional_parameters": {
            "requeue": True,
            **({} if config.nodes == 1 else {"no_kill": True}),
            **{name: _joined(value) for name, value in (cluster.options or {}).items()},
            **_dependency(batch),
        },
        **{name: value for name, value in chosen.items() if value is not None},
    }


def _dependency(batch: Batch) -> dict[str, str]:
    """That the jobs begin when others have ended, and as the user's own options say."""
    if not batch.after:
        return {}
    waits = f"afterany:{':'.join(batch.after)}"
    given = (batch.config.cluster.options or {}).get("dependency")
    return {"dependency": f"{given},{waits}" if given else waits}


def _joined(value: Any) -> Any:
    """A list of a config, `[n1, n2]`, as sbatch takes it."""
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else value


def setup_lines(cluster: ClusterSettings, output: Path) -> list[str]:
    """Shell lines before the job: cores for srun, what Python needs, then the user's own."""
    job = "${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}"
    lines = [
        # srun does not inherit --cpus-per-task from SLURM 22.05 on
        'export SRUN_CPUS_PER_TASK="$SLURM_CPUS_PER_TASK"',
        # with SBATCH_EXPORT=NONE srun would start Python without what is exported here
        "export SLURM_EXPORT_ENV=ALL",
        *(f"export {name}={shlex.quote(value)}" for name, value in _handed_on()),
        # submitit looks for the pickle under the id that only SLURM knows before
        f'export FSM_JOB={shlex.quote(str(output))}/"{job}"',
        f'ln -sf {PICKLE} "$FSM_JOB"_submitted.pkl',
        f'export {begin.MARK}="$FSM_JOB"_"${{SLURM_RESTART_COUNT:-0}}"_began',
    ]
    root = files.SOURCE
    if root != Path(sysconfig.get_paths()["purelib"]):
        lines.append(f'export PYTHONPATH={shlex.quote(str(root))}"${{PYTHONPATH:+:$PYTHONPATH}}"')
    if not cluster.setup:
        return lines
    failed = f'echo "{SETUP_FAILED} with $?: $BASH_COMMAND"; exit 1'
    return [*lines, f"trap '{failed}' ERR", *cluster.setup, "trap - ERR"]


def _handed_on() -> list[tuple[str, str]]:
    """Variables of ours, which a site may not hand on by itself."""
    is_ours = ("FSM_", "OMP_WAIT_POLICY")
    return sorted((k, v) for k, v in os.environ.items() if k.startswith(is_ours))


def python_command(cluster: ClusterSettings) -> str:
    """What starts Python on a node, with SIGUSR2 held back until the job is ready for it."""
    python = cluster.python or shlex.quote(sys.executable)
    return f"{python} {shlex.quote(str(Path(begin.__file__).absolute()))}"


@contextmanager
def _outside_of_any_job() -> Iterator[None]:
    """Submitting from inside a job must not hand on that job's own limits."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("SLURM_", "SLURMD_", "SRUN_")) and name != "SLURM_CONF"
    }
    if "SLURM_JOB_ID" not in inherited:
        inherited = {}
    for name in inherited:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(inherited)


def _why(complaint: str) -> str:
    lines = [line.removeprefix("sbatch: error: ").strip() for line in complaint.splitlines()]
    return "; ".join(filter(None, lines)) or "it said nothing that can be understood"
