"""Record that the job has begun, and block SIGUSR2 until Python is ready to handle it.

This script runs in place of Python, with the arguments of Python. A blocked signal stays pending
through exec. `supervise` unblocks it after it has installed handlers, so a signal during the
imports is not lost.
"""

import os
import pathlib
import signal
import sys

MARK = "FSM_BEGAN"  # variable with the path of the file that records it
RUN_MODULE = pathlib.Path(__file__).absolute().parents[2] / "system" / "run_module.py"

if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
    if MARK in os.environ:
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        os.close(os.open(os.environ[MARK], flags, 0o666))
    # not -m, which would import from the working directory
    options, module = sys.argv[1 : sys.argv.index("-m")], sys.argv[sys.argv.index("-m") + 1 :]
    if sys.version_info >= (3, 11):
        options.append("-P")
    os.execv(sys.executable, [sys.executable, *options, str(RUN_MODULE), *module])
