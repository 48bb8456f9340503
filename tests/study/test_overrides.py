"""A word of a command means the same to `status` and its like as to the sweep that it names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fsm_hpc.cluster import submissions
from fsm_hpc.cluster.submit import resume
from fsm_hpc.study.compose import compose, expand
from fsm_hpc.study.config_folders import names_in
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold import fold_paths
from fsm_hpc.study.overrides import Override
from tests.support.command_line import run_command
from tests.support.made_studies import fold_result, put

FOLD = ["dataset=bank", "method=pivot", "fold=0"]


# ---------------------------------------------------------------------------------------- one value


@pytest.mark.parametrize(
    ("text", "study"),
    [
        ("study=paper", "paper"),
        ("study=a-b.c_d", "a-b.c_d"),
        ("study=a b", "a b"),
        (r"study=a\ b", "a b"),
        ('study="my study"', "my study"),
        ("study='a b'", "a b"),
        (r'study="say \"no\""', 'say "no"'),
        (r"study='it\'s'", "it's"),
        ('study="a,b"', "a,b"),
        (r"study=a\,b", "a,b"),
        ('study="glob(*)"', "glob(*)"),
        ('study="über"', "über"),
        ('study="007"', "007"),
        ("study='1.10'", "1.10"),
        ("study=2026-01-31", "2026-01-31"),
    ],
)
def test_a_value_is_the_one_that_a_fold_is_run_with(text: str, study: str) -> None:
    assert compose([*FOLD, text]).study == study
    assert Override(text).value == study
    assert Override(text).names(study)


@pytest.mark.parametrize("text", ["study=1.10", "study=1e3", "study=True", "study=1_000"])
def test_what_hydra_takes_for_a_number_or_truth_is_the_study_that_a_fold_is_written_to(
    text: str,
) -> None:
    assert Override(text).value == compose([*FOLD, text]).study


# ----------------------------------------------------------------------------------- several values


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("study=a,c", {"a", "c"}),
        ('study="a b",c', {"a b", "c"}),
        ("study='a b','c d'", {"a b", "c d"}),
        (r"study=a\ b,c", {"a b", "c"}),
        (r'study="x \"y\"",c', {'x "y"', "c"}),
        ("study=choice(a,c)", {"a", "c"}),
        ("study=range(1,4)", {"1", "2", "3"}),
    ],
)
def test_several_values_are_those_of_the_sweep(text: str, named: set[str]) -> None:
    others = {"a", "a b", "b", "c", "c d", 'x "y"', "1", "2", "3", "4", "'a b'", '"a b"'}
    assert {config.study for config in expand([*FOLD, text])} == named
    assert {value for value in others if Override(text).names(value)} == named


@pytest.mark.parametrize(
    ("wanted", "fitting"),
    [
        ("bank", {"bank"}),
        ("bank,hepatitis", {"bank", "hepatitis"}),
        ("glob(*)", {"bank", "hepatitis", "3"}),
        ("glob(h*)", {"hepatitis"}),
        ("range(2,5)", {"3"}),
        ("range(3)", set()),
    ],
)
def test_filters_understand_hydras_ways_to_name_several(wanted: str, fitting: set[str]) -> None:
    word = Override(f"key={wanted}")
    assert {v for v in ("bank", "hepatitis", "3") if word.names(v)} == fitting


@pytest.mark.parametrize(
    "text",
    [
        "dataset=bank",
        'dataset="bank"',
        "dataset=bank,hepatitis",
        "dataset='bank',\"hepatitis\"",
        "dataset=glob(h*)",
        "dataset=glob([h*,b*])",
        "dataset=glob([h*,b*],exclude=bank)",
    ],
)
def test_datasets_are_those_of_the_sweep(text: str) -> None:
    meant = {config.dataset.name for config in expand([text, *FOLD[1:]])}
    assert {name for name in names_in("dataset") if Override(text).names(name)} == meant


@pytest.mark.parametrize("text", ["fold=2", "fold=1,4", "fold=range(1,4)", "fold=range(0,10,3)"])
def test_folds_are_those_of_the_sweep(text: str) -> None:
    meant = [config.fold for config in expand([*FOLD[:2], text])]
    assert [fold for fold in range(10) if Override(text).names(str(fold))] == meant


# ------------------------------------------------------------------------------------ on disk


@pytest.mark.parametrize("name", ["my study", "it's", 'say "no"', "a,b", "50% (new)"])
@pytest.mark.parametrize("quote", ['"', "'"])
def test_a_study_with_an_awkward_name_is_found_as_it_was_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, quote: str
) -> None:
    escaped = name.replace(quote, f"\\{quote}")
    words = [f"results_dir={tmp_path}", f"study={quote}{escaped}{quote}"]
    config = compose([*FOLD, *words])
    submission = submissions.new_submission(config, "local")
    submissions.save(fold_paths(config), submission)
    done = fold_result("bank", "pivot", 0)
    ended = replace(done, provenance=done.provenance | {"generation": submission.generation})
    put(StudyPaths(tmp_path / name), ended)
    assert run_command("status", *words) == 0
    assert "1 fold: 1 done" in capsys.readouterr().out
    assert run_command("collect", *words) == 0
    assert capsys.readouterr().out.startswith(f"{name}: 10 folds: 1 done, 9 missing")
    found = resume.configs(words)
    assert ([one.study for one in found.configs], found.unknown) == ([name], [])
