"""A job in a local process: `worker FOLDER NUMBER`, and what it runs on standard input."""

from __future__ import annotations

import pickle  # nosec B403 - only what the parent process wrote is read
import sys

from fsm_hpc.errors import UserError


def main() -> int:
    """Run the function of a batch that the parent process hands over."""
    function, arguments = pickle.load(sys.stdin.buffer)  # nosec B301 - from the parent process
    try:
        function(*arguments)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
