"""Which variant of a study a fold is: one folder for each answer, whoever asks and when."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsm_hpc.errors import UserError
from fsm_hpc.formulas.language import Language
from fsm_hpc.search.solvers.names import Encoding, SolverName
from fsm_hpc.study import result, variants
from fsm_hpc.study.compose import compose
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold import fold_paths
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.system import serialization
from tests.support.made_studies import fold_result, put

SECTIONS = ("scan", "final", "solver", "cluster", "dataset", "method", "language")
WRITTEN = Path(__file__).parents[1] / "golden" / "format_1"


@cache
def composed(method: str, dataset: str = "hepatitis") -> Config:
    return compose([f"dataset={dataset}", f"method={method}", "solver=native", "cluster=local"])


def config(
    folder: Path, method: str = "pivot", dataset: str = "hepatitis", **changes: Any
) -> Config:
    """A fold of a study in the folder; `scan_patience=3` sets scan.patience."""
    made = replace(composed(method, dataset), results_dir=folder, study="s")
    for key, value in changes.items():
        section, _, name = key.partition("_")
        if section in SECTIONS and name:
            made = replace(made, **{section: replace(getattr(made, section), **{name: value})})
        else:
            made = replace(made, **{key: value})
    return made


def names(configs: list[Config]) -> list[str]:
    return [one.variant for one in variants.assign_variants(configs)]


def begin(*configs: Config) -> list[str]:
    """Place the folds and write down that they have begun."""
    placed = variants.assign_variants(configs)
    variants.save_defaults(placed)
    return [one.variant for one in placed]


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        ({}, {"scan_patience": 3}, "scan.patience=3"),
        ({}, {"scan_plateau": None}, "scan.plateau=null"),
        ({}, {"folds": 5}, "folds=5"),
        ({}, {"language_name": Language.XOR}, "language=xor"),
        ({}, {"validation_fraction": 0.2}, "validation_fraction=0.2"),
        ({}, {"dataset_missing": "keep"}, "dataset.missing=keep"),
        ({}, {"seed": 2, "scan_patience": 3}, "scan.patience=3+seed=2"),
    ],
)
def test_other_settings_are_a_variant_in_one_sweep_and_in_a_later_command(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], name: str
) -> None:
    one, other = config(tmp_path, **first), config(tmp_path, **second)
    assert names([one, other]) == ["", name]
    assert begin(one) == [""]
    assert begin(other) == [name]
    assert names([one, other]) == ["", name]
    assert begin(other, one) == [name, ""]


def test_another_way_to_read_a_table_is_a_variant_of_a_study_that_has_begun(tmp_path: Path) -> None:
    one, other = config(tmp_path), config(tmp_path, dataset_drop=("age", "sex"))
    assert begin(one) == [""]
    assert begin(other) == ["dataset.drop=age~sex"]
    assert names([other, one]) == ["dataset.drop=age~sex", ""]


def test_ten_seeds_have_ten_folders(tmp_path: Path) -> None:
    seeds = [config(tmp_path, seed=seed) for seed in range(10)]
    folders = {fold_paths(one).folder for one in variants.assign_variants(seeds)}
    assert len(folders) == 10


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({"seed": 1}, {"seed": 2}, ["seed=1", "seed=2"]),
        ({"seed": 42}, {"seed": 2}, ["", "seed=2"]),
        ({}, {"solver_name": SolverName.CLINGO_DL}, ["solver=native", "solver=clingo_dl"]),
        ({"scan_plateau": None}, {"scan_plateau": 4}, ["scan.plateau=null", ""]),
        (
            {"dataset_drop": ("age",)},
            {"dataset_drop": ("sex",)},
            ["dataset.drop=age", "dataset.drop=sex"],
        ),
        ({"dataset_missing": "keep"}, {"dataset_missing": "drop"}, ["dataset.missing=keep", ""]),
        (
            {"dataset_target": "sex"},
            {"dataset_target": "lives"},
            ["dataset.target=sex", "dataset.target=lives"],
        ),
        ({"dataset_date": ("age",)}, {"dataset_date": ()}, ["dataset.date=age", ""]),
    ],
)
def test_the_variants_of_a_sweep_do_not_depend_on_the_order_of_its_values(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], expected: list[str]
) -> None:
    one, other = config(tmp_path, **first), config(tmp_path, **second)
    assert names([one, other]) == expected
    assert begin(other, one) == expected[::-1]
    assert [*names([one]), *names([other])] == expected


def test_a_study_that_begins_with_one_value_has_it_as_its_own(tmp_path: Path) -> None:
    one, other = config(tmp_path, seed=1), config(tmp_path, seed=2)
    assert (begin(one), begin(other)) == ([""], ["seed=2"])
    assert names([one, other]) == ["", "seed=2"]


def test_what_does_not_change_the_answer_makes_no_variant(tmp_path: Path) -> None:
    begin(config(tmp_path))
    other = config(tmp_path, scan_budget_h=1.0, cluster_cpus=3, solver_threads=1)
    assert names([other]) == [""]


def test_what_a_method_does_not_use_makes_no_variant_of_it(tmp_path: Path) -> None:
    forest = [
        config(tmp_path, "random_forest", scan_patience=patience, solver_name=solver)
        for patience in (2, 3)
        for solver in (SolverName.NATIVE, SolverName.CLINGO_DL)
    ]
    assert names(forest) == [""]  # one job, where a formula has four


def test_each_baseline_table_and_solver_has_settings_of_its_own(tmp_path: Path) -> None:
    begin(config(tmp_path))
    forest = config(tmp_path, "random_forest", method_trials=7)
    plain: dict[str, Any] = {"solver_name": SolverName.CLINGO_DL, "solver_encoding": Encoding.PLAIN}
    bank = config(tmp_path, "pivot", "bank", dataset_drop=("age",))
    assert begin(forest, config(tmp_path, **plain), bank) == ["", "solver=clingo_dl", ""]
    fast = plain | {"solver_encoding": Encoding.FAST}
    assert names([config(tmp_path, **fast)]) == ["solver=clingo_dl+solver.encoding=fast"]
    assert names([config(tmp_path, "random_forest", method_trials=8)]) == ["method.trials=8"]


@pytest.mark.parametrize(
    "changes", [{"scan_budget_h": 1.0}, {"cluster_cpus": 3}, {"data_dir": Path("elsewhere")}]
)
def test_two_jobs_for_one_folder_are_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=r"two jobs for the folder .*s/hepatitis/pivot/fold-0"):
        variants.assign_variants([config(tmp_path), config(tmp_path, **changes)])


def test_a_name_does_not_depend_on_the_order_of_the_words() -> None:
    assert variants.name_of({"seed": 2, "folds": 5}) == variants.name_of({"folds": 5, "seed": 2})


values = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=400)
)
some_settings = st.dictionaries(
    st.sampled_from(sorted(variants.KEYS)), values | st.lists(st.text()), min_size=1
)


@given(some_settings)
def test_a_name_is_one_short_folder_that_shells_and_paths_do_not_mind(settings: Any) -> None:
    name = variants.name_of(settings)
    assert re.fullmatch(r"[\w.+=~%-]+", name, re.ASCII)
    assert len(name) <= variants.LONGEST
    assert "=" in name


@pytest.mark.parametrize("value", ["\udcff", "\ud800x", "a~b", "µ/名", "\0", "%7E"])
def test_a_value_that_is_no_text_has_a_name_and_is_read_back(value: str) -> None:
    name = variants.name_of({"dataset.group": value})
    assert re.fullmatch(r"[\w.+=~%-]+", name, re.ASCII)
    assert variants.texts({"dataset.group": value}) == {"dataset.group": value}


@given(some_settings, some_settings)
def test_two_variants_never_share_a_name(one: Any, other: Any) -> None:
    said = [{k: variants.text_of(v) for k, v in s.items()} for s in (one, other)]
    assert (variants.name_of(one) == variants.name_of(other)) == (said[0] == said[1])


def test_the_folders_of_variants_are_found_again(tmp_path: Path) -> None:
    placed = variants.assign_variants([config(tmp_path, seed=seed) for seed in (1, 2)])
    for one in placed:
        fold_paths(one).folder.mkdir(parents=True)
    study = StudyPaths(tmp_path / "s")
    assert [fold for fold, _ in study.folds_on_disk()] == [one.id for one in placed]
    for one in placed:
        assert fold_paths(one).study == study
        assert fold_paths(one).id == one.id


def old_study(folder: Path, **settings: Any) -> StudyPaths:
    """Results without a study.json, most with these settings."""
    study = StudyPaths(folder / "s")
    common = {"patience": 2, "max_length": 10, "plateau": 4} | settings
    for fold in range(3):
        put(study, fold_result("hepatitis", "pivot", fold, settings=common))
    put(study, fold_result("bank", "pivot", 0, settings=common | {"seed": 7}))
    return study


def test_an_old_study_is_known_by_its_results(tmp_path: Path) -> None:
    old_study(tmp_path)
    assert names([config(tmp_path), config(tmp_path, seed=7)]) == ["", "seed=7"]


def test_a_fold_of_an_old_study_with_settings_of_its_own_keeps_its_folder(tmp_path: Path) -> None:
    old_study(tmp_path)
    mine, usual = (config(tmp_path, "pivot", "bank", seed=seed) for seed in (7, 42))
    assert names([mine, usual]) == ["", "seed=42"]
    begin(usual)
    assert names([mine, usual]) == ["", "seed=42"]
    assert names([config(tmp_path, "pivot", "bank", seed=8)]) == ["seed=8"]


def test_a_study_without_a_study_file_is_known_by_its_results(tmp_path: Path) -> None:
    shutil.copytree(WRITTEN, tmp_path / "s")
    fold = FoldId("hepatitis", "median", 0)
    saved = result.load(StudyPaths(WRITTEN).fold(fold).result, fold)
    assert saved is not None
    then: dict[str, Any] = {
        "folds": saved.settings["folds"],
        "scan_plateau": None,
        "scan_max_length": saved.settings["max_length"],
        "solver_name": SolverName(saved.solver),
    }
    assert names([config(tmp_path, "median", fold=fold, **then) for fold in (0, 1)]) == ["", ""]
    now = config(tmp_path, "median", **then | {"scan_plateau": 4})
    assert names([now]) == ["scan.plateau=4"]


def test_a_study_file_that_is_damaged_is_made_anew_from_the_results(tmp_path: Path) -> None:
    study = old_study(tmp_path)
    for text in ("", "{", "[]", '{"format": 1, "settings": 3}', '{"format": "one"}'):
        study.settings.write_text(text)
        assert names([config(tmp_path), config(tmp_path, seed=1)]) == ["", "seed=1"]
        begin(config(tmp_path, seed=1))
        assert names([config(tmp_path), config(tmp_path, seed=1)]) == ["", "seed=1"]
    assert len(list(study.root.glob(".damaged-study.json-*"))) == 5


def test_a_study_file_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    study = old_study(tmp_path)
    study.settings.write_text('{"format": 99, "version": "9.0"}')
    with pytest.raises(UserError, match=r"study.json was written by a newer version of fsm_hpc"):
        names([config(tmp_path)])


def test_a_fold_that_goes_on_with_other_settings_is_known_by_them(tmp_path: Path) -> None:
    begin(config(tmp_path))
    shorter = config(tmp_path, scan_max_length=5)
    variants.save_defaults([shorter])  # `resume scan.max_length=5`: it stays where it is
    assert names([shorter, config(tmp_path)]) == ["", "scan.max_length=10"]
    begin(config(tmp_path))
    assert names([shorter, config(tmp_path)]) == ["", "scan.max_length=10"]


def test_a_study_file_says_what_it_began_with(tmp_path: Path) -> None:
    begin(config(tmp_path, seed=1), config(tmp_path, seed=2))
    saved = serialization.read(tmp_path / "s" / "study.json")
    assert saved is not None
    assert saved["settings"]["seed"] == 42
    assert saved["variants"] == {f"seed={n}": {"seed": n} for n in (1, 2)}
