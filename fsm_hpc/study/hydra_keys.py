"""The settings of Hydra that have an effect here, and alternatives to the others."""

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
# set by Hydra, and different in every command
_OF_HYDRA = (
    *("hydra.runtime", "hydra.overrides", "hydra.job.override_dirname"),
    "hydra.job.config_name",
)

_RESULTS = "results are written to results_dir/study; write results_dir=FOLDER study=NAME"
_LOGS = "`logs` prints the logs of folds, `status -w` their progress"
_SWEEP = "a sweep is the product of all values in a command: seed=1,2"
_CLUSTER = f"write {' or '.join(f'cluster={name}' for name in names_in('cluster'))}"
_JOBS = "cluster.* describes jobs; --cfg job lists these settings"
_ENVIRONMENT = """write 'cluster.setup=["export NAME=VALUE"]'"""
_AFTER = "write --after collect,report or --notify COMMAND"
ALTERNATIVES = {  # by prefix of the key, the longest match first; a group like its section
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
    "help": "--help prints the help of a command",
}
# options of launchers, and the setting of the same meaning if it has another name
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
    """Refuse an override of a setting of Hydra that has no effect here."""
    key, text = key_of(override), override.lstrip("+").lower()
    if text not in SAME and not _is_under(key, HONOURED):
        raise UserError(f"{key} is not a setting of this program: {alternative(key)}")


def check_composed(composed: Mapping[str, Any], shipped: Mapping[str, Any]) -> None:
    """Refuse such a setting in a config file."""
    for key, _, _ in differing(composed, shipped, "hydra."):
        if not _is_under(key, (*HONOURED, *_OF_HYDRA)):
            raise UserError(
                f"a config file sets {key}, which is not a setting of this program: "
                f"{alternative(key)}"
            )


def alternative(key: str) -> str:
    """The alternative to a setting of Hydra."""
    section, _, name = key.rpartition(".")
    own = _LAUNCHER.get(name, name)
    if section == "hydra.launcher" and own in (known.key for known in fields_of(ClusterSettings)):
        return f"write cluster.{own}=VALUE"
    name = key.removeprefix("hydra").removeprefix(".")
    prefixes = [prefix for prefix in ALTERNATIVES if _is_under(name, [prefix, f"/{prefix}"])]
    if not prefixes:
        return "it has no effect here; --cfg job lists all settings"
    return ALTERNATIVES[max(prefixes, key=len)]


def is_multirun(overrides: Sequence[str]) -> bool:
    """Whether hydra.mode starts a sweep, as -m does."""
    modes = [text.partition("=")[2].upper() for text in overrides if key_of(text) == "hydra.mode"]
    unknown = [mode for mode in modes if mode not in ("RUN", "MULTIRUN", "NULL")]
    if unknown:
        raise UserError(f"hydra.mode: expected RUN or MULTIRUN, found {unknown[0]}")
    return bool(modes) and modes[-1] == "MULTIRUN"


def _is_under(key: str, prefixes: Sequence[str]) -> bool:
    return any(key == prefix or key.startswith((f"{prefix}.", f"{prefix}@")) for prefix in prefixes)
