"""Every command is there, helps, and shows examples that work."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from fsm_hpc.cli import commands, usage
from fsm_hpc.cli.commands import fit
from fsm_hpc.cli.main import main
from fsm_hpc.cli.usage import Command, Group
from fsm_hpc.cluster.watch import selection
from fsm_hpc.study.compose import compose, compose_any, expand
from fsm_hpc.study.config_folders import names_in

MODULES = sorted(path.stem for path in Path(commands.__file__).parent.glob("[!_]*.py"))
by_command = pytest.mark.parametrize("name", MODULES)
EXAMPLES = [(name, example) for name in MODULES for example in usage.load_command(name).examples]


def options_of(command: Command) -> list[str]:
    return [name for option in command.options for name in option.names]


def helped(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What `COMMAND --help` prints."""
    with pytest.raises(SystemExit) as ended:
        usage.load_command(name).run(["--help"])
    assert ended.value.code in (0, None)
    return capsys.readouterr().out


# ------------------------------------------------------------------------------------------- names


@by_command
def test_a_module_of_the_folder_is_a_command(name: str) -> None:
    assert isinstance(import_module(f"{commands.__name__}.{name}").COMMAND, Command)
    assert usage.load_command(name).name == name


def test_the_commands_are_the_modules_of_the_folder() -> None:
    assert sorted(usage.names()) == MODULES


# -------------------------------------------------------------------------------------------- help


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_help_names_every_command_in_its_group(
    word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([word]) == 0
    said = capsys.readouterr().out
    titles = "|".join(group.value for group in Group)
    parts = re.split(rf"^({titles})$", said, flags=re.MULTILINE)[1:]
    found = {
        title: set(re.findall(r"^  (\S+|\(no command\))  .*\S$", text, re.MULTILINE))
        for title, text in zip(parts[::2], parts[1::2], strict=True)
    }
    called = {name: "(no command)" if name == "run" else name for name in MODULES}
    assert found == {
        group.value: {called[name] for name in MODULES if usage.load_command(name).group is group}
        for group in Group
    }


@by_command
def test_help_shows_what_a_command_does_and_an_example(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    command = usage.load_command(name)
    assert command.help in said
    assert f"python -m fsm_hpc {command.examples[0]}\n" in said


@by_command
def test_a_commands_help_shows_its_options_and_its_examples(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said, command = helped(name, capsys), usage.load_command(name)
    assert command.help in said
    assert [option for option in options_of(command) if option not in said] == []
    assert command.examples
    assert all(f"  python -m fsm_hpc {example}\n" in said for example in command.examples)


@by_command
def test_a_command_has_the_options_that_its_usage_names(name: str) -> None:
    command = usage.load_command(name)
    named = re.findall(r"(?<!\w)--?[a-z]+(?:-[a-z]+)*", command.call)
    assert [option for option in named if option not in options_of(command)] == []


# ---------------------------------------------------------------------------------------- examples


def understand(name: str, flags: argparse.Namespace, words: Sequence[str]) -> None:
    """Read the words as the command does, without doing its work."""
    if name in ("run", "plan"):
        several = name == "plan" or flags.multirun
        assert expand(words) if several else [compose(words)]
    elif name == "doctor":
        compose_any(words)
    elif name == "datasets":
        assert not words or (words[0] in ("show", "fetch") and words[1] in names_in("dataset"))
    elif name in ("explain", "alternatives") or (name == "verify" and "=" not in words[0]):
        assert re.fullmatch(r"results/\w+/\w+/\w+/fold-\d+|\w+/model\.json", words[0])
    elif name == "fit":
        told = fit.as_settings([w for w in words if not w.startswith("labels=")], flags.target)
        compose(told)
    elif name in ("predict", "export"):
        assert words[0].endswith("model.json")
        assert len(words) == (2 if name == "predict" else 1)
    elif name == "compile":
        assert not words
    elif name == "init":
        assert words == ["my_study"]
    else:
        _understand_selection(name, words)


def _understand_selection(name: str, words: Sequence[str]) -> None:
    asked = selection.sort(words)
    chosen = dict(word.split("=", 1) for word in words)
    assert asked.study.parts[0] == chosen.get("out", "results")
    for word in (word for key, word in asked.filters.items() if key in ("dataset", "method")):
        assert any(word.names(choice) for choice in names_in(word.key)), word.text
    changes = [word.text for word in asked.others]
    if name == "resume":
        compose_any(changes)
    else:
        assert changes == []


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[text for _, text in EXAMPLES])
def test_an_example_finds_its_command_and_its_words_are_understood(
    name: str, example: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[tuple[str, argparse.Namespace, list[str]]] = []
    real = usage.load_command

    def recording(called: str) -> Command:
        def note(flags: argparse.Namespace, words: list[str]) -> int:
            found.append((called, flags, words))
            return 0

        return replace(real(called), main=note)

    monkeypatch.setattr(usage, "load_command", recording)
    assert main(shlex.split(example)) == 0
    ((called, flags, words),) = found
    assert called == name
    understand(name, flags, words)


# -------------------------------------------------------------------------------- in whatever order


@pytest.mark.parametrize(
    "words",
    [
        ["status", "--json", "study=paper", "fold=0"],
        ["--json", "status", "study=paper", "fold=0"],
        ["study=paper", "status", "fold=0", "--json"],
        ["study=paper", "fold=0", "--json", "status"],
    ],
)
def test_a_command_stands_anywhere_among_the_words(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[tuple[bool, list[str]]] = []

    def note(flags: argparse.Namespace, rest: list[str]) -> int:
        found.append((flags.json, rest))
        return 0

    status = replace(usage.load_command("status"), main=note)
    monkeypatch.setattr(usage, "load_command", lambda name: {"status": status}[name])
    assert main(words) == 0
    assert found == [(True, ["study=paper", "fold=0"])]
