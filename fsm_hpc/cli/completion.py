"""Shell completion of commands, options, settings and their values."""

from __future__ import annotations

import os
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from fsm_hpc.cli import usage
from fsm_hpc.errors import UserError

_BASH = """_fsm_hpc() {
  local IFS=$'\\n'
  COMPREPLY=($(COMP_LINE="$COMP_LINE" COMP_POINT="$COMP_POINT" "$1" -sc query=bash 2>/dev/null))
}
complete -o nospace -o default -F _fsm_hpc fsm-hpc
"""
_ZSH = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"
_FISH = """complete -c fsm-hpc -f -a '(COMP_LINE=(commandline -cp) fsm-hpc -sc query=fish)'
"""
_REMOVE_BASH = "complete -r fsm-hpc; unset -f _fsm_hpc\n"
SCRIPTS = {
    "install": {"bash": _BASH, "zsh": _ZSH + _BASH, "fish": _FISH},
    "uninstall": {"bash": _REMOVE_BASH, "zsh": _REMOVE_BASH, "fish": "complete -c fsm-hpc -e\n"},
    "query": dict.fromkeys(("bash", "zsh", "fish"), ""),
}


def run(request: str) -> int:
    """Answer `-sc install=SHELL`, `uninstall=SHELL` or `query=SHELL`."""
    action, _, shell = request.partition("=")
    if shell not in SCRIPTS.get(action, ()):
        raise UserError(
            f"-sc: expected install=SHELL or uninstall=SHELL with {', '.join(SCRIPTS['install'])}, "
            f'found {request!r}; eval "$(fsm-hpc -sc install=bash)" installs it'
        )
    print(SCRIPTS[action][shell], end="")
    if action == "query":
        line, point = os.environ.get("COMP_LINE", ""), os.environ.get("COMP_POINT", "")
        for text in completions(line[: int(point)] if point.isdigit() else line, shell):
            print(text)
    return 0


def completions(line: str, shell: str = "bash") -> list[str]:
    """The completions of the last argument of a command line."""
    *before, argument = line.split(" ")
    texts = sorted(set(_candidates(argument, [text for text in before[1:] if text])))
    start = 0 if shell == "fish" else argument.rfind("=") + 1  # bash completes after the `=`
    return [text[start:] for text in texts]


def _candidates(argument: str, before: list[str]) -> Iterator[str]:
    command = next((text for text in before if text in usage.names()), None)
    texts: Iterator[str] | list[str]
    if argument.startswith("-"):
        texts = usage.load_command(command or usage.RUN).option_names()
    elif "=" in argument:
        texts = _values(argument)
    else:
        texts = [*_keys(argument), *(() if command else usage.names())]
    return (text for text in texts if text.startswith(argument))


def _keys(argument: str) -> Iterator[str]:
    """Keys of settings: groups and values end with `=`, sections with a dot."""
    from fsm_hpc.study import keys
    from fsm_hpc.study.config_folders import groups

    sign = argument[: len(argument) - len(argument.lstrip("+~"))]
    known = keys.known()
    for key in known:
        is_section = any(other.startswith(f"{key}.") for other in known)
        yield f"{sign}{key}{'.' if is_section else '='}"
    yield from (f"{sign}{group}=" for group in groups())


def _values(argument: str) -> Iterator[str]:
    """Values of the key: choices of a group, names of an enumeration, true and false, files."""
    from fsm_hpc.study import keys
    from fsm_hpc.study.config_folders import names_in
    from fsm_hpc.study.override_syntax import key_of

    separator = "," if "," in argument.partition("=")[2] else "="
    stem, _, last = argument.rpartition(separator)
    key = key_of(argument)
    types = keys.SETTINGS[key].kinds if key in keys.SETTINGS else ()
    enums = [kind for kind in types if isinstance(kind, type) and issubclass(kind, Enum)]
    choices = [str(member.value) for enum in enums for member in enum]
    choices += ["true", "false"] if bool in types else []
    if Path in types or key in ("dataset.path", "dataset.labels"):
        choices += _paths(last)
    yield from (f"{stem}{separator}{text}" for text in [*names_in(key), *choices])


def _paths(text: str) -> list[str]:
    """The files and folders whose paths start with this text."""
    folder, slash, name = text.rpartition("/")
    path = Path(folder or slash or ".").expanduser()
    files = path.iterdir() if path.is_dir() else ()
    return [f"{folder}{slash}{file.name}" for file in files if file.name.startswith(name)]
