"""Say that the job has begun, and hold back SIGUSR2 until it is ready for it.

Run as a script in place of Python, with Python's arguments; a blocked signal stays pending
through exec, and `supervise` lets it through once its handlers are in place, so that one that
comes during the imports is not lost.
"""

import os
import signal
import sys

MARK = "FSM_BEGAN"  # the variable with the file that says so to the job's script

if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
    if MARK in os.environ:
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        os.close(os.open(os.environ[MARK], flags, 0o666))
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
