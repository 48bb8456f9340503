"""Names, paths and messages come out as they are, in every command and with the same quoting."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fsm_hpc.cluster.submit import resume
from fsm_hpc.study.compose import compose, show
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.override_syntax import quoted
from fsm_hpc.study.overrides import Override
from fsm_hpc.system.terminal import PlainConsole, visible
from tests.support.command_line import said
from tests.support.made_studies import fold_result, put
from tests.support.screens import said as written
from tests.support.screens import screen

ROOT = Path(__file__).parents[2]
NAMES = (
    "a[red]b[x]",
    "[]",
    "[bold",
    ":warning:",
    "a ${b} c",
    "${oc.env:HOME}",
    "${",
    'say "hi"',
    "it's",
    "a,b=c(d)",
    "back\\slash",
    "tab\tand\x07bell",
    "µ名é",
    os.fsdecode(b"caf\xe9"),
    "%d {0} $x",
)


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_study_of_any_name_is_seen_collected_and_reported(tmp_path: Path, name: str) -> None:
    study = StudyPaths(tmp_path / name)
    put(study, fold_result(name, "pivot", 0, target=name), fold_result("bank", "pivot", 1))
    words = [f"results_dir={quoted(str(tmp_path))}", f"study={quoted(name)}"]
    code, printed = said("status", *words)
    assert code == 0
    assert os.fsencode(visible(name)) in printed
    code, printed = said("status", "--json", *words)
    assert {one["dataset"] for one in json.loads(printed)} == {name, "bank"}
    code, printed = said("collect", *words)
    assert code == 0
    assert os.fsencode(name) in printed
    assert said("report", *words)[0] == 0
    assert study.report.exists()
    assert said("logs", *words, f"dataset={quoted(name)}")[0] == 0


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_every_way_to_read_a_word_reads_the_same(name: str) -> None:
    word = f"study={quoted(name)}"
    fold = ["dataset=hepatitis", "method=pivot", "fold=0"]
    assert compose([*fold, word]).study == name
    assert Override(word).value == name
    assert show([*fold, word])


@pytest.mark.parametrize("command", ["status", "collect", "cancel", "resume"])
def test_interpolation_in_a_command_that_composes_nothing_is_refused_with_advice(
    command: str,
) -> None:
    code, printed = said(command, "study=${dataset.name}")
    assert code == 2
    assert b'write plain text as study="\\${dataset.name}"' in printed


def test_the_advice_on_quoting_can_be_followed(tmp_path: Path) -> None:
    code, printed = said("status", 'study=it\'s "my" [own]', f"results_dir={tmp_path}")
    advice = printed.decode().partition("needs quotes: ")[2].strip()
    done = subprocess.run(["sh", "-c", f"printf %s {advice}"], capture_output=True, text=True)
    assert (code, Override(done.stdout).value) == (2, 'it\'s "my" [own]')


def test_a_message_cannot_steer_the_terminal() -> None:
    console = screen(is_terminal=True)
    assert isinstance(console, PlainConsole)
    console.print("a\x1b[2Jb [red]c[/red] :warning:")
    assert "a\\x1b[2Jb [red]c[/red] :warning:" in written(console)


def test_no_module_reads_markup() -> None:
    for path in (ROOT / "fsm_hpc").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "rich.markup" not in text, path
        assert "from_markup" not in text, path
        assert re.search(r"(?<!Plain)Console\(", text) is None or path.name == "terminal.py", path


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_of_any_encoding_is_no_reason_to_fail(tmp_path: Path, encoding: str) -> None:
    study = StudyPaths(tmp_path / "µ名é")
    put(study, fold_result("µ名é", "pivot", 0))
    words = [f"results_dir={tmp_path}", 'study="µ名é"']
    done = subprocess.run(
        [sys.executable, "-m", "fsm_hpc", "status", *words],
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONPATH": str(ROOT)},
        capture_output=True,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"1 fold: 1 done" in done.stdout


def test_resume_keeps_a_path_with_dollars_and_brackets(tmp_path: Path) -> None:
    from fsm_hpc.cluster import submissions
    from fsm_hpc.study.fold import fold_paths

    table = tmp_path / "my ${x} [t].csv"
    table.write_text("a,b,label\n" + "1,2,yes\n3,4,no\n5,1,yes\n2,2,no\n" * 10)
    words = [f"results_dir={tmp_path}", f"dataset.path={quoted(str(table))}"]
    own = ["dataset=csv", "dataset.target=label", "dataset.name=mine", "method=median", "fold=0"]
    config = compose([*own, *words])
    submissions.save(fold_paths(config), submissions.new_submission(config, "local"))
    (found,) = resume.configs([f"results_dir={tmp_path}", "scan.budget_h=1"]).configs
    assert found.dataset.path == str(table)


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everything")
def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    study = StudyPaths(tmp_path / "mine")
    put(study, fold_result("bank", "pivot", 0))
    study.root.chmod(0o500)
    code, printed = said("collect", f"results_dir={tmp_path}", "study=mine")
    study.root.chmod(0o700)
    assert (code, b"folds.csv: Permission denied" in printed) == (2, True)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    study = StudyPaths(tmp_path / "mine")
    put(study, fold_result("bank", "pivot", 0))
    study.folds_csv.mkdir()
    code, printed = said("collect", f"results_dir={tmp_path}", "study=mine")
    assert (code, printed.decode()) == (2, f"fsm_hpc: {study.folds_csv}: Is a directory\n")
    shutil.rmtree(study.folds_csv)
