"""What the words of a command select, and how SLURM's answers are read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fsm_hpc.cluster import submissions
from fsm_hpc.cluster.schedulers import slurm_commands as slurm
from fsm_hpc.cluster.schedulers.base import SiteLimits
from fsm_hpc.cluster.submit import plan, resume
from fsm_hpc.cluster.watch import selection
from fsm_hpc.cluster.watch.fold_files import FoldFiles, FoldRef
from fsm_hpc.cluster.watch.states import FoldState, FoldStatus
from fsm_hpc.errors import UserError
from fsm_hpc.study.compose import expand
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.study.fold import fold_paths
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.study.recompose import Recomposer
from fsm_hpc.system import files
from tests.support.command_line import run_command
from tests.support.slurm_stand_ins import fake_slurm, some_config


def test_folds_on_disk_are_selected_without_a_config(tmp_path: Path) -> None:
    for dataset in ("bank", "hepatitis"):
        for fold in range(3):
            paths = StudyPaths(tmp_path / "s").fold(FoldId(dataset, "pivot", fold))
            paths.folder.mkdir(parents=True)
    words = [f"results_dir={tmp_path}", "study=s", "dataset=bank", "fold=0,2"]
    found = [(ref.id.dataset, ref.id.fold) for ref in selection.select(words)]
    assert found == [("bank", 0), ("bank", 2)]


def test_a_study_that_is_not_there_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no folds in"):
        selection.select([f"results_dir={tmp_path}", "study=none"])


def test_dataset_and_method_name_folds_that_have_left_nothing(tmp_path: Path) -> None:
    words = [f"results_dir={tmp_path}", "dataset=hepatitis", "method=median"]
    assert len(selection.select(words)) == 10


def test_more_folds_than_the_table_has_rows_are_refused_before_anything_is_submitted(
    tmp_path: Path,
) -> None:
    words = ["dataset=hepatitis", "method=median", "folds=130", "fold=0", "cluster=local"]
    configs = expand([*words, f"results_dir={tmp_path}"])
    with pytest.raises(UserError, match="at least 130 rows for 130 folds, found 129"):
        plan.decide(configs)


def decision(config: Config, number: int) -> plan.Decision:
    ref = FoldRef(FoldId("d", "m", number), FoldPaths(Path("nowhere")), config)
    return plan.Decision(config, FoldStatus(FoldFiles(ref), FoldState.MISSING), True, "missing")


def test_arrays_hold_equal_resources_and_share_one_throttle() -> None:
    config = some_config(max_parallel=6)
    big = replace(config, cluster=replace(config.cluster, mem_gb=128))
    decisions = [decision(config, n) for n in range(10)] + [decision(big, 11)]
    arrays = plan.lay_out(decisions, SiteLimits(4))
    assert [len(array.folds) for array in arrays] == [4, 4, 2, 1]
    assert [array.at_a_time for array in arrays] == [2, 2, 1, 1]


def most_at_once(arrays: list[plan.Array]) -> int:
    """How many jobs run at most, if every array runs as long as it may."""
    waiting, ended, most = dict(enumerate(arrays)), set[int](), 0
    while waiting:
        now = [n for n, array in waiting.items() if ended.issuperset(array.after)]
        most = max(most, sum(waiting[n].at_a_time for n in now))
        first = now[0]  # the longer the others last, the more run together
        del waiting[first]
        ended.add(first)
    return most


@pytest.mark.parametrize("max_parallel", [1, 2, 3, 4, 6, 40])
@pytest.mark.parametrize("size", [2, 4, 1000])
def test_all_arrays_of_a_submission_together_keep_to_max_parallel(
    max_parallel: int, size: int
) -> None:
    configs = [some_config(max_parallel=max_parallel, cpus=cpus) for cpus in (1, 2, 3, 4)]
    decisions = [
        decision(one, n)
        for one, count in zip(configs, (1, 2, 5, 9), strict=True)
        for n in range(count)
    ]
    arrays = plan.lay_out(decisions, SiteLimits(size))
    assert sum(len(array.folds) for array in arrays) == 17
    assert min(array.at_a_time for array in arrays) >= 1
    assert most_at_once(arrays) <= max_parallel


def test_a_group_with_a_smaller_limit_of_its_own_keeps_to_it() -> None:
    small, rest = some_config(max_parallel=1, cpus=1), some_config(max_parallel=9, cpus=2)
    decisions = [decision(rest, 9), *(decision(small, n) for n in range(4))]
    _, *parts = plan.lay_out(decisions, SiteLimits(2))
    assert [(array.at_a_time, array.after) for array in parts] == [(1, ()), (1, (1,))]


def test_core_hours_are_cores_times_hours_times_jobs() -> None:
    config = some_config(cpus=8, timeout_h=72.0)
    (array,) = plan.lay_out([decision(config, n) for n in range(10)], SiteLimits(1000))
    assert array.core_hours == 5760


def submit(config: Config) -> None:
    """A fold whose submission is on disk."""
    made = submissions.new_submission(config, "slurm")
    submissions.save(fold_paths(config), made)


def test_resume_changes_values_and_whole_groups() -> None:
    config = some_config()
    words = ["scan.budget_h=144", "+cluster.options.nice=5", "cluster.mem_gb=128"]
    changed = Recomposer(words).config(config)
    assert changed.scan.budget_h == 144
    assert changed.cluster.options == {"nice": 5}
    assert changed.cluster.mem_gb == 128
    assert replace(changed, scan=config.scan, cluster=config.cluster) == config


@pytest.mark.parametrize("words", [["+experiment=paper"], ["study=paper"]])
def test_resume_finds_the_study_of_an_experiment_with_its_settings(
    tmp_path: Path, words: list[str]
) -> None:
    plain = some_config()
    begun_with = (*plain.overrides, "seed=7")
    config = replace(plain, study="paper", results_dir=tmp_path, seed=7, overrides=begun_with)
    submit(config)
    words = [*words, f"results_dir={tmp_path}", "scan.budget_h=71"]
    (found,) = resume.configs(words).configs
    assert found == replace(config, scan=replace(config.scan, budget_h=71))


def test_resume_follows_a_study_that_was_moved(tmp_path: Path) -> None:
    config = replace(some_config(), results_dir=tmp_path / "here")
    submit(config)
    (tmp_path / "here").rename(tmp_path / "there")
    (found,) = resume.configs([f"results_dir={tmp_path}/there"]).configs
    assert found == replace(config, results_dir=tmp_path / "there")


def test_resume_does_not_guess_the_settings_of_a_fold(tmp_path: Path) -> None:
    config = replace(some_config(), results_dir=tmp_path)
    files.write_json(fold_paths(config).scan, {})
    with pytest.raises(UserError, match="no stored config"):
        run_command("resume", f"results_dir={tmp_path}")
    known = replace(config, fold=1)
    submit(known)
    resumed = resume.configs([f"results_dir={tmp_path}"])
    found, others = resumed.configs, resumed.unknown
    assert (found, [ref.id.fold for ref in others]) == ([known], [0])


def test_resume_refuses_what_is_not_a_setting() -> None:
    with pytest.raises(UserError, match="budget is not a setting"):
        resume.configs(["scan.budget=144"])


def test_squeue_and_sacct_are_read_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_slurm(
        tmp_path,
        monkeypatch,
        squeue="7_0|RUNNING|None|n1\n7_1|PENDING|Priority|\n8|FAILED|NonZeroExitCode|n2",
        sacct="8|FAILED|n2\n8.batch|FAILED|n2\n8.0|OUT_OF_MEMORY|n2\n9_[0-1]|CANCELLED by 5|",
    )
    said = slurm.query(["7_0", "7_1", "8", "9_0", "9_1", "10"])
    assert {job: status.text.removeprefix("SLURM: ") for job, status in said.jobs.items()} == {
        "7_0": "RUNNING",
        "7_1": "PENDING",
        "8": "OUT_OF_MEMORY",
        "9_0": "CANCELLED",
        "9_1": "CANCELLED",
    }
    assert said.jobs["7_1"].reason == "Priority"
    assert said.unanswered == ()


ODD_LINES = [
    "123+0|RUNNING|None|n1",  # a heterogeneous job
    "123+1|PENDING|Resources|",
    "123+0_4|RUNNING|None|n1",
    "CLUSTER: other",
    "5_[4-7%2]|PENDING|JobArrayTaskLimit|",
    "N/A|RUNNING|None|n1",
    "6|RUNNING",
    "\x85\u2028 |||",
    "slurm_load_jobs warning: something odd",
]


@pytest.mark.parametrize("line", ODD_LINES)
@pytest.mark.parametrize("command", ["squeue", "sacct"])
def test_an_odd_line_of_an_answer_hides_no_other_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, command: str
) -> None:
    answers = {"squeue": "7_0|RUNNING|None|n1\n", "sacct": "8|TIMEOUT|n2\n"}
    odd = line if command == "squeue" else line.replace("|None", "").replace("|Resources", "")
    answers[command] = f"{odd}\n{answers[command]}{odd}"
    fake_slurm(tmp_path, monkeypatch, **answers)
    states = {job: status.text for job, status in slurm.query(["7_0", "8"]).jobs.items()}
    assert states == {"7_0": "SLURM: RUNNING", "8": "SLURM: TIMEOUT"}
    assert slurm.query(["7_0", "8"]).garbled == ()


def test_a_job_that_an_unreadable_line_may_be_about_is_not_called_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_slurm(tmp_path, monkeypatch, squeue="7_0|RUNNING|None|n1\n9|RUN", sacct="")
    answer = slurm.query(["7_0", "9"])
    assert (set(answer.jobs), answer.garbled) == ({"7_0"}, ("squeue",))


@pytest.mark.parametrize(
    ("text", "jobs"),
    [
        ("5_[4-7%2]", ["5_4", "5_5", "5_6", "5_7"]),
        ("5_[1,3-4]", ["5_1", "5_3", "5_4"]),
        ("5_[0-8:4]", ["5_0", "5_4", "5_8"]),
    ],
)
def test_the_tasks_of_an_array_that_waits_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, jobs: list[str]
) -> None:
    fake_slurm(tmp_path, monkeypatch, squeue=f"{text}|PENDING|Priority|", sacct="")
    assert sorted(slurm.query([*jobs, "5_99"]).jobs) == jobs


def test_a_job_of_an_odd_name_does_not_hide_the_one_that_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_slurm(tmp_path, monkeypatch, squeue="11|a|b\nc d\n12|fsm-x", sacct="")
    assert slurm.named(["fsm-x"]) == {"fsm-x": "12"}
    assert slurm.named(["fsm-y"]) is None  # it may be the one on the odd line


def test_hours_of_other_lines_are_counted_where_one_is_odd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_slurm(tmp_path, monkeypatch, sacct="7+0|?|1\n7|3600|00:30:00")
    assert slurm.usage(["7"]) == {"7": (3600.0, 1800.0)}


def test_commands_that_fail_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_slurm(tmp_path, monkeypatch, squeue=None, sacct=None)
    said = slurm.query(["7"])
    assert said.unanswered == ("squeue", "sacct")
    assert not said.queue_answered


def test_a_command_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_slurm(tmp_path, monkeypatch, squeue=None)
    (tmp_path / "squeue").write_text("#!/bin/sh\nexec sleep 60\n")
    assert slurm.run("squeue", time_limit_s=0.2) is None
