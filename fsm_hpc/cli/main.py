"""Find the command among the arguments, run it, and report a user error in one line."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence

from fsm_hpc.cli import usage
from fsm_hpc.cli.usage import CTRL_C
from fsm_hpc.errors import UserError, shortened
from fsm_hpc.system import terminal

BROKEN_PIPE = 141
USER_ERROR = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; a user error is one line on standard error and exit code 2."""
    # Before scikit-learn or XGBoost is loaded, and for all jobs that this process starts:
    # threads that spin while they wait slow each other down if there are more than cores.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    terminal.configure_stdio()
    try:
        code = _run(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()  # a full disk is reported here
        return code
    except KeyboardInterrupt:
        return CTRL_C
    except Exception as error:
        return _report(error)


def _report(error: Exception) -> int:
    """Report a user error or an error of the system; the exit code. Raise any other, a bug."""
    if _is_of_ctrl_c(error):
        return CTRL_C
    if isinstance(error, BrokenPipeError):
        return BROKEN_PIPE
    if isinstance(error, OSError):
        path = f"{error.filename}: " if error.filename else _of_output(error)
        text = f"{path}{error.strerror or error}"
    elif isinstance(error, UserError):
        text = str(error)
    else:
        raise error
    text = shortened(text)
    # names from files and tables must not control the terminal
    print(f"fsm_hpc: {terminal.visible(text) if sys.stderr.isatty() else text}", file=sys.stderr)
    return USER_ERROR


def _is_of_ctrl_c(error: BaseException | None) -> bool:
    """Whether a library failed while it cleaned up after Ctrl-C."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _of_output(error: OSError) -> str:
    """Name standard output if its disk is full, and do not write to it again."""
    if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG):
        return ""
    if sys.__stdout__ is not None and sys.stdout is sys.__stdout__:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())
    return "standard output: "


def _run(arguments: list[str]) -> int:
    name = _take_command(arguments)
    if name is None and (not arguments or arguments[0] in ("-h", "--help")):
        print(usage.overview(), end="")
        return 0 if arguments else USER_ERROR
    if name is None:
        from fsm_hpc.cli.commands.run import check_overrides

        check_overrides(arguments[:1])
    return usage.load_command(name or usage.RUN).run(arguments)


def _take_command(arguments: list[str]) -> str | None:
    """Remove the name of the command from the arguments; the value of an option is none."""
    for index, argument in enumerate(arguments):
        if argument in usage.names() and (
            index == 0 or not _takes_value(arguments[index - 1], argument)
        ):
            return arguments.pop(index)
    return None


def _takes_value(option: str, name: str) -> bool:
    """Whether it is an option that takes a value: `--after collect`."""
    if not option.startswith("-") or "=" in option:
        return False
    is_own = option in usage.load_command(name).option_names()
    commands = [name] if is_own else usage.names()
    return any(
        option in usage.load_command(known).option_names(with_value=True) for known in commands
    )
