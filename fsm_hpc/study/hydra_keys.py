"""Which of Hydra's own settings a command honours, and what to write instead of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fsm_hpc.errors import UserError
from fsm_hpc.study.building import differing
from fsm_hpc.study.config import ClusterSettings
from fsm_hpc.study.config_folders import names_in
from fsm_hpc.study.override_syntax import key_of
from fsm_hpc.system.settings import fields_of

HONOURED = ("hydra.searchpath", "hydra.sweeper.params", "hydra.mode")
SAME = ("hydra/sweeper=basic", "hydra.job.chdir=false", "hydra.job.chdir=null")
# set by Hydra itself, and different in every command
_OF_HYDRA = (
    *("hydra.runtime", "hydra.overrides", "hydra.job.override_dirname"),
    "hydra.job.config_name",
)

_RESULTS = "results are written to results_dir/study; write results_dir=FOLDER study=NAME"
_LOGS = "`logs` shows what folds print, `status -w` how far they are"
_SWEEP = "a sweep is every combination of the values that a command names: seed=1,2"
_CLUSTER = f"write {' or '.join(f'cluster={name}' for name in names_in('cluster'))}"
_JOBS = "jobs are described by cluster.*; --cfg job shows those settings"
_ENVIRONMENT = """write 'cluster.setup=["export NAME=VALUE"]'"""
_AFTER = "write --after collect,report or --notify COMMAND"
ALTERNATIVES = {  # by the beginning of the key, the longest first; a group as its section
    **dict.fromkeys(("run", "sweep", "output_subdir"), _RESULTS),
    **dict.fromkeys(("job.env_set", "job.env_copy"), _ENVIRONMENT),
    **dict.fromkeys(("verbose", "job_logging", "hydra_logging"), _LOGS),
    "job": _JOBS,
    "launcher": _JOBS,
    "/launcher": _CLUSTER,
    "callbacks": _AFTER,
    "job.chdir": "a job runs in the folder of the command; write results_dir=FOLDER",
    "job.name": "jobs are named after their study; write study=NAME",
    "sweeper.max_batch_size": "write cluster.max_parallel=NUMBER",
    "sweeper": f"{_SWEEP}; in a config file hydra.sweeper.params lists them",
    "help": "--help shows the help of a command",
}
# options of launchers, and the setting that has their meaning where its name is another
_LAUNCHER = {
    "timeout_min": "timeout_h",
    "cpus_per_task": "cpus",
    "array_parallelism": "max_parallel",
    "n_jobs": "max_parallel",
    "max_num_timeout": "max_retries",
}


def is_of_hydra(key: str) -> bool:
    return key == "hydra" or key.startswith(("hydra.", "hydra/"))


def check(override: str) -> None:
    """Refuse an override of Hydra's own settings that would have no effect here."""
    key, text = key_of(override), override.lstrip("+").lower()
    if text not in SAME and not _is_under(key, HONOURED):
        raise UserError(f"{key} is not a setting of this program: {alternative(key)}")


def check_composed(found: Mapping[str, Any], shipped: Mapping[str, Any]) -> None:
    """Refuse Hydra's own settings in a config file, likewise."""
    for key, _, _ in differing(found, shipped, "hydra."):
        if not _is_under(key, (*HONOURED, *_OF_HYDRA)):
            raise UserError(
                f"a config file sets {key}, which is not a setting of this program: "
                f"{alternative(key)}"
            )


def alternative(key: str) -> str:
    """What to write instead."""
    section, _, name = key.rpartition(".")
    same = _LAUNCHER.get(name, name)
    if section == "hydra.launcher" and same in (one.key for one in fields_of(ClusterSettings)):
        return f"write cluster.{same}=VALUE"
    name = key.removeprefix("hydra").removeprefix(".")
    known = [prefix for prefix in ALTERNATIVES if _is_under(name, [prefix, f"/{prefix}"])]
    nothing = "it has no effect here; --cfg job shows all settings"
    return ALTERNATIVES[max(known, key=len)] if known else nothing


def is_multirun(overrides: Sequence[str]) -> bool:
    """Whether hydra.mode asks for a sweep, as -m does."""
    modes = [one.partition("=")[2].upper() for one in overrides if key_of(one) == "hydra.mode"]
    unknown = [mode for mode in modes if mode not in ("RUN", "MULTIRUN", "NULL")]
    if unknown:
        raise UserError(f"hydra.mode: expected RUN or MULTIRUN, found {unknown[0]}")
    return bool(modes) and modes[-1] == "MULTIRUN"


def _is_under(key: str, prefixes: Sequence[str]) -> bool:
    return any(key == prefix or key.startswith((f"{prefix}.", f"{prefix}@")) for prefix in prefixes)
