"""`python -m fsm_hpc`."""

import sys

from fsm_hpc.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
