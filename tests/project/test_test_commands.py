"""What `make test` and `make test-full` run, and that a failure of any part is one of the whole."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest
from hypothesis import settings

from scripts import other_pythons, run_full_tests, run_tests
from scripts.run_full_tests import Part

ROOT = Path(__file__).parents[2]


def commands(*words: str) -> str:
    """What make would run."""
    inherited = ("SYSTEM_PACKAGES", "MAKEFLAGS", "MAKEOVERRIDES")  # of a make that runs the tests
    own = {name: value for name, value in os.environ.items() if name not in inherited}
    done = subprocess.run(
        ["make", "-n", *words], cwd=ROOT, env=own, check=True, capture_output=True, text=True
    )
    return done.stdout


@pytest.mark.parametrize("target", ["test", "test-full"])
def test_system_packages_are_installed_only_where_asked(target: str) -> None:
    assert "scripts.system_packages" in commands(target)
    assert "--install" not in commands(target)
    assert "scripts.system_packages --install" in commands(target, "SYSTEM_PACKAGES=1")


def test_ci_installs_them() -> None:
    assert "make test SYSTEM_PACKAGES=1" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_examples_are_the_same_in_every_run_but_for_the_full_one() -> None:
    assert settings.get_profile("ci").derandomize
    assert not settings.get_profile("full").derandomize


@pytest.mark.parametrize("failing", [run_tests.SLURM, run_tests.OTHERS])
def test_either_part_that_fails_fails_the_tests(
    failing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def start(marker: str, *options: str, output: IO[str] | None = None) -> subprocess.Popen[str]:
        code = f"print('1 passed'); raise SystemExit({int(marker == failing)})"
        return subprocess.Popen([sys.executable, "-c", code], stdout=output, text=True)

    monkeypatch.setattr(run_tests, "_start", start)
    assert run_tests.main() == 1
    assert "1 passed" in capsys.readouterr().out


def test_the_full_run_has_every_test() -> None:
    parts = {part.name: " ".join(part.options) for part in run_full_tests.parts(7)}
    for path in (ROOT / "tests").glob("*/test_*.py"):
        assert f"tests/{path.parent.name}" in parts[path.parent.name]
        assert "-m not slurm" in parts[path.parent.name]  # and so the slow ones
        assert "--hypothesis-seed=7" in parts[path.parent.name]
    assert "-m slurm" in parts["slurm"]


def test_a_part_that_has_passed_is_not_run_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = Part("platform", "platform")  # a module that prints something and succeeds
    assert run_full_tests._run(part, tmp_path)
    assert "passed in" in capsys.readouterr().out
    assert part.log(tmp_path).read_text(encoding="utf-8")
    assert run_full_tests._run(part, tmp_path)
    assert "passed earlier" in capsys.readouterr().out


def test_a_part_that_fails_is_run_again(tmp_path: Path) -> None:
    part = Part("missing", "no_such_module")
    assert not run_full_tests._run(part, tmp_path)
    assert not part.passed(tmp_path).exists()


def test_this_python_is_among_those_of_the_machine() -> None:
    assert sys.version_info[:2] in other_pythons.pythons()


def test_one_python_alone_is_skipped_with_a_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(other_pythons, "pythons", lambda: {(3, 11): sys.executable})
    assert other_pythons.main() == 0
    assert "SKIPPED: expected at least two versions" in capsys.readouterr().out
