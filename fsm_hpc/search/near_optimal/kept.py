"""How far a good set has come, on disk, to go on from: for the same code and problem only."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from fsm_hpc.search.near_optimal.enumeration import Progress
from fsm_hpc.search.near_optimal.families import RawFamily, Stretch
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.native.work import numbering
from fsm_hpc.system import files


def question(problem: Problem, bound: int, errors: int) -> str:
    """The digest of what was asked, and of the code that numbers its units."""
    return hashlib.sha256(f"{numbering(problem)} {bound} {errors}".encode()).hexdigest()


def save(path: Path, asked: str, progress: Progress) -> None:
    content: dict[str, Any] = {
        "asked": asked,
        "left": [[s.plan, s.start, s.end, s.x, s.y] for s in progress.left],
        "votes": progress.votes.tolist(),
        "families": [
            [f.plan, f.columns, f.count, f.score, f.ranges, f.cuts] for f in progress.families
        ],
    }
    files.write_json(path, {"seal": _seal(content), "content": content})


def load(path: Path, asked: str) -> Progress | None:
    """What was kept of this very question; None where there is nothing, or it was changed."""
    try:
        saved = json.loads(path.read_bytes())
        content = saved["content"]
        if saved["seal"] != _seal(content) or content["asked"] != asked:
            return None
        return Progress(
            tuple(_family(one) for one in content["families"]),
            np.array(content["votes"], np.int64),
            tuple(Stretch(*one) for one in content["left"]),
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _family(saved: list[Any]) -> RawFamily:
    plan, columns, count, score, ranges, cuts = saved
    return RawFamily(
        plan, tuple(columns), count, score, tuple(map(tuple, ranges)), tuple(map(tuple, cuts))
    )


def _seal(content: dict[str, Any]) -> str:
    """A set that was changed on disk would be a false count."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
