"""Hold back SIGUSR2 until the job is ready for it: a signal during the imports is not lost.

Run as a script in place of Python, with Python's arguments; a blocked signal stays pending
through exec, and `supervise` lets it through once its handlers are in place.
"""

import os
import signal
import sys

if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
