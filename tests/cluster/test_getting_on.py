"""Jobs that cannot get on are refused or given up; what is not understood stays unknown."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsm_hpc.cli.main import main
from fsm_hpc.cluster import arrays, attempts, schedulers, submissions
from fsm_hpc.cluster.attempts import Attempt, AttemptEnd
from fsm_hpc.cluster.node.supervisor import Supervisor
from fsm_hpc.cluster.schedulers import slurm_commands, slurm_script, slurm_site
from fsm_hpc.cluster.schedulers.base import Grade
from fsm_hpc.cluster.site import doctor, probe
from fsm_hpc.study import first_use, scan_file
from fsm_hpc.study.compose import compose
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.study.fold import fold_paths
from fsm_hpc.system import files
from tests.support.fake_slurm import FakeSlurm
from tests.support.slurm_stand_ins import fake_slurm, some_config

ROOT = Path(__file__).parents[2]
WORDS = ["dataset=hepatitis", "method=median", "cluster=slurm", "fold=0,1"]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSlurm:
    monkeypatch.chdir(tmp_path)
    return FakeSlurm(tmp_path / "bin", monkeypatch)


def states(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["status", "--json", *WORDS]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


# ---------------------------------------------------------------------------------- time limits


@pytest.mark.parametrize("command", [["plan"], ["-m"]])
@pytest.mark.parametrize(
    "limit",
    [
        ["cluster.timeout_h=0.0167"],
        ["cluster.timeout_h=1", "cluster.signal_delay_s=3600"],
        ["cluster.timeout_h=0.5", "cluster.signal_delay_s=1790"],
    ],
)
def test_a_job_that_would_save_before_it_works_is_refused(
    tmp_path: Path,
    site: FakeSlurm,
    command: list[str],
    limit: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*command, *WORDS, *limit]) == 2
    assert "leaves no time to work" in capsys.readouterr().err
    assert site.jobs == []
    assert not list(tmp_path.rglob("array.json"))


def test_the_doctor_says_so_too() -> None:
    slurm = schedulers.named("slurm")
    for config, grade in ((some_config(timeout_h=0.0167), Grade.FAILED), (some_config(), Grade.OK)):
        assert [check.grade for check in doctor._time_limit(config, slurm)] == [grade]


def test_the_doctor_shows_progress_while_the_node_compiles(
    tmp_path: Path,
    site: FakeSlurm,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(doctor, "PROGRESS_S", 0.0)
    texts = iter(["compiling the solver", "waiting for another process that compiles", ""])
    seen = probe.Seen("node", "3.12", "code", 8, 8, can_requeue=True)

    def is_ready(seen: probe.Seen) -> bool:
        if seen.doing:
            files.write_json(tmp_path / probe.FILE, asdict(replace(seen, doing=next(texts))))
        return not seen.doing

    is_ready(replace(seen, doing="begun"))
    job = doctor._Probe(tmp_path, schedulers.named("slurm"), "7")
    assert job.wait(is_ready, 60, lambda seen: seen.doing if seen else "")
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines] == [
        "...      compiling the solver",
        "...      waiting for another process that compiles",
    ]


def test_the_doctor_passes_what_the_node_says_of_its_compilation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compile_all(say: Callable[[str], None]) -> float:
        say("compiling: 20 s so far")
        return 21.0

    monkeypatch.setattr(first_use, "compile_all", compile_all)
    monkeypatch.setattr(probe, "WAIT_S", 0.0)
    before = signal.getsignal(signal.SIGUSR2)
    try:
        probe.run(tmp_path, some_config())
    finally:
        signal.signal(signal.SIGUSR2, before)
    seen = probe.read(tmp_path)
    assert seen is not None
    assert (seen.doing, seen.compile_s) == ("compiling: 20 s so far", 21.0)


# ------------------------------------------------------------------------------------- progress


def state_of(frontier: int, seconds: float) -> dict[str, Any]:
    """A scan at length 4, which has come so far in so many seconds."""
    common = {"seconds": seconds, "solver": "native"}
    length = {"length": 3, "size": 3, "formula": "a", "errors": 4, "proved": True}
    shares = {"train_accuracy": 0.5, "validation_accuracy": 0.5}
    best = {"formula": "a", "errors": 3, "proved_length": 3, "lower_bound": 0}
    left = {"left": [[frontier, 99]], "seconds": seconds}
    under_way = {"length": 4, "best": best, "end": None, "left_s": 1 / (1 + seconds)}
    return {
        "format": scan_file.FORMAT,
        "fingerprint": "f",
        "lengths": [length | shares | common],
        "spare": [],
        "under_way": under_way | common | {"frontier": left},
        "scan_s": seconds,
        "stop_reason": None,
        "final": None,
    }


def test_progress_is_the_state_without_its_times(tmp_path: Path) -> None:
    path = tmp_path / "scan.json"
    assert scan_file.progress(scan_file.load(path)) == ""
    seen = []
    for frontier, seconds in ((5, 10.0), (5, 900.0), (6, 900.0)):
        files.write_json(path, state_of(frontier, seconds))
        seen.append(scan_file.progress(scan_file.load(path)))
    assert seen[0] == seen[1] != seen[2]


def history(*progress: str) -> tuple[dict[str, Any], ...]:
    """Attempts that ended at the time limit, and what each left."""
    return tuple(
        {"token": "t", "job_id": "7", "end": "timeout", "progress_s": 60.0 * n, "progress": p}
        for n, p in enumerate(progress, 1)
    )


@pytest.mark.parametrize(
    ("progress", "expected"),
    [("", 0), ("a", 0), ("ab", 0), ("aa", 1), ("abbb", 2), ("aab", 0), ("aaaa", 3)],
)
def test_attempts_that_came_no_further_are_counted(progress: str, expected: int) -> None:
    attempt = Attempt("t", "7", 4, "n1", 5, 1.0, earlier=history(*progress))
    assert attempts.stuck(attempt) == expected


@pytest.mark.parametrize(("solver", "gives_up"), [("native", True), ("clingo_dl", False)])
def test_a_native_job_that_comes_no_further_stops_with_a_reason(
    tmp_path: Path, solver: str, gives_up: bool
) -> None:
    words = [*WORDS[:3], f"solver={solver}", "cluster.max_retries=2", f"results_dir={tmp_path}"]
    config = compose([*words, "scan.max_length=1", "cluster.timeout_h=3"])
    paths = fold_paths(config)
    submission = replace(submissions.new_submission(config, "slurm"), job_id="7")
    submissions.save(paths, submission)
    before = [entry | {"token": submission.token} for entry in history(*"aaaa")]
    supervisor = Supervisor(submission, paths)
    supervisor.attempt = replace(supervisor.attempt, earlier=tuple(before))
    reason = supervisor.reason_to_give_up(config)
    assert bool(reason) == gives_up
    if gives_up:
        assert reason.startswith("after 3 attempts of 3 h without progress")
        assert supervisor.run() is AttemptEnd.GAVE_UP


def test_status_says_that_a_length_is_longer_than_the_time_limit(
    site: FakeSlurm, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, "-m"]) == 0
    assert site.jobs
    paths = FoldPaths(Path("results/default/hepatitis/median/fold-0"))
    submission = arrays.last_submission(paths)
    assert submission is not None
    files.write_json(paths.scan, state_of(1, 9.0))
    earlier = tuple(entry | {"token": submission.token} for entry in history("a", "a", "a"))
    attempts.save(paths, Attempt(submission.token, "1000_0", 3, "n1", 5, 1.0, earlier=earlier))
    reason = states(capsys)[0]["reason"]
    assert "length 4 takes longer than the time limit of 72 h" in reason
    assert "2 attempts made no progress, and the budget will end it" in reason


# ------------------------------------------------------------------------------------- suspended

STOPPED = """
import sys, time
from fsm_hpc.system import clock
began, real = clock.monotonic(), time.monotonic()
print("ready", flush=True)
while time.monotonic() - real < 5:
    time.sleep(0.01)
print(clock.monotonic() - began)
"""


def test_time_in_which_a_job_is_suspended_is_not_charged() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPED],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGSTOP)
    time.sleep(4)
    process.send_signal(signal.SIGCONT)
    told, _ = process.communicate(timeout=60)
    assert 0.3 < float(told) < 3


def test_time_in_which_a_process_works_is_charged_however_busy_it_is() -> None:
    text = STOPPED.replace("time.sleep(0.01)", "sum(range(300_000_000))")
    process = subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert float(process.stdout.splitlines()[1]) > 4


# ----------------------------------------------------------------------------------- setup lines


def setup_script(tmp_path: Path, *lines: str) -> subprocess.CompletedProcess[str]:
    config = some_config(setup=lines)
    text = "\n".join([*slurm_script.setup_lines(config.cluster, tmp_path), "echo begins"])
    environment = {**os.environ, "SLURM_JOB_ID": "7", "SLURM_CPUS_PER_TASK": "1"}
    return subprocess.run(
        ["bash", "-c", text], capture_output=True, text=True, env=environment, cwd=tmp_path
    )


def test_a_failing_setup_line_ends_the_job(tmp_path: Path) -> None:
    done = setup_script(tmp_path, "true", "module_of_mine load python/3.99", "echo later")
    assert done.returncode == 1
    assert "a setup line failed with 127: module_of_mine load python/3.99" in done.stdout
    assert "later" not in done.stdout


def test_setup_lines_may_test_something(tmp_path: Path) -> None:
    done = setup_script(tmp_path, "false || true", "if false; then", "false", "fi", "export A=3")
    assert (done.returncode, done.stdout) == (0, "begins\n")


def test_status_tells_the_setup_line(site: FakeSlurm, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WORDS, "-m"]) == 0
    (output,) = Path("results/default/submissions").iterdir()
    told = "fsm_hpc: a setup line failed with 127: module load nothing\n"
    (output / "1000_1_0_log.out").write_text("noise\n" + told)
    (site.folder / "queue").write_text("")
    found = states(capsys)
    assert [one["state"] for one in found] == ["lost", "failed"]
    assert found[1]["reason"] == "a setup line failed with 127: module load nothing"


def test_variables_of_ours_reach_a_job_of_a_site_that_hands_on_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FSM_DATA_DIR", "/some where/it's")
    lines = slurm_script.setup_lines(some_config().cluster, tmp_path)
    told = subprocess.run(
        ["bash", "-c", "\n".join([*lines, 'echo "$FSM_DATA_DIR|$SLURM_EXPORT_ENV"'])],
        env={"PATH": os.environ["PATH"], "SLURM_EXPORT_ENV": "NONE", "SLURM_JOB_ID": "7"},
        capture_output=True,
        text=True,
    )
    assert told.stdout == "/some where/it's|ALL\n"


# --------------------------------------------------------------------------------- what SLURM says


@pytest.mark.parametrize("squeue", ["garbled", "empty", "fail"])
@pytest.mark.parametrize("sacct", ["ok", "garbled"])
def test_an_answer_that_is_none_is_unknown(
    site: FakeSlurm, squeue: str, sacct: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, "-m"]) == 0
    site.says(squeue=squeue, sacct=sacct)
    assert {one["state"] for one in states(capsys)} == {"unknown"}
    assert main([*WORDS, "-m"]) == 0
    assert "0 submitted, 2 skipped" in capsys.readouterr().out


CONFIG = some_config()
PIECES = [b"7|RUNNING|None|n1\n", b"8_1|", b"|", b"\xff\xfe", b"7.0|FAILED|", b"\n", b"a|1|2|3\n"]
some_bytes = st.binary(max_size=50) | st.lists(st.sampled_from(PIECES)).map(b"".join)


@settings(deadline=None, max_examples=25)
@given(answer=some_bytes)
def test_no_answer_of_slurm_is_an_exception(answer: bytes) -> None:
    folder = Path(os.environ["PYTEST_ANSWERS"])
    (folder / "answer").write_bytes(answer)
    slurm_commands.query(["7", "8_1"])
    slurm_commands.named(["a"])
    slurm_commands.max_array_size()
    slurm_site.partition(CONFIG)
    slurm_site.accounting()


@pytest.fixture(autouse=True)
def _answers(
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Commands that print what a file has, for the test of arbitrary bytes."""
    if "is_an_exception" not in request.node.name:
        return
    folder = tmp_path_factory.mktemp("answers")
    names = ("squeue", "sacct", "scontrol", "sinfo")
    fake_slurm(folder, monkeypatch, **dict.fromkeys(names, ""))
    for name in names:
        (folder / name).write_text(f"#!/bin/sh\ncat {folder}/answer\n")
    monkeypatch.setenv("PYTEST_ANSWERS", str(folder))
