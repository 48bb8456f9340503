"""The commands, as the folder `commands` has them: their names, their groups, their help."""

from __future__ import annotations

import argparse
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from importlib import import_module
from typing import NoReturn

import fsm_hpc
from fsm_hpc.cli import commands
from fsm_hpc.errors import UserError, did_you_mean, shortened
from fsm_hpc.study import config_folders

RUN = "run"  # a fold or a sweep: the default command
AddArguments = Callable[[argparse.ArgumentParser], None]


class Group(Enum):
    """What a person wants."""

    RUN = "Run"
    STEER = "See and steer"
    READ = "Read results"
    TABLES = "Tables"
    MODELS = "Models"


@dataclass(frozen=True, slots=True)
class Command:
    """A command: what it does in a sentence, how it is called, its options and its work."""

    group: Group
    help: str
    call: str  # the arguments of the command
    examples: tuple[str, ...]  # whole lines, without `python -m fsm_hpc`
    main: Callable[[argparse.Namespace, list[str]], int]
    add_arguments: AddArguments = lambda parser: None
    name: str = ""

    def run(self, arguments: list[str]) -> int:
        """Work on the flags and on the other arguments, in whatever order they came."""
        parser = self.parser()
        parser.add_argument("arguments", nargs="*", help=argparse.SUPPRESS)
        flags, unknown = parser.parse_known_intermixed_args(arguments)
        if unknown:
            near = did_you_mean(unknown[0], self.options())
            raise UserError(f"{unknown[0]} is not an option{near}")
        config_folders.use(flags.config_name, flags.config_dir)
        return self.main(flags, list(flags.arguments))

    def options(self, with_value: bool = False) -> list[str]:
        """The options of the command; `with_value`: those that a value follows."""
        actions = self.parser()._actions
        chosen = [one for one in actions if one.nargs != 0 or not with_value]
        return [text for action in chosen for text in action.option_strings]

    def parser(self) -> argparse.ArgumentParser:
        """Its own options, and those of every command: where its configs are."""
        parser = self._empty_parser()
        self.add_arguments(parser)
        group = parser.add_argument_group("configs")
        group.add_argument(
            "--config-dir", "-cd", metavar="FOLDER", help="one more folder with config files"
        )
        group.add_argument(
            "--config-name", "-cn", metavar="NAME", help="the primary config, instead of config"
        )
        return parser

    def _empty_parser(self) -> argparse.ArgumentParser:
        lines = "\n".join(f"  python -m fsm_hpc {example}" for example in self.examples)
        command = "" if self.name == "run" else f" {self.name}"
        return _CommandParser(
            prog=f"python -m fsm_hpc{command}",
            usage=f"%(prog)s {self.call}",
            description=self.help,
            epilog=f"examples:\n{lines}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )


class _CommandParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        super().error(shortened(message))


@cache
def names() -> tuple[str, ...]:
    """Every command."""
    return tuple(module.name for module in pkgutil.iter_modules(commands.__path__))


@cache
def load_command(name: str) -> Command:
    """The command of that name; only its own module is imported."""
    found: Command = import_module(f"{commands.__name__}.{name}").COMMAND
    return replace(found, name=name)


def overview() -> str:
    """What `--help` prints: all commands, by what a person wants."""
    known = sorted((load_command(name) for name in names()), key=lambda one: one.name != "run")
    parts = [
        f"fsm_hpc {fsm_hpc.__version__}: short Boolean formulas that classify a table, proved "
        "optimal for their length\n",
        "python -m fsm_hpc [COMMAND] key=value ...      python -m fsm_hpc COMMAND --help\n",
        "without a command: -m submits a sweep, --cfg job shows the config, --version\n",
        'completion in the shell: eval "$(fsm-hpc -sc install=bash)"\n',
    ]
    for group in Group:
        parts.append(f"\n{group.value}\n")
        for one in known:
            if one.group is group:
                name = "(no command)" if one.name == "run" else one.name
                parts.append(f"  {name:<13} {one.help}\n")
                parts.append(f"  {'':<13}   python -m fsm_hpc {one.examples[0]}\n")
    return "".join(parts)
