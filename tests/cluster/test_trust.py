"""What is in a results folder decides about folds, and about nothing else."""

from __future__ import annotations

import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.cli.main import main
from fsm_hpc.cluster import attempts, submissions
from fsm_hpc.cluster.attempts import Attempt
from fsm_hpc.cluster.schedulers import local
from fsm_hpc.cluster.schedulers import slurm_commands as slurm
from fsm_hpc.cluster.schedulers.base import JobRecord
from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.cluster.submit import resume
from fsm_hpc.cluster.watch.states import FoldState, fold_states
from fsm_hpc.errors import UserError
from fsm_hpc.search.solvers.nodes.contact import Contact
from fsm_hpc.study import recompose
from fsm_hpc.study.compose import compose
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.study.fold import fold_paths
from fsm_hpc.study.saved_config import of_any_version
from fsm_hpc.system import files, ownership
from fsm_hpc.system.files import UnreadableError
from tests.support.process_identities import identity, reused
from tests.support.slurm_stand_ins import fake_slurm

FOLD = ("dataset=hepatitis", "method=median", "fold=1", "cluster=local")


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return compose([*FOLD, f"results_dir={tmp_path / 'results'}", "study=mine"])


def begin(config: Config, pid: int, output: str = "", **changes: Any) -> FoldPaths:
    """A local fold whose attempt says that it is this process."""
    paths = fold_paths(config)
    made = submissions.new_submission(config, "local")
    job_id = f"local/{platform.node()}/{pid}"
    submissions.save(paths, replace(made, job_id=job_id, output=output))
    attempt = Attempt(made.token, job_id, 0, platform.node(), pid, time.time() + 3600)
    attempts.save(paths, replace(attempt, **({"process": identity(pid)} | changes)))
    return paths


def words(config: Config) -> list[str]:
    return [f"results_dir={config.results_dir}", f"study={config.study}"]


def job_of(config: Config, process: str) -> JobRecord:
    return JobRecord("7", None, config.id, process=process)


# --------------------------------------------------------------------------------------- cancel


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """A process of the user's that has nothing to do with any fold."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield process
    process.kill()
    process.wait()


def test_cancel_leaves_a_process_alone_that_is_not_shown_to_be_the_fold(
    config: Config, stranger: subprocess.Popen[bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    begin(config, stranger.pid)
    assert main(["cancel", "-y", *words(config)]) == 1
    said = capsys.readouterr().out
    assert f"process {stranger.pid} may not belong to hepatitis/median/fold-1" in said
    assert stranger.poll() is None


def test_cancel_ends_the_process_of_a_worker(config: Config, tmp_path: Path) -> None:
    script = "import time; time.sleep(60)"
    worker = subprocess.Popen([sys.executable, "-c", script, local.WORKER, str(tmp_path), "0"])
    try:
        begin(config, worker.pid, output=str(tmp_path))
        assert main(["cancel", "-y", *words(config)]) == 0
        assert worker.wait(20) == -signal.SIGTERM
    finally:
        worker.kill()
        worker.wait()


@pytest.mark.parametrize("pid", [0, 1, -1, os.getpid()], ids=["0", "1", "-1", "own"])
def test_no_id_stands_for_all_processes_or_for_this_one(config: Config, pid: int) -> None:
    process = identity(max(pid, 1)) if pid > 0 else f"a/1/{abs(pid)}/1"
    assert not local.end(job_of(config, process))


@pytest.mark.parametrize(
    ("command", "is_ours"),
    [
        (["python", "-m", "fsm_hpc", *FOLD], True),
        (["/venv/bin/python", "/venv/bin/fsm-hpc", *FOLD], True),
        (["python", "-P", "/x/run_module.py", local.WORKER, "/output", "0"], True),
        (["vim", "fsm_hpc.txt", *FOLD], False),
        (["python", "train.py", "--log", "x", "fsm_hpc"], False),
        ([], False),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_process_of_this_program_is_known_by_its_command_line(
    config: Config,
    monkeypatch: pytest.MonkeyPatch,
    stranger: subprocess.Popen[bytes],
    command: list[str],
    is_ours: bool,
) -> None:
    monkeypatch.setattr("fsm_hpc.system.machine.command_line", lambda pid: command)
    assert local.end(job_of(config, identity(stranger.pid))) is is_ours
    if is_ours:
        assert stranger.wait(20) == -signal.SIGTERM
    else:
        assert stranger.poll() is None


def test_a_process_that_began_later_than_the_attempt_is_another(
    config: Config, stranger: subprocess.Popen[bytes]
) -> None:
    assert not local.end(job_of(config, reused(stranger.pid)))


@pytest.mark.parametrize("job_id", ["-u root", "--user=me", "1 2", "*", "7_[1-3]", "", "local/x/1"])
def test_only_ids_of_the_form_of_sbatch_reach_scancel(
    job_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_slurm(tmp_path, monkeypatch, scancel="", squeue="", sacct="")
    asked: list[tuple[str, ...]] = []
    real = slurm.run

    def run(*command: str, time_limit_s: float = 10) -> str | None:
        asked.append(command)
        return real(*command, time_limit_s=time_limit_s)

    monkeypatch.setattr(slurm, "run", run)
    assert slurm.cancel([job_id, "17_3"]) == [job_id]
    slurm.query([job_id])
    assert asked == [("scancel", "17_3")]


def test_a_job_id_of_another_form_makes_a_submission_unreadable(config: Config) -> None:
    paths = begin(config, os.getpid())
    saved = submissions.read(paths)
    assert saved is not None
    files.write_json(paths.submission, {**_plain(saved), "job_id": "--user=me"})
    with pytest.raises(UserError, match=r"job_id: expected .*, found '--user=me'"):
        submissions.read(paths)


def _plain(submission: Submission) -> dict[str, Any]:
    return {f.name: getattr(submission, f.name) for f in fields(submission)}


# --------------------------------------------------------------------------------------- resume


def submit(config: Config, **cluster: Any) -> Config:
    changed = replace(config, cluster=replace(config.cluster, **cluster))
    made = submissions.new_submission(changed, "local")
    submissions.save(fold_paths(config), made)
    return changed


def test_what_runs_code_is_marked_where_the_setting_is_described() -> None:
    assert set(recompose.CODE) == {
        *("cluster.setup", "cluster.python", "cluster.options"),
        "dataset.package",
    }


CODE: list[dict[str, Any]] = [
    {"setup": ("rm -rf ~",)},
    {"python": "/tmp/evil"},
    {"options": {"wrap": "evil"}},
]


@pytest.mark.parametrize("overrides", [(), FOLD], ids=["version 0.2", "now"])
@pytest.mark.parametrize("code", CODE, ids=str)
def test_resume_shows_what_a_file_would_run_and_does_not_run_it(
    config: Config,
    code: dict[str, Any],
    overrides: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
) -> None:
    ((name, value),) = code.items()
    submit(replace(config, overrides=overrides), **code)
    assert main(["resume", *words(config)]) == 2
    told = capsys.readouterr().err
    expected = f"it was submitted with cluster.{name}={value!r}"
    assert f"skipped: hepatitis/median/fold-1: {expected}" in told
    assert f"give cluster.{name}=... again" in told
    assert not fold_paths(config).attempt.exists()


@pytest.mark.parametrize(
    "override",
    [
        "cluster.setup=[evil]",
        "+cluster.options.wrap=evil",
        "cluster.by.hepatitis.setup=[evil]",
        "cluster.by={hepatitis: {setup: [evil]}}",
        "cluster={setup: [evil]}",
        "dataset.package=evil/x.csv",
        "hydra.searchpath=[file:///tmp/evil]",
        "study=${oc.env:HOME}",
        "dataset.title=${oc.env:HOME}",
    ],
)
def test_an_override_on_disk_that_runs_code_is_not_composed(config: Config, override: str) -> None:
    submit(replace(config, overrides=(*FOLD[:2], override, "seed=42")))
    (found,) = resume.configs(words(config)).configs
    assert (found.cluster.setup, found.cluster.python, found.cluster.options) == ((), None, None)
    assert (found.dataset.package, found.dataset.title) == (None, config.dataset.title)


def test_no_file_says_a_command_for_a_dataset(config: Config) -> None:
    submit(config, by={"hepatitis": {"setup": ["evil"], "python": "evil"}})
    (found,) = resume.configs([*words(config), "scan.budget_h=1"]).configs
    assert found.cluster.by == {}
    assert (found.cluster.setup, found.cluster.python) == ((), None)


def test_what_the_users_own_config_says_is_taken(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "conf" / "cluster").mkdir(parents=True)
    site = "defaults: [slurm, _self_]\nsetup: [module load python]\n"
    (tmp_path / "conf" / "cluster" / "site.yaml").write_text(site)
    monkeypatch.setenv("FSM_CONF_DIR", str(tmp_path / "conf"))
    submit(replace(config, overrides=(*FOLD[:2], "cluster=site")), setup=("module load python",))
    found = resume.configs(words(config))
    assert found.configs[0].cluster.setup == ("module load python",)


def test_what_is_said_in_the_command_is_taken(config: Config) -> None:
    submit(config, setup=("evil",))
    found = resume.configs([*words(config), "cluster.setup=[good]"])
    assert found.configs[0].cluster.setup == ("good",)


def test_a_module_on_disk_is_never_looked_for(config: Config) -> None:
    dataset = replace(config.dataset, package="evil.module/table.csv")
    submit(replace(config, dataset=dataset))
    found = resume.configs(words(config))
    assert found.configs == []
    assert "it was submitted with dataset.package='evil.module/table.csv'" in found.broken[0]


@pytest.mark.parametrize("name", ["partition", "account", "qos", "constraint", "mail_user"])
def test_no_setting_goes_on_as_another_line_of_a_jobs_script(config: Config, name: str) -> None:
    saved = config.to_dict()
    saved["cluster"][name] = "x\nrm -rf ~"
    with pytest.raises(UserError, match=f"cluster.{name}: expected one word"):
        of_any_version(saved)
    with pytest.raises(UserError, match=f"cluster.{name}: expected one word"):
        compose([*FOLD, f'cluster.{name}="x\nrm -rf ~"'])


# ------------------------------------------------------------------------------- shared folders


def test_what_a_job_runs_is_new_and_in_a_folder_of_the_user_alone_whatever_the_umask(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_slurm(tmp_path, monkeypatch, sbatch="Submitted batch job 17", squeue="", sacct="")
    command = ["-m", *FOLD[:2], "cluster=slurm", *words(config)]
    before = os.umask(0)
    try:
        assert [main([*command, f"fold={number}"]) for number in (1, 2)] == [0, 0]
    finally:
        os.umask(before)
    pickles = list(config.results_dir.rglob("task.pkl"))
    assert len({path.parent for path in pickles}) == 2
    assert {path.parent.stat().st_mode & 0o777 for path in pickles} == {0o700}


def test_a_helper_connects_to_no_search_that_another_user_may_have_written(tmp_path: Path) -> None:
    file = tmp_path / "contact.json"
    Contact("tls://127.0.0.1:1", "code", "certificate", "key").write(file)
    assert Contact.read(file) is not None
    file.chmod(0o666)
    with pytest.raises(UnreadableError, match="may be written by everybody"):
        Contact.read(file)


def test_the_groups_right_counts_unless_the_group_is_the_users_own(tmp_path: Path) -> None:
    tmp_path.chmod(0o770)
    own = ownership.other_writers([tmp_path])
    if os.getuid() == 0:
        os.chown(tmp_path, 0, 1)
        assert "may be written by the group" in ownership.other_writers([tmp_path])
        os.chown(tmp_path, 1, 0)
        assert "may be written by its owner" in ownership.other_writers([tmp_path])
        assert own == ""
    tmp_path.chmod(0o700)


def test_doctor_tells_of_a_shared_folder(
    config: Config, capsys: pytest.CaptureFixture[str]
) -> None:
    config.results_dir.mkdir()
    config.results_dir.chmod(0o777)
    main(["doctor", "cluster=local", *words(config)])
    said = capsys.readouterr().out
    assert "may be written by everybody: others with write access control" in said


def test_another_folds_submission_is_no_reason_to_run_that_fold_again(config: Config) -> None:
    """A copied submission.json says the other fold's settings, which `resume` would run."""
    other = replace(config, fold=config.fold + 1)
    mine, copied = fold_paths(config), fold_paths(other)
    submissions.save(mine, submissions.new_submission(config, "local"))
    copied.folder.mkdir(parents=True)
    shutil.copy(mine.submission, copied.submission)
    found = resume.configs(words(config))
    assert [one.id for one in found.configs] == [config.id]
    assert [ref.id for ref in found.unknown] == [other.id]
    (judged,), _ = fold_states([ref for ref in found.folds if ref.id == other.id])
    assert judged.state is FoldState.FAILED
    assert f"submission.json is of another fold: {config.id}" in judged.reason
