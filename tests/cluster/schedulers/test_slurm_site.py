"""What a site allows, from what SLURM's commands say, held against a job."""

from __future__ import annotations

from pathlib import Path

import pytest

from fsm_hpc.cluster.schedulers import slurm_site as limits
from fsm_hpc.cluster.schedulers.base import Grade
from tests.support.slurm_stand_ins import fake_slurm, some_config

NODES = "short|16|64000|2:00:00\nlong*|32|128000|7-00:00:00\nlong*|64|512000+|7-00:00:00"


@pytest.fixture(autouse=True)
def _slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = "SlurmctldHost = n0\nMaxArraySize            = 1001\nMaxJobCount = 10000"
    fake_slurm(tmp_path, monkeypatch, sacct="7\n8", scontrol=config, sinfo=NODES)


def test_accounting_that_answers_is_ok() -> None:
    check = limits.accounting()
    assert (check.name, check.grade, check.text) == ("sacct", Grade.OK, "answers")


def test_accounting_that_is_silent_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_slurm(tmp_path, monkeypatch, sacct=None)
    check = limits.accounting()
    assert check.grade is Grade.WARNING
    assert "known from files only" in check.text


def test_the_size_of_arrays_is_the_sites() -> None:
    check = limits.arrays(some_config(max_parallel=50))
    assert (check.name, check.grade) == ("arrays", Grade.OK)
    assert check.text == "up to 1001 jobs each, 50 at a time"


def test_a_site_that_is_silent_about_arrays_has_slurms_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_slurm(tmp_path, monkeypatch, scontrol=None)
    assert limits.arrays(some_config()).text.startswith("up to 1000 jobs each")


def test_a_site_without_arrays_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_slurm(tmp_path, monkeypatch, scontrol="MaxArraySize = 0")
    assert limits.arrays(some_config()).grade is Grade.WARNING


def test_without_a_name_the_default_partition_is_looked_at() -> None:
    check = limits.partition(some_config(cpus=64, mem_gb=400.0, timeout_h=168.0))
    assert (check.name, check.grade) == ("partition", Grade.OK)
    assert check.text == "long: nodes of 64 cores, 500 GB, limit 168 h"


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"cpus": 99}, "long: cores: 99 requested, at most 64 available"),
        ({"mem_gb": 1024.0}, "long: memory in GB: 1024 requested, at most 500 available"),
        ({"timeout_h": 169.0}, "long: hours: 169 requested, at most 168 available"),
        (
            {"cpus": 99, "timeout_h": 200.0},
            "long: cores: 99 requested, at most 64 available; "
            "hours: 200 requested, at most 168 available",
        ),
    ],
)
def test_what_no_node_of_the_partition_has_is_named(asked: dict[str, float], told: str) -> None:
    check = limits.partition(some_config(**asked))
    assert (check.grade, check.text) == (Grade.FAILED, told)


def test_a_partition_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_slurm(tmp_path, monkeypatch, sinfo=None)
    check = limits.partition(some_config(partition="nowhere"))
    assert (check.grade, check.text) == (Grade.FAILED, "partition nowhere does not exist")


def test_a_named_partition_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_slurm(tmp_path, monkeypatch, sinfo="")
    script = f'#!/bin/sh\necho "$@" > {tmp_path}/asked\necho "gpu|8|65536|infinite"\n'
    (tmp_path / "sinfo").write_text(script)
    check = limits.partition(some_config(partition="gpu"))
    assert (check.grade, check.text) == (Grade.OK, "gpu: nodes of 8 cores, 64 GB, limit inf h")
    assert (tmp_path / "asked").read_text().split()[:3] == ["-h", "-p", "gpu"]


@pytest.mark.parametrize(
    ("asked", "grade", "told"),
    [
        ("short,long", Grade.OK, "short: nodes of 16 cores, 62 GB, limit 2 h; or long: nodes of"),
        ("short,lnog", Grade.FAILED, "partition lnog does not exist"),
    ],
)
def test_every_partition_of_a_list_is_looked_at(asked: str, grade: Grade, told: str) -> None:
    check = limits.partition(some_config(partition=asked, cpus=1, mem_gb=1.0, timeout_h=1.0))
    assert check.grade is grade
    assert check.text.startswith(told)


def test_a_partition_of_a_list_that_cannot_hold_the_job_is_a_warning() -> None:
    check = limits.partition(
        some_config(partition="short,long", cpus=32, mem_gb=1.0, timeout_h=1.0)
    )
    assert check.grade is Grade.WARNING
    expected = "short: cores: 32 requested, at most 16 available; or long: nodes of 64"
    assert check.text.startswith(expected)


@pytest.mark.parametrize(
    ("limit", "hours"),
    [
        ("infinite", float("inf")),
        ("UNLIMITED", float("inf")),
        ("30:00", 0.5),
        ("2:00:00", 2.0),
        ("1-00:00:00", 24.0),
        ("7-12", 180.0),
        ("1-12:30", 36.5),
        ("1-00:00:36", 24.01),
    ],
)
def test_a_time_limit_is_read_in_hours(limit: str, hours: float) -> None:
    assert limits._hours(limit) == pytest.approx(hours)
