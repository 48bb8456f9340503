"""What a scheduler calls on a node: run the folds that a job is for."""

from __future__ import annotations

from pathlib import Path

from fsm_hpc.cluster import arrays, attempts
from fsm_hpc.cluster.attempts import AttemptEnd
from fsm_hpc.cluster.node.job import begin_attempt
from fsm_hpc.cluster.node.pack import Pack
from fsm_hpc.cluster.node.supervisor import Supervisor
from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.study.files import FoldPaths


def work_in_array(output: str) -> str:
    """Run the folds that this job is for. Returns how it ended.

    Jobs that version 0.2 queued call it by this name, too.
    """
    with arrays.reason_in_output():
        members = arrays.folds_of_this_job(Path(output))
        if not members:
            print("this job was withdrawn before it began: nothing to do")
            return AttemptEnd.SUPERSEDED.value
        if len(members) == 1:
            return work(*members[0])
        return Pack(members).run().value


def work(paths: FoldPaths, submission: Submission) -> str:
    """Run one submitted fold. Returns how it ended."""
    end = begin_attempt(Supervisor, submission, paths)
    attempts.remove_state_if_final(paths)
    return end.value
