"""Folds handed over in the tests: a submission with the config of a real fold."""

from __future__ import annotations

from functools import cache
from typing import Any

from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.study.compose import compose
from fsm_hpc.study.fold_id import FoldId


@cache
def config_values() -> dict[str, Any]:
    return compose(["dataset=hepatitis", "method=pivot", "fold=1"]).to_dict()


def submission(kind: str = "local", of: FoldId | None = None, **changes: Any) -> Submission:
    """One of the token `t`, of that fold; `changes` replace its fields."""
    config = config_values()
    if of is not None:
        dataset, method = (config[key] for key in ("dataset", "method"))
        config = config | {
            "dataset": dataset | {"name": of.dataset},
            "method": method | {"name": of.method},
            "fold": of.fold,
        }
    values: dict[str, Any] = {
        "token": "t",
        "kind": kind,
        "config": config,
        "code": {},
        "output": "",
        "submitted_at": 0.0,
        "job_id": "local/here/77" if kind == "local" else "17_1",
    }
    return Submission(**values | changes)
