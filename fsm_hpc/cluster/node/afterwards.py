"""Run commands when the jobs of a sweep have ended, then a shell command of the user."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from fsm_hpc.study.override_syntax import quoted
from fsm_hpc.system.children import child_environment, module_command


def work(
    commands: Sequence[str], studies: Sequence[tuple[str, str]], shell_command: str | None
) -> int:
    """Run each command for each study, even if one fails, then the shell command."""
    codes = []
    for results_dir, study in studies:
        place = [f"results_dir={quoted(results_dir)}", f"study={quoted(study)}"]
        for command in commands:
            print(f"{command} {' '.join(place)}", flush=True)
            words = module_command("fsm_hpc", command, *place)
            codes.append(subprocess.run(words, env=child_environment()).returncode)
    if shell_command is not None:
        names = " ".join(study for _, study in studies)
        environment = child_environment() | {"FSM_STUDY": names, "FSM_CODE": str(max(codes or [0]))}
        # a line for the shell, from the user's own command
        notified = subprocess.run(shell_command, shell=True, env=environment)  # nosec B602
        codes.append(notified.returncode)
    return max(codes or [os.EX_OK])
