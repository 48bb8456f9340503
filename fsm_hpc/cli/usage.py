"""The commands, one module each in the folder `commands`: their names, groups and help."""

from __future__ import annotations

import argparse
import pkgutil
import shutil
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Any, NoReturn

import fsm_hpc
from fsm_hpc.cli import commands
from fsm_hpc.errors import UserError, did_you_mean, shortened
from fsm_hpc.study import config_folders

RUN = "run"  # the default command: a fold or a sweep
PROGRAM = "python -m fsm_hpc"
CTRL_C = 130  # exit code, as in shells
NAME_COLUMNS = 24  # of the names of options and settings in a help text

# Settings that select the folds of a study.
SELECTION = {
    "study=NAME": "the study (default: default)",
    "results_dir=FOLDER": "the folder of all studies (default: results)",
    "dataset=NAME[,NAME]": "only these datasets",
    "method=NAME[,NAME]": "only these methods",
    "fold=K[,K]": "only these folds; range(0,5) selects the folds 0 to 4",
}
# Options of Hydra without a counterpart here, and what to use instead.
HYDRA_OPTIONS = {
    **dict.fromkeys(
        ("--config-path", "-cp"),
        "--config-dir FOLDER adds a folder, --config-name NAME selects the primary config",
    ),
    "--hydra-help": "--help lists the options of a command, --info shows how a config is composed",
    "--experimental-rerun": "`resume` continues folds that have started",
}


class Group(Enum):
    """The headings of the list of commands."""

    MODELS = "Rules for a table"
    RUN = "Run a study"
    MONITOR = "Monitor and control jobs"
    RESULTS = "Results"
    SETUP = "Datasets and installation"


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a command, and how argparse parses it."""

    names: tuple[str, ...]
    parsing: Mapping[str, Any]


def option(form: str, help: str, **parsing: Any) -> Option:
    """An option with its value, such as `--out -o FILE`; without a value it is a flag."""
    names = tuple(text for text in form.split() if text.startswith("-"))
    for value in (text for text in form.split() if text not in names):
        parsing["metavar"] = value
    if not parsing.keys() & {"metavar", "choices", "action"}:
        parsing["action"] = "store_true"
    return Option(names, parsing | {"help": help})


@dataclass(frozen=True, slots=True)
class Command:
    """A command: one sentence about it, its arguments, its options and its function."""

    group: Group
    help: str
    call: str  # the arguments after its name
    examples: tuple[str, ...]  # whole lines, without `python -m fsm_hpc`
    main: Callable[[argparse.Namespace, list[str]], int]
    options: tuple[Option, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)  # `key=VALUE` and its help
    name: str = ""

    def run(self, arguments: list[str]) -> int:
        """Parse the options and the other arguments, in any order, and run the command."""
        for option in (argument.partition("=")[0] for argument in arguments):
            if option in HYDRA_OPTIONS:
                raise UserError(f"{option} is not an option: {HYDRA_OPTIONS[option]}")
        parser = self.parser()
        parser.add_argument("arguments", nargs="*", help=argparse.SUPPRESS)
        flags, unknown = parser.parse_known_intermixed_args(arguments)
        if unknown:
            near = did_you_mean(unknown[0], self.option_names())
            raise UserError(f"{unknown[0]} is not an option{near}")
        config_folders.use(flags.config_name, flags.config_dir)
        return self.main(flags, list(flags.arguments))

    def option_names(self, with_value: bool = False) -> list[str]:
        """The options of the command; `with_value`: only those that take a value."""
        actions = self.parser()._actions
        chosen = [action for action in actions if action.nargs != 0 or not with_value]
        return [text for action in chosen for text in action.option_strings]

    def parser(self) -> argparse.ArgumentParser:
        """The options of this command and those that every command has."""
        command = PROGRAM if self.name == RUN else f"{PROGRAM} {self.name}"
        settings = "".join(_row(key, text) for key, text in self.settings.items())
        examples = "".join(f"  {PROGRAM} {example}\n" for example in self.examples)
        parser = _ArgumentParser(
            prog=command,
            usage=textwrap.fill(
                f"usage: {command} {self.call}", _width(), subsequent_indent=" " * 7
            )[7:],
            description=self.help,
            epilog=(f"settings:\n{settings}\n" if settings else "") + f"examples:\n{examples}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        for option in (*self.options, *CONFIG_FILES):
            parser.add_argument(*option.names, **option.parsing)
        return parser


CONFIG_FILES = (
    option("--config-dir -cd FOLDER", "additional config folder"),
    option("--config-name -cn NAME", "primary config (default: config)"),
)


class _ArgumentParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        super().error(shortened(message))


def _width() -> int:
    return shutil.get_terminal_size().columns - 2


def _row(name: str, text: str) -> str:
    """A name and its help, aligned like the options."""
    indent = " " * NAME_COLUMNS
    lines = textwrap.fill(text, max(20, _width()), initial_indent=indent, subsequent_indent=indent)
    gap = f"\n{indent}" if len(name) > NAME_COLUMNS - 4 else " " * (NAME_COLUMNS - 2 - len(name))
    return f"  {name}{gap}{lines.lstrip()}\n"


@cache
def names() -> tuple[str, ...]:
    """The names of all commands."""
    return tuple(module.name for module in pkgutil.iter_modules(commands.__path__))


@cache
def load_command(name: str) -> Command:
    """The command of that name; imports its module only."""
    command: Command = import_module(f"{commands.__name__}.{name}").COMMAND
    return replace(command, name=name)


def overview() -> str:
    """The text of `--help`: all commands by group, each with an example."""
    parts = [
        f"fsm_hpc {fsm_hpc.__version__}: short, provably optimal Boolean rules for tabular data\n",
        f"\nusage: {PROGRAM} [COMMAND] [key=value ...] [options]\n",
        f"       {PROGRAM} COMMAND --help\n",
        f"       {PROGRAM} --version\n",
        '\nShell completion: eval "$(fsm-hpc -sc install=bash)"\n',
    ]
    known = [load_command(name) for name in (RUN, *(name for name in names() if name != RUN))]
    for group in Group:
        parts.append(f"\n{group.value}\n")
        for command in (command for command in known if command.group is group):
            name = "(no command)" if command.name == RUN else command.name
            parts.append(f"  {name:<13} {command.help}\n")
            parts.append(f"  {'':<13}   {PROGRAM} {command.examples[0]}\n")
    return "".join(parts)
