"""Two jobs for one folder are refused, as they would overwrite each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fsm_hpc.errors import UserError
from fsm_hpc.study.building import differing
from fsm_hpc.study.config import Config
from fsm_hpc.study.fold_id import FoldId


def without_duplicates(configs: Sequence[Config]) -> list[Config]:
    """Every fold once; two jobs for one folder, which would overwrite each other, are refused."""
    folds: dict[tuple[Path, FoldId], Config] = {}
    for config in configs:
        place = (config.results_dir / config.study, config.id)
        first = folds.setdefault(place, config)
        if first != config and _as_it_acts(first) != _as_it_acts(config):
            pairs = differing(_as_it_acts(first), _as_it_acts(config))
            told = ", ".join(f"{key} ({one} and {other})" for key, one, other in pairs)
            raise UserError(
                f"two jobs for the one folder {'/'.join(map(str, place))}: they differ only in "
                f"{told}, which makes no variant; name one of the two, or keep them apart "
                "with study=NAME"
            )
    return list(folds.values())


def _as_it_acts(config: Config) -> dict[str, Any]:
    """A baseline is the same one whoever would search for formulas, and how long."""
    values = config.to_dict()
    if not config.method.name.finds_formula:
        unused = {"solver": {"threads": config.solver.threads}, "scan": None, "final": None}
        values |= unused
    return values
