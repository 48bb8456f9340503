"""Find the verb among the words of a command, run it, and tell a user's mistake in one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from fsm_hpc.cli import usage
from fsm_hpc.errors import UserError

RUN = "run"  # what a command without a verb means


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; a user's mistake is one line and exit code 2."""
    # Before scikit-learn or XGBoost is loaded, and for every job that is started from here:
    # threads that spin while they wait slow each other down where there are more than cores.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        return _run(list(sys.argv[1:] if words is None else words))
    except UserError as error:
        print(f"fsm_hpc: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 141
    except OSError as error:
        print(f"fsm_hpc: {error.filename or ''}: {error.strerror or error}", file=sys.stderr)
        return 2


def _run(words: list[str]) -> int:
    verb = next((word for word in words if word in usage.names()), None)
    if verb is not None:
        words.remove(verb)
    elif not words or words[0] in ("-h", "--help"):
        print(usage.overview(), end="")
        return 0 if words else 2
    return usage.verb(verb or RUN).run(words)
