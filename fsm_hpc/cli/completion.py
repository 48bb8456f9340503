"""Shell completion of commands, options, settings and their values."""

from __future__ import annotations

import os
import typing
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from fsm_hpc.cli import usage
from fsm_hpc.errors import UserError

PROGRAM = "fsm-hpc"
_BASH = """_fsm_hpc() {
  local IFS=$'\\n'
  COMPREPLY=($(COMP_LINE="$COMP_LINE" COMP_POINT="$COMP_POINT" "$1" -sc query=bash 2>/dev/null))
}
complete -o nospace -o default -F _fsm_hpc fsm-hpc
"""
_ZSH = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"
_FISH = """complete -c fsm-hpc -f -a '(COMP_LINE=(commandline -cp) fsm-hpc -sc query=fish)'
"""
INSTALL = {"bash": _BASH, "zsh": _ZSH + _BASH, "fish": _FISH}
UNINSTALL = {
    "bash": "complete -r fsm-hpc; unset -f _fsm_hpc\n",
    "zsh": "complete -r fsm-hpc; unset -f _fsm_hpc\n",
    "fish": "complete -c fsm-hpc -e\n",
}


def run(asked: str) -> int:
    """Do what `-sc install=SHELL`, `uninstall=SHELL` or `query=SHELL` asks for."""
    action, _, shell = asked.partition("=")
    if shell not in INSTALL or action not in ("install", "uninstall", "query"):
        raise UserError(
            f"-sc: expected install=SHELL or uninstall=SHELL with {', '.join(INSTALL)}, found "
            f'{asked!r}; eval "$({PROGRAM} -sc install=bash)" installs it'
        )
    if action != "query":
        print({"install": INSTALL, "uninstall": UNINSTALL}[action][shell], end="")
        return 0
    line = os.environ.get("COMP_LINE", "")
    point = os.environ.get("COMP_POINT", "")
    for found in completions(line[: int(point)] if point.isdigit() else line, shell):
        print(found)
    return 0


def completions(line: str, shell: str = "bash") -> list[str]:
    """What may stand in place of the last argument of a line; the first is the program."""
    *before, argument = line.split(" ")
    found = sorted(set(_candidates(argument, [text for text in before[1:] if text])))
    if shell == "fish":
        return found
    cut = argument.rfind("=") + 1  # bash completes what follows the sign
    return [text[cut:] for text in found]


def _candidates(argument: str, before: list[str]) -> Iterator[str]:
    command = next((text for text in before if text in usage.names()), None)
    texts: Iterator[str] | list[str]
    if argument.startswith("-"):
        texts = usage.load_command(command or usage.RUN).options()
    elif "=" in argument:
        texts = _values(argument)
    else:
        texts = [*_keys(argument), *(() if command else usage.names())]
    return (text for text in texts if text.startswith(argument))


def _keys(argument: str) -> Iterator[str]:
    """Settings: groups and values end with `=`, sections with a dot."""
    from fsm_hpc.study import keys
    from fsm_hpc.study.config_folders import groups

    sign = argument[: len(argument) - len(argument.lstrip("+~"))]
    known = keys.known()
    for key in known:
        if any(other.startswith(f"{key}.") for other in known):
            yield f"{sign}{key}."
        else:
            yield f"{sign}{key}="
    yield from (f"{sign}{group}=" for group in groups())


def _values(argument: str) -> Iterator[str]:
    """Values of the key: choices of a group, names of an enumeration, true and false."""
    from fsm_hpc.study import keys
    from fsm_hpc.study.config_folders import names_in
    from fsm_hpc.study.override_syntax import key_of

    stem, _, last = argument.rpartition("," if "," in argument.partition("=")[2] else "=")
    glue = argument[len(stem)]
    key = key_of(argument)
    kinds = keys.SETTINGS[key].kinds if key in keys.SETTINGS else ()
    choices = [str(member.value) for kind in kinds if _is_enum(kind) for member in kind]
    choices += ["true", "false"] if bool in kinds else []
    yield from (f"{stem}{glue}{text}" for text in [*names_in(key), *choices])
    if Path in kinds or key in ("dataset.path", "dataset.labels"):
        folder, _, name = last.rpartition("/")
        place = Path(folder or ("/" if last.startswith("/") else ".")).expanduser()
        found = place.iterdir() if place.is_dir() else ()
        at = f"{folder}/" if "/" in last else ""
        yield from (f"{stem}{glue}{at}{path.name}" for path in found if path.name.startswith(name))


def _is_enum(kind: typing.Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)
