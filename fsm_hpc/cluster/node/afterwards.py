"""What is done when the jobs of a sweep have ended: verbs of ours, then a command of the user's."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from fsm_hpc.study.override_syntax import quoted
from fsm_hpc.system.children import child_environment, module_command


def work(verbs: Sequence[str], studies: Sequence[tuple[str, str]], command: str | None) -> int:
    """Run the verbs for each study, whatever becomes of one of them, then the command."""
    codes = []
    for results_dir, study in studies:
        place = [f"results_dir={quoted(results_dir)}", f"study={quoted(study)}"]
        for verb in verbs:
            print(f"{verb} {' '.join(place)}", flush=True)
            words = module_command("fsm_hpc", verb, *place)
            codes.append(subprocess.run(words, env=child_environment()).returncode)
    if command is not None:
        names = " ".join(study for _, study in studies)
        environment = child_environment() | {"FSM_STUDY": names, "FSM_CODE": str(max(codes or [0]))}
        # a line for the shell, from the user's own command
        told = subprocess.run(command, shell=True, env=environment)  # nosec B602
        codes.append(told.returncode)
    return max(codes or [os.EX_OK])
