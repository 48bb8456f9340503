"""Every command in the documents is one that the product understands."""

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

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def _commands() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        for block in re.findall(r"^```\w*\n(.*?)^```", page.read_text(), re.M | re.S):
            for line in block.splitlines():
                beside = r"\s+#\s.*$" if " # " in line else r"\s{2,}\S.*$"
                text = re.sub(beside, "", line.strip().removeprefix("$ "))
                if text.startswith(("python -m ", "make ")):
                    found.append((page.name, text))
    return found


COMMANDS = _commands()


def test_the_documents_show_commands() -> None:
    assert len(COMMANDS) > 20


@pytest.mark.parametrize(
    ("page", "text"), [c for c in COMMANDS if c[1].startswith("python -m fsm_hpc")]
)
def test_a_command_of_the_product_is_understood(
    page: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = shlex.split(text)[3:]
    command = words[0] if words and words[0] in usage.names() else "run"
    overrides = [word for word in words if "=" in word and not word.startswith("-")]
    flags = [word for word in words if word.startswith("-")]
    with pytest.raises(SystemExit) as ended:
        usage.load_command(command).run(["--help"])
    assert ended.value.code in (0, None)
    described = capsys.readouterr().out
    assert all(flag in described for flag in flags), f"{page}: {text}: unknown flag"
    if command == "run" and "-m" not in flags:
        compose(overrides)
    elif command == "alternatives":  # which has words of its own
        keys.check(overrides, alternatives.OWN)
    elif command == "run" or (overrides and selection.sort(overrides).name_a_sweep):
        expand(overrides)


@pytest.mark.parametrize(
    ("page", "text"), [c for c in COMMANDS if not c[1].startswith("python -m fsm_hpc")]
)
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
