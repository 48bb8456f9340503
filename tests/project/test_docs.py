"""The pages name commands, files and anchors that exist, in short sentences and lines."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path

import pytest

from fsm_hpc.cli import usage
from fsm_hpc.cli.commands import alternatives
from fsm_hpc.cluster.watch import selection
from fsm_hpc.study import keys
from fsm_hpc.study.compose import compose, expand
from scripts import prose, reference

ROOT = Path(__file__).parents[2]
PAGES = prose.pages()
# two pages with another author
UNCHECKED = {"peers.md", "more.md"}
INCLUDES = {"index.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"}  # of docs/
OWN_ARGUMENTS = {"alternatives": alternatives.OWN, "fit": ("labels", "choose")}
PRODUCT = ("python -m fsm_hpc ", "fsm-hpc ")


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def _commands() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        for block in re.findall(r"^```\w*\n(.*?)^```", page.read_text(), re.M | re.S):
            for line in block.splitlines():
                beside = r"\s+#\s.*$" if " # " in line else r"\s{2,}\S.*$"
                text = re.sub(beside, "", line.strip().removeprefix("$ "))
                if text.startswith((*PRODUCT, "python -m ", "make ")):
                    found.append((_name(page), text))
    return found


COMMANDS = _commands()
OF_THE_PRODUCT = [one for one in COMMANDS if one[1].startswith(PRODUCT)]
OTHERS = [one for one in COMMANDS if not one[1].startswith(PRODUCT)]
every_page = pytest.mark.parametrize("page", PAGES, ids=_name)


def test_the_documents_show_commands() -> None:
    assert len(OF_THE_PRODUCT) > 50
    assert len(OTHERS) > 10


@pytest.mark.parametrize(("page", "text"), OF_THE_PRODUCT)
def test_a_command_of_the_product_is_understood(
    page: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if any(mark in text for mark in (" [", "...", "|", "NAME")):
        return  # a synopsis
    arguments = shlex.split(text)[1 if text.startswith("fsm-hpc") else 3 :]
    arguments = arguments[: arguments.index(">")] if ">" in arguments else arguments
    name = arguments[0] if arguments and arguments[0] in usage.names() else "run"
    overrides = [word for word in arguments if "=" in word and not word.startswith("-")]
    flags = [word for word in arguments if word.startswith("-")]
    with pytest.raises(SystemExit) as ended:
        usage.load_command(name).run(["--help"])
    assert ended.value.code in (0, None)
    described = capsys.readouterr().out
    assert all(flag in described for flag in flags), f"{page}: {text}: unknown flag"
    if name == "run" and "-m" not in flags:
        compose(overrides)
    elif name in OWN_ARGUMENTS:
        keys.check(overrides, OWN_ARGUMENTS[name])
    elif name == "run" or (overrides and selection.sort(overrides).name_a_sweep):
        expand(overrides)


@pytest.mark.parametrize(("page", "text"), OTHERS)
def test_other_commands_name_what_is_there(page: str, text: str) -> None:
    words = shlex.split(text)
    if words[0] == "make":
        rules = "".join(
            path.read_text() for path in (ROOT / "Makefile", ROOT / "slurm" / "targets.mk")
        )
        target = next(word for word in words[1:] if not word.startswith("-"))
        assert re.search(rf"^{re.escape(target)}:", rules, re.M), f"{page}: {text}"
    else:
        assert importlib.util.find_spec(words[2]) is not None, f"{page}: {text}"


def _anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MyST derive them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    plain = [re.sub(r"[^\w\- ]", "", title.lower()) for title in titles]
    return {title.strip().replace(" ", "-") for title in plain}


@every_page
def test_links_between_pages_lead_to_a_page_and_a_heading(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text):
        path = (page.parent / target).resolve() if target else page
        if path.parent == ROOT / "docs" and path.name in INCLUDES - {"index.md"}:
            path = ROOT / path.name
        assert path.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in _anchors(path), f"{page.name} links to {target}#{anchor}"


@every_page
def test_a_page_has_one_title(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    count = len(re.findall(r"^# ", text, re.M))
    assert count == (0 if page.parent == ROOT / "docs" and page.name in INCLUDES else 1)


@every_page
def test_sentences_and_lines_are_short(page: Path) -> None:
    if page.name in UNCHECKED or page.name in INCLUDES - {"CONTRIBUTING.md", "SECURITY.md"}:
        return
    text = page.read_text(encoding="utf-8")
    assert not prose.long_sentences(text)
    assert not prose.long_lines(text)


def test_the_generated_reference_is_current() -> None:
    assert not reference.outdated(), "python -m scripts.reference --write"
