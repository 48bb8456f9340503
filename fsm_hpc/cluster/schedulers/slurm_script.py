"""Write job scripts for SLURM with submitit, and pass them to sbatch."""

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

SBATCH_S = 300.0  # time limit of sbatch
SBATCH_INTERRUPT_TIMEOUT_S = 10.0  # time limit of sbatch after Ctrl-C
PICKLE = "task.pkl"
SRUN_RETRY_S = (5, 20, 60)  # pauses before srun is run again


# if a node or task is lost, the others continue, and the first one reassigns its parts
NO_KILL_ARGS = ("--no-kill", "--kill-on-bad-exit=0", "--wait=0")


def submit(batch: Batch, before: Callable[[], None] = lambda: None) -> str:
    """Submit jobs to SLURM after writing all files that they need; returns the job id."""
    script = write(batch)
    before()
    with _without_job_variables():
        return _run_sbatch(script)


def write(batch: Batch) -> Path:
    """Write the script and the pickle of the function, before any job can start."""
    # the path is part of a script line, so it must not contain a newline
    if re.search(r"[\x00-\x1f\x7f]", str(batch.output)):
        raise UserError(
            f"SLURM does not accept a folder with control characters: {str(batch.output)!r}"
        )
    script = batch.output / "jobs.sh"
    files.write_atomically(script, with_srun_retry(submitit_script(batch)))
    return script


def submitit_script(batch: Batch) -> str:
    """The script of submitit; its pickle is written next to it.

    Only this function uses private names of submitit. pyproject.toml pins the version, and
    tests/cluster/schedulers/test_submitit.py checks the assumptions.
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


# files that a successful job removes: those of submitit, and the mark that it has begun
_LEFT = ('"$FSM_JOB"_submitted.pkl', '"$FSM_JOB"_*_result.pkl', f'"${begin.MARK}"')


def with_srun_retry(script: str) -> str:
    """The script, with srun run again if SLURM did not start the task.

    srun fails if the controller or a node answers late. A task that has begun is never started
    a second time.
    """
    *before, srun = script.rstrip().splitlines()
    if not srun.startswith("srun "):
        raise RuntimeError(f"expected a script of submitit that ends with srun, found {srun!r}")
    pauses = " ".join(map(str, (*SRUN_RETRY_S, "no")))
    loop = (
        f"for pause in {pauses}; do",
        f"  {srun}",
        "  code=$?",
        f"  [ $code -eq 0 ] && rm -f {' '.join(_LEFT)}",
        f'  [ $code -eq 0 -o -e "${begin.MARK}" -o $pause = no ] && exit $code',
        '  echo "SLURM did not start the task (srun: exit code $code); retry in $pause s"',
        "  sleep $pause",
        "done",
    )
    return "\n".join((*before, *loop)) + "\n"


def _run_sbatch(script: Path) -> str:
    """Run sbatch in its own session: Ctrl-C must not interrupt it while it submits jobs."""
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
        output, errors = process.communicate(timeout=SBATCH_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise UnclearError(f"sbatch did not answer within {SBATCH_S:.0f} s") from None
    except KeyboardInterrupt:
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=SBATCH_INTERRUPT_TIMEOUT_S)
        process.kill()
        raise
    job_id = re.search(rb"Submitted batch job (\d+)", output)
    if process.returncode == 0 and job_id is not None:
        return job_id[1].decode()
    raise UnclearError(_message_of((errors or output).decode(errors="replace")))


# variables of sbatch whose names differ from those of the options
_VARIABLES = {
    "array": "SBATCH_ARRAY_INX",
    "time": "SBATCH_TIMELIMIT",
    "mem": "SBATCH_MEM_PER_NODE",
    "requeue": "SBATCH_NO_REQUEUE",
}
_NEVER = ("SBATCH_WAIT", "SBATCH_WAIT_ALL_NODES", "SBATCH_ARRAY_INX", "SBATCH_JOB_NAME")


def _environment(script: str) -> dict[str, str]:
    """The environment without variables that would override options of the script.

    SBATCH_JOB_NAME, for example, would replace the name by which `find` identifies jobs. Variables
    for options that the script does not set remain.
    """
    options = re.findall(r"^#SBATCH --([a-z-]+)", script, re.MULTILINE)
    removed = {f"SBATCH_{name.upper().replace('-', '_')}" for name in options}
    removed |= {_VARIABLES[name] for name in options if name in _VARIABLES} | set(_NEVER)
    kept = {name: value for name, value in os.environ.items() if name not in removed}
    path = {"PYTHONPATH": os.pathsep.join(python_path())} if "PYTHONPATH" in kept else {}
    return kept | path


def parameters(batch: Batch) -> dict[str, Any]:
    """The parameters of submitit for the jobs of a batch."""
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
        "wckey": None,  # sites that enforce wckeys refuse that of submitit
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
    """The option that delays jobs until others have ended, joined with the user's own."""
    if not batch.after:
        return {}
    waits = f"afterany:{':'.join(batch.after)}"
    given = (batch.config.cluster.options or {}).get("dependency")
    return {"dependency": f"{given},{waits}" if given else waits}


def _joined(value: Any) -> Any:
    """A list of a config, `[n1, n2]`, in the form that sbatch expects."""
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else value


def setup_lines(cluster: ClusterSettings, output: Path) -> list[str]:
    """Shell lines before the job: variables for srun and Python, then those of the user."""
    job = "${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}"
    lines = [
        # from SLURM 22.05 on, srun does not inherit --cpus-per-task
        'export SRUN_CPUS_PER_TASK="$SLURM_CPUS_PER_TASK"',
        # with SBATCH_EXPORT=NONE, srun would drop the variables that are exported here
        "export SLURM_EXPORT_ENV=ALL",
        *(f"export {name}={shlex.quote(value)}" for name, value in _exported_variables()),
        # submitit expects the job id in the name of the pickle; it is unknown until submission
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


def _exported_variables() -> list[tuple[str, str]]:
    """Variables of this program, which a site may not pass on to jobs."""
    prefixes = ("FSM_", "OMP_WAIT_POLICY")
    return sorted((k, v) for k, v in os.environ.items() if k.startswith(prefixes))


def python_command(cluster: ClusterSettings) -> str:
    """The command that starts Python on a node; it blocks SIGUSR2 until the job is ready."""
    python = cluster.python or shlex.quote(sys.executable)
    return f"{python} {shlex.quote(str(Path(begin.__file__).absolute()))}"


@contextmanager
def _without_job_variables() -> Iterator[None]:
    """Remove the variables of the current job, whose limits would apply to submitted jobs."""
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


def _message_of(output: str) -> str:
    lines = [line.removeprefix("sbatch: error: ").strip() for line in output.splitlines()]
    return "; ".join(filter(None, lines)) or "sbatch printed no message"
