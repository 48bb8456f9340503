"""Say that the job has begun, and hold back SIGUSR2 until it is ready for it.

Run as a script in place of Python, with Python's arguments; a blocked signal stays pending
through exec, and `supervise` lets it through once its handlers are in place, so that one that
comes during the imports is not lost.
"""

import os
import pathlib
import signal
import sys

MARK = "FSM_BEGAN"  # the variable with the file that says so to the job's script
RUN_MODULE = pathlib.Path(__file__).absolute().parents[2] / "system" / "run_module.py"

if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
    if MARK in os.environ:
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        os.close(os.open(os.environ[MARK], flags, 0o666))
    # in place of -m, which imports from the working directory
    options, module = sys.argv[1 : sys.argv.index("-m")], sys.argv[sys.argv.index("-m") + 1 :]
    if sys.version_info >= (3, 11):
        options.append("-P")
    os.execv(sys.executable, [sys.executable, *options, str(RUN_MODULE), *module])
