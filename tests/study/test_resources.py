"""What each fold's job is given, by dataset, method and the size of the table."""

from __future__ import annotations

import pytest

from fsm_hpc.errors import UserError
from fsm_hpc.study.compose import compose, expand

SWEEP = ["dataset=bank,hepatitis", "method=pivot,random_forest", "fold=0", "cluster=slurm"]


def cores(*words: str) -> dict[str, int]:
    configs = expand([*SWEEP, *words])
    return {f"{c.dataset.name}/{c.method.name.value}": c.cluster.cpus for c in configs}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], (8, 8, 8, 8)),
        (["cluster.by.hepatitis.cpus=1"], (8, 8, 1, 1)),
        (["cluster.by.random_forest.cpus=2"], (8, 2, 8, 2)),
        (["cluster.by.hepatitis.cpus=1", "cluster.by.random_forest.cpus=2"], (8, 2, 1, 1)),
        (["cluster.by.bank.pivot.cpus=16", "cluster.cpus=4"], (16, 4, 4, 4)),
        (["cluster.by={hepatitis: {cpus: 3}}"], (8, 8, 3, 3)),
    ],
)
def test_the_nearest_word_counts(words: list[str], expected: tuple[int, ...]) -> None:
    assert tuple(cores(*words).values()) == expected


def test_what_is_submitted_has_its_own_values_only() -> None:
    config = compose(["dataset=bank", "method=pivot", "cluster.by.bank.mem_gb=2"])
    assert (config.cluster.mem_gb, config.cluster.by) == (2.0, {})


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("cluster.by.hepatits.cpus=1", "did you mean hepatitis"),
        ("cluster.by.hepatitis.cpu=1", "cpu is not a setting, did you mean cpus"),
        ("cluster.by.hepatitis.cpus=0", "expected at least 1, found 0"),
        ("cluster.by.hepatitis.cpus=many", "expected a whole number"),
        ("cluster.by.hepatitis=3", "expected settings, found 3"),
    ],
)
def test_mistakes_are_told(word: str, told: str) -> None:
    with pytest.raises(UserError, match=told):
        cores(word)
