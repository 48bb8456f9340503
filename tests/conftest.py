"""How hypothesis draws: the same examples every time, or fresh ones with HYPOTHESIS_PROFILE=full.

The seed of a fresh run is printed by `make test-full`, and pytest's --hypothesis-seed repeats it.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True)
settings.register_profile("full", derandomize=False, database=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
