"""Only the modules of a scheduler know it: nothing else in the package mentions SLURM."""

from __future__ import annotations

import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "fsm_hpc"
WORDS = re.compile(r"slurm|squeue|sacct|scontrol|sbatch|srun|scancel|sinfo|salloc", re.IGNORECASE)
# settings that files of version 0.2 call so
OLD_NAMES = 'RENAMED = {"kind": "scheduler", "sbatch": "options"}'


def test_only_the_modules_of_slurm_mention_it() -> None:
    own = PACKAGE / "cluster" / "schedulers"
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.parent == own and path.name.startswith("slurm"):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if WORDS.search(line.replace(OLD_NAMES, "")):
                found.append(f"{path.relative_to(PACKAGE)}:{number}: {line.strip()}")
    assert found == []
