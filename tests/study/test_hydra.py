"""What the adapter relies on in Hydra: fails where a new Hydra expands or complains otherwise."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from fsm_hpc.errors import UserError
from fsm_hpc.study import hydra
from fsm_hpc.study.compose import compose, expand, show
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
        (["a=null,4"], [["a=null"], ["a=4"]]),
        (["a=1,2", "b=x,y"], [["a=1", "b=x"], ["a=1", "b=y"], ["a=2", "b=x"], ["a=2", "b=y"]]),
        (["fold=range(0,3)"], [["fold=0"], ["fold=1"], ["fold=2"]]),
        (["fold=range(0,5,2)"], [["fold=0"], ["fold=2"], ["fold=4"]]),
        (["dataset=glob(he*)"], [["dataset=heart_disease"], ["dataset=hepatitis"]]),
        (["study='a b',c"], [["study='a b'"], ["study=c"]]),
        (["dataset.drop=[x,y]"], [["dataset.drop=[x,y]"]]),
        (["+cluster.options.nice=5"], [["+cluster.options.nice=5"]]),
    ],
)
def test_every_combination_of_values_is_one_list_of_words_in_order(
    words: list[str], batches: list[list[str]]
) -> None:
    jobs = itertools.product(*hydra.choices(words))
    assert [[choice.text for choice in job] for job in jobs] == batches


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
    assert hydra.parse([word])[0].is_sweep_override() == is_sweep


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
            "dataset=banc is not known, did you mean bank?; expected one of: bank, breast_cancer,",
        ),
        (
            [*BANK, "solver=nativ"],
            ["solver/nativ"],
            "solver=nativ is not known, did you mean native?; expected one of: clingo_dl, native,",
        ),
        (
            [*BANK, "+experiment=papr"],
            ["experiment/papr"],
            "experiment=papr is not known, did you mean paper",
        ),
        (
            ["method=pivot"],
            ["You must specify 'dataset'"],
            "dataset is missing: expected dataset=NAME, one of: bank, ",
        ),
        (
            ["dataset=bank"],
            ["You must specify 'method'"],
            "method is missing: expected method=NAME, one of: ",
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
    with pytest.raises(
        UserError, match="a value with blanks or special characters needs quotes"
    ) as refused:
        hydra.parse([word])
    assert "\n" not in str(refused.value)
    assert f"cannot read {word}; " in str(refused.value)


# ------------------------------------------------------------------------------------- the version


def test_no_newer_hydra_is_installed_before_somebody_has_tried_it() -> None:
    stated = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (hydra_core,) = re.findall(r'"hydra-core([^"]*)"', stated)
    assert "<1.4" in hydra_core.replace(" ", "").split(",")


# ------------------------------------------------------------------------- sweeps that cannot be

UNLISTABLE = [
    "seed=interval(0,1)",
    "seed=tag(a,interval(0,1))",
    "seed=float(interval(0,1))",
    "dataset=interval(0,1)",
    "fold=interval(0,1)",
    "seed=range(0,5,0)",
    "seed=range(0.5,5,0.0)",
    "seed=range(0,nan)",
    "seed=range(0,inf)",
    "seed=range(0,1e400)",
    "seed=range(0,5,-1)",
    "seed=glob(*)",
    "dataset=glob(zz*)",
    "seed=choice(choice(1,2),3)",
    "seed=choice(range(0,2),3)",
    "dataset=range(0,2)",
    "seed=choice()",
    "seed=range(a,b)",
    "seed=sort(interval(0,1))",
    "seed=shuffle(glob(*))",
    "seed=extend_list(1)",
    "seed=nope(1)",
    "seed=choice(1",
    "seed=[1,2",
    "=3",
    "+=1",
    "~=1",
    "~dataset",
    "hydra=1",
]


@pytest.mark.parametrize("word", UNLISTABLE)
@pytest.mark.parametrize("read", [compose, expand])
def test_no_sweep_function_and_no_malformed_override_is_an_exception(
    word: str, read: Callable[[list[str]], object]
) -> None:
    with pytest.raises(UserError, match=r"\A[^\n]+\Z"):
        read(_with_others(word))


@pytest.mark.parametrize("word", UNLISTABLE)
def test_a_config_with_a_malformed_override_is_shown_or_refused(word: str) -> None:
    with suppress(UserError):
        show(_with_others(word))


def _with_others(word: str) -> list[str]:
    """The word, with a dataset and a method where it is neither."""
    given = ("dataset=hepatitis", "method=median")
    return [*(text for text in given if text[:4] != word[:4]), word]


def test_an_interval_is_refused_with_what_to_write_instead() -> None:
    with pytest.raises(UserError, match=r"seed=interval\(0,1\).*expected values.*range\(0,5\)"):
        expand(["dataset=hepatitis", "method=median", "seed=interval(0,1)"])


def test_the_arguments_of_a_function_are_complained_of_and_not_to_be_quoted() -> None:
    with pytest.raises(UserError, match="empty choice") as refused:
        hydra.parse(["seed=choice()"])
    assert "quotes" not in str(refused.value)


# ------------------------------------------------------------------------------ lists for SLURM

LISTS = [
    ("cluster.partition=a,b", "partition", "a,b"),
    ("cluster.partition=[a,b]", "partition", "a,b"),
    ('cluster.partition="a,b"', "partition", "a,b"),
    ("cluster.partition='a','b'", "partition", "a,b"),
    ("cluster.partition=null", "partition", None),
    ("cluster.mail_type=END,FAIL", "mail_type", "END,FAIL"),
    ("cluster.by.bank.partition=a,b", "partition", "a,b"),
    ("cluster.by.bank.interval.mail_type=END,FAIL", "mail_type", "END,FAIL"),
    ("cluster.options.exclude=n1,n2", "options", {"exclude": "n1,n2"}),
    ("+cluster.options.nodelist=n1,n2", "options", {"nodelist": "n1,n2"}),
    ("cluster.options.exclude=n[1,3-5],m7", "options", {"exclude": "n[1,3-5],m7"}),
    ("cluster.options.nodelist=n[1-5]", "options", {"nodelist": "n[1-5]"}),
    ("cluster.options.gres=gpu:1,disk:2", "options", {"gres": "gpu:1,disk:2"}),
    ("cluster.by.bank.options.exclude=n1,n2", "options", {"exclude": "n1,n2"}),
]


@pytest.mark.parametrize(("word", "name", "value"), LISTS)
@pytest.mark.parametrize("is_sweep", [False, True])
def test_commas_in_a_list_for_slurm_are_no_sweep(
    word: str, name: str, value: object, is_sweep: bool
) -> None:
    words = ["dataset=bank", "method=interval", "fold=1", "cluster=slurm", word]
    (config,) = expand(words) if is_sweep else [compose(words)]
    assert getattr(config.cluster, name) == value


def test_a_list_for_slurm_is_swept_when_that_is_written_out() -> None:
    words = ["dataset=bank", "method=interval", "fold=1", "cluster.partition=choice(a,b)"]
    assert [config.cluster.partition for config in expand(words)] == ["a", "b"]


def test_other_settings_of_a_cluster_are_swept_as_everywhere() -> None:
    words = ["dataset=bank", "method=interval", "fold=1", "cluster.cpus=1,2"]
    assert [config.cluster.cpus for config in expand(words)] == [1, 2]


@pytest.mark.parametrize("value", ["a,,b", ",a", "a,"])
def test_a_list_for_slurm_with_an_empty_name_is_refused(value: str) -> None:
    with pytest.raises(UserError, match="expected names between commas"):
        compose(["dataset=bank", "method=interval", f"cluster.partition={value}"])
