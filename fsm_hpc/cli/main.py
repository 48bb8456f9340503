"""Find the command among the arguments, run it, and report a user error in one line."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence

from fsm_hpc.cli import usage
from fsm_hpc.errors import UserError, did_you_mean, shortened
from fsm_hpc.system import terminal

CTRL_C = 130  # the exit code that shells know it by


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; a user's mistake is one line and exit code 2."""
    # Before scikit-learn or XGBoost is loaded, and for every job that is started from here:
    # threads that spin while they wait slow each other down where there are more than cores.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    terminal.configure_stdio()
    try:
        code = _run(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()  # now, as a full disk is told here and nowhere later
        return code
    except KeyboardInterrupt:
        return CTRL_C
    except Exception as error:
        return _told(error)


def _told(error: Exception) -> int:
    """Tell a mistake or a fault of the system; the exit code. Any other is a bug, and is raised."""
    if _is_of_ctrl_c(error):
        return CTRL_C
    if isinstance(error, BrokenPipeError):
        return 141
    if isinstance(error, UserError):
        _tell(str(error))
    elif isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else _of_output(error)
        _tell(f"{where}{error.strerror or error}")
    else:
        raise error
    return 2


def _is_of_ctrl_c(error: BaseException | None) -> bool:
    """Whether it came of Ctrl-C in a library that cleans up after itself, and fails at it."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _tell(text: str) -> None:
    """An error in one line; what a file or a table put into it cannot steer a terminal."""
    is_seen, text = sys.stderr.isatty(), shortened(text)
    print(f"fsm_hpc: {terminal.visible(text) if is_seen else text}", file=sys.stderr)


def _of_output(error: OSError) -> str:
    """What is printed may be kept in a file, whose disk may be full: it is not tried again."""
    if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG):
        return ""
    if sys.__stdout__ is not None and sys.stdout is sys.__stdout__:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())
    return "standard output: "


def _run(arguments: list[str]) -> int:
    command = _take_command(arguments)
    if command is None and (not arguments or arguments[0] in ("-h", "--help")):
        print(usage.overview(), end="")
        return 0 if arguments else 2
    if command is None and not arguments[0].startswith(("-", "~")) and "=" not in arguments[0]:
        near = did_you_mean(arguments[0], usage.names())
        raise UserError(f"expected key=value or a command first, found {arguments[0]!r}{near}")
    return usage.load_command(command or usage.RUN).run(arguments)


def _take_command(arguments: list[str]) -> str | None:
    """Take the command out of the arguments; what follows an option with a value is none."""
    for place, argument in enumerate(arguments):
        if argument in usage.names() and (
            place == 0 or not _takes_value(arguments[place - 1], argument)
        ):
            return arguments.pop(place)
    return None


def _takes_value(option: str, command: str) -> bool:
    """Whether it is an option that a value follows: `--after collect`."""
    if not option.startswith("-") or "=" in option:
        return False
    is_its_own = option in usage.load_command(command).options()
    commands = [command] if is_its_own else usage.names()
    return any(option in usage.load_command(name).options(with_value=True) for name in commands)
