"""A sweep that is composed once gives what Hydra composes for each of its jobs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fsm_hpc.errors import UserError
from fsm_hpc.study import hydra
from fsm_hpc.study.compose import Composer, expand
from fsm_hpc.study.hydra import Choice

# keys of settings and of config groups, and texts that may stand behind them
CHOICES: dict[str, list[str]] = {
    "dataset": ["bank", "hepatitis", "csv"],
    "method": ["pivot", "median", "xgboost"],
    "solver": ["native", "clingo_dl", "portfolio"],
    "cuts": ["observed", "quantiles", "rounded"],
    "cluster": ["slurm", "local"],
    "+experiment": ["demo", "paper"],
    "seed": ["1", "2", "77"],
    "study": ["a", "'b c'", "${dataset.name}", "s${seed}", r"'\${x}'", "${hydra:job.name}"],
    "scan.max_length": ["3", "null", "${scan.patience}"],
    "scan.patience": ["1", "2"],
    "rule.require": ["[age]", "[]", "[age,sex]"],
    "cluster.cpus": ["2", "4"],
    "cluster.by.bank.cpus": ["3", "5"],
    "+cluster.sbatch.nice": ["10", "20"],
    "++cluster.sbatch": ["{nice: 1}", "{reservation: r}"],
    "dataset.target": ["y", "'a b'", "1e3", "true"],
}


@st.composite
def sweeps(draw: st.DrawFn) -> list[str]:
    keys = draw(st.lists(st.sampled_from(sorted(CHOICES)), max_size=4, unique=True))
    keys += [key for key in ("dataset", "method") if key not in keys]
    values = st.sampled_from
    chosen = {
        key: draw(st.lists(values(CHOICES[key]), min_size=1, max_size=2, unique=True))
        for key in keys
    }
    return [f"{key}={','.join(texts)}" for key, texts in chosen.items()]


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(sweeps())
def test_every_job_has_the_values_that_hydra_composes_for_it(overrides: list[str]) -> None:
    composer = Composer(hydra.unresolved)
    swept = outcome(lambda: list(map(composer.values, jobs(overrides))))
    assert swept == outcome(lambda: [alone(job) for job in jobs(overrides)])


def jobs(overrides: list[str]) -> list[tuple[Choice, ...]]:
    return list(itertools.product(*hydra.choices(overrides)))


def alone(job: Sequence[Choice]) -> dict[str, Any]:
    """What Hydra composes for a job by itself."""
    texts = [choice.text for choice in job]
    return hydra.resolved_values(hydra.unresolved(texts), texts)


def outcome(compose: Callable[[], list[Any]]) -> Any:
    """The values, or what they are refused for."""
    try:
        return compose()
    except UserError as error:
        return str(error)


def composed_by(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The overrides of every composition by Hydra from here on."""
    calls: list[Any] = []
    real = hydra.composed

    def counted(overrides: Sequence[str]) -> Any:
        calls.append(overrides)
        return real(overrides)

    monkeypatch.setattr(hydra, "composed", counted)
    return calls


def test_the_number_of_values_does_not_change_the_number_of_compositions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = composed_by(monkeypatch)
    counts = []
    for last in (3, 300):
        calls.clear()
        words = ["dataset=bank,hepatitis", "method=pivot,median", f"seed=range(1,{last})"]
        assert len(expand(words)) == 2 * 2 * 10 * (last - 1)
        counts.append(len(calls))
    assert counts[0] == counts[1] <= 5


def test_an_experiment_that_sets_other_groups_is_composed_for_each_choice(tmp_path: Path) -> None:
    configs = expand(["dataset=bank", "method=pivot", "+experiment=demo,paper", "fold=0"])
    assert [config.study for config in configs] == ["demo", "paper"]
    assert [config.scan.max_length for config in configs] == [6, None]


def test_all_jobs_of_a_sweep_agree_on_the_time() -> None:
    words = ["dataset=bank", "method=pivot", "seed=range(1,30)", "fold=0", "study=${now:%f}"]
    assert len({config.study for config in expand(words)}) == 1
