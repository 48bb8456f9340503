"""The shell blocks of README and docs run as they are written, and print what the pages show."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from scripts import page_figures, prose, summary_picture
from scripts.page_commands import ROOT, Session, blocks, differences
from slurm.settings import Settings
from tests.cluster.slurm.conftest import cluster  # noqa: F401
from tests.support.site import Site

TUTORIAL = ROOT / "docs" / "tutorials" / "own-table.md"
CLUSTER_TUTORIAL = ROOT / "docs" / "tutorials" / "cluster-study.md"
ALONE = {ROOT / "README.md", TUTORIAL, CLUSTER_TUTORIAL}  # need no files of another page
OTHERS = [
    page for page in prose.pages() if page not in ALONE and any(b.is_run for b in blocks(page))
]
RULE = "fsm-hpc fit my.csv --target label fit.folds=0 scan.max_length=3 out=my_rule"
STUDY = "fsm-hpc dataset=hepatitis method=median,pivot folds=2 scan.max_length=3 -m"


def test_the_quick_start_prints_what_the_readme_shows_and_its_picture_is_current(
    tmp_path: Path,
) -> None:
    found = differences(ROOT / "README.md", Session(tmp_path))
    assert not found, "python -m scripts.page_commands --write README.md"
    shown = summary_picture.digest(tmp_path / "my_rule" / "model.html")
    assert shown == summary_picture.stored_digest(), "python -m scripts.summary_picture"


def test_the_tutorial_for_ones_own_table_runs_as_written(tmp_path: Path) -> None:
    found = differences(TUTORIAL, Session(tmp_path))
    assert not found, f"python -m scripts.page_commands --write {TUTORIAL.relative_to(ROOT)}"
    assert (tmp_path / "my_rule" / "model.html").is_file()
    header = (tmp_path / "predictions.csv").read_text().splitlines()[0]
    assert header.endswith(",prediction,training_precision")


@pytest.mark.slow
def test_the_tutorial_for_a_cluster_runs_as_written_without_one(tmp_path: Path) -> None:
    assert not differences(CLUSTER_TUTORIAL, Session(tmp_path))
    assert len(list(tmp_path.rglob("result.json"))) == 20


@pytest.mark.slow
@pytest.mark.slurm
def test_the_tutorial_for_a_cluster_runs_as_written_on_slurm(
    cluster: Settings,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in Site(cluster, tmp_path).environment.items():
        monkeypatch.setenv(name, value)
    assert not differences(CLUSTER_TUTORIAL, Session(tmp_path, has_slurm=True))
    assert len(list(tmp_path.rglob("result.json"))) == 20


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the table and a rule of the tutorial, and a small study."""
    folder = tmp_path_factory.mktemp("prepared")
    session = Session(folder)
    session.run(next(block.text for block in blocks(TUTORIAL) if block.is_run))
    session.run(RULE)
    session.run(STUDY)
    shutil.rmtree(session.programs)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("page", OTHERS, ids=lambda page: page.stem)
def test_a_page_runs_as_written(page: Path, prepared: Path, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    shutil.copytree(prepared, folder, symlinks=True)
    assert not differences(page, Session(folder))


def test_a_block_that_is_not_run_gives_a_reason() -> None:
    skipped = [b for page in prose.pages() for b in blocks(page) if b.comment.startswith("not run")]
    assert all(len(block.comment) > len("not run: ") + 5 for block in skipped)
    assert len(skipped) <= 13  # a further one needs a good reason


def test_every_measurement_names_its_command_commit_and_modules_in_the_page() -> None:
    measurements = list(page_figures.measurements())
    assert len(measurements) > 15
    for entry in measurements:
        text = page_figures._FRONT_MATTER.sub("", entry.page.read_text(encoding="utf-8"))
        assert entry.command in text, f"{entry.page.name}: {entry.command}"
        assert entry.commit in text, f"{entry.page.name}: {entry.commit}"
        assert re.fullmatch("[0-9a-f]{7,40}", entry.commit)
        advice = f"python -m scripts.page_figures --write {entry.page.name}"
        assert re.fullmatch("[0-9a-f]{12}", entry.digest), advice
        missing = [name for name in entry.modules if not (ROOT / name).exists()]
        assert not missing, f"{entry.page.name}: name the modules that replace {missing}"


def test_a_measurement_of_changed_or_removed_code_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module, page = tmp_path / "module.py", tmp_path / "page.md"
    module.write_text("x = 1\n")
    monkeypatch.setattr(page_figures, "ROOT", tmp_path)
    monkeypatch.setattr(page_figures, "pages", lambda: [page])
    digest = page_figures.current_digest(["module.py"])
    entry = "{command: measure, commit: 0123abc, modules: [module.py], digest: '%s'}"
    page.write_text(f"---\nfigures:\n  - {entry % digest}\n---\n")

    def report() -> str:
        assert page_figures.main([]) == 0
        return capsys.readouterr().out

    assert report() == ""
    module.write_text("x = 1  # reworded\n")
    assert report() == ""
    module.write_text("x = 2\n")
    assert report() == "page.md: measure (0123abc): the code changed\n"
    module.unlink()
    assert report() == "page.md: measure (0123abc): module.py was removed\n"


def test_a_digest_ignores_comments_and_docstrings() -> None:
    code = b'"""One."""\n# a comment\ndef f(x):\n    """Two."""\n    return x + 1\n'
    reworded = b'"""Three."""\ndef f(x):\n    """Four."""\n    # another\n    return x + 1\n'
    changed = code.replace(b"x + 1", b"x + 2")
    first, second, third = (page_figures._code("f.py", text) for text in (code, reworded, changed))
    assert first == second != third
