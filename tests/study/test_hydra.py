"""What the adapter relies on in Hydra: fails where a new Hydra expands or complains otherwise."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fsm_hpc.errors import UserError
from fsm_hpc.study import hydra
from fsm_hpc.system.files import conf_dir

ROOT = Path(__file__).parents[2]
BANK = ["dataset=bank", "method=pivot"]


# ------------------------------------------------------------------------------------------ sweeps


@pytest.mark.parametrize(
    ("words", "batches"),
    [
        ([], [[]]),
        (BANK, [BANK]),
        (["a=1,2", "b=x"], [["a=1", "b=x"], ["a=2", "b=x"]]),
        (["a=1,2", "b=x,y"], [["a=1", "b=x"], ["a=1", "b=y"], ["a=2", "b=x"], ["a=2", "b=y"]]),
        (["fold=range(0,3)"], [["fold=0"], ["fold=1"], ["fold=2"]]),
        (["fold=range(0,5,2)"], [["fold=0"], ["fold=2"], ["fold=4"]]),
        (["dataset=glob(he*)"], [["dataset=heart_disease"], ["dataset=hepatitis"]]),
        (["study='a b',c"], [["study='a b'"], ["study=c"]]),
        (["dataset.drop=[x,y]"], [["dataset.drop=[x,y]"]]),
        (["+cluster.sbatch.nice=5"], [["+cluster.sbatch.nice=5"]]),
    ],
)
def test_every_combination_of_values_is_one_list_of_words_in_order(
    words: list[str], batches: list[list[str]]
) -> None:
    assert hydra.batches(words) == batches


@pytest.mark.parametrize(
    ("word", "is_sweep"),
    [
        ("fold=1", False),
        ("fold=1,2", True),
        ("fold=range(3)", True),
        ("dataset=glob(he*)", True),
        ("study='a,b'", False),
        ("dataset.drop=[a,b]", False),
    ],
)
def test_a_word_with_several_values_is_told_from_a_list(word: str, is_sweep: bool) -> None:
    assert hydra.is_sweep(word) == is_sweep


# ------------------------------------------------------------------------------------------ errors


def complaint(words: list[str]) -> str:
    """What Hydra itself says, not yet explained."""
    from hydra import compose, initialize_config_dir
    from hydra.errors import HydraException

    with (
        pytest.raises(HydraException) as refused,
        initialize_config_dir(str(conf_dir()), version_base="1.3"),
    ):
        compose("config", overrides=words)
    return str(refused.value)


@pytest.mark.parametrize(
    ("words", "read", "explained"),
    [
        (
            ["dataset=banc", "method=pivot"],
            ["dataset/banc"],
            "dataset=banc is not known, did you mean bank?; there are: bank, breast_cancer,",
        ),
        (
            [*BANK, "solver=nativ"],
            ["solver/nativ"],
            "solver=nativ is not known, did you mean native?; there are: clingo_dl, native,",
        ),
        (
            [*BANK, "+experiment=papr"],
            ["experiment/papr"],
            "experiment=papr is not known, did you mean paper",
        ),
        (
            ["method=pivot"],
            ["You must specify 'dataset'"],
            "dataset is not given: expected dataset=NAME, one of: bank, ",
        ),
        (
            ["dataset=bank"],
            ["You must specify 'method'"],
            "method is not given: expected method=NAME, one of: interval, ",
        ),
        (
            [*BANK, "scan.patienc=1"],
            ["'scan.patienc'", "override"],
            "scan.patienc is not a setting, did you mean scan.patience",
        ),
        (
            [*BANK, "sover=native"],
            ["'sover'", "override"],
            "sover is not a setting, did you mean solver",
        ),
    ],
)
def test_hydras_complaint_still_has_the_words_that_the_explanation_reads(
    words: list[str], read: list[str], explained: str
) -> None:
    said = complaint(words)
    assert [part for part in read if part not in said] == []
    with pytest.raises(UserError) as refused:
        hydra.composed(words)
    assert str(refused.value).startswith(explained)


@pytest.mark.parametrize("word", ["study=a)b", "scan.budget_h=[1", "study=über"])
def test_a_word_that_hydra_cannot_read_is_told_how_to_quote(word: str) -> None:
    with pytest.raises(UserError, match="a value with blanks or signs needs quotes") as refused:
        hydra.parse([word])
    assert "\n" not in str(refused.value)
    assert f"cannot read {word}; " in str(refused.value)


# ------------------------------------------------------------------------------------- the version


def test_no_newer_hydra_is_installed_before_somebody_has_tried_it() -> None:
    stated = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (hydra_core,) = re.findall(r'"hydra-core([^"]*)"', stated)
    assert "<1.4" in hydra_core.replace(" ", "").split(",")
