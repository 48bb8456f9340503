"""The seven tables have the rows, columns and values of the paper; eight more those of UCI."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fsm_hpc.data.columns import Kind
from fsm_hpc.data.dataset import Dataset, load
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.study.compose import expand
from fsm_hpc.system.files import shipped_data_dir
from tests.support.tables import MORE_NAMES, NAMES, SHIPPED, shared_file, spec_of

# rows, rows where the target is true, dropped rows, numeric, Boolean, categorical, one-hot columns
FACTS = {
    "bank": (4521, 521, 0, 7, 0, 9, 51),
    "breast_cancer": (683, 444, 16, 9, 0, 0, 9),
    "diabetes": (392, 130, 376, 8, 0, 0, 8),
    "german_credit": (1000, 700, 0, 7, 0, 13, 61),
    "heart_disease": (303, 165, 0, 5, 3, 5, 27),
    "hepatitis": (129, 105, 26, 4, 13, 0, 17),
    "student_dropout": (4424, 1421, 0, 27, 7, 2, 112),
}
MORE = {  # the same of the other tables that are shipped
    "breast_cancer_diagnostic": (569, 212, 0, 30, 0, 0, 30),
    "car_evaluation": (1728, 1210, 0, 0, 0, 6, 21),
    "fertility": (100, 12, 0, 5, 3, 1, 12),
    "haberman_survival": (306, 81, 0, 3, 0, 0, 3),
    "hypothyroid": (2000, 122, 1163, 6, 11, 1, 19),
    "ionosphere": (351, 225, 0, 32, 1, 0, 33),
    "mammographic_mass": (830, 403, 0, 2, 0, 2, 11),
    "spectf_heart": (267, 212, 0, 44, 0, 0, 44),
}
DISTINCT = {
    "bank": "age 67 balance 2353 day 31 duration 875 campaign 32 pdays 292 previous 24 job 12 "
    "marital 3 education 4 default 2 housing 2 loan 2 contact 3 month 12 poutcome 4",
    "breast_cancer": "clump_thickness 10 uniformity_of_cell_size 10 uniformity_of_cell_shape 10 "
    "marginal_adhesion 10 single_epithelial_cell_size 10 bare_nuclei 10 bland_chromatin 10 "
    "normal_nucleoli 10 mitoses 9",
    "diabetes": "Pregnancies 17 Glucose 117 BloodPressure 37 SkinThickness 48 Insulin 184 BMI 194 "
    "DiabetesPedigreeFunction 331 Age 43",
    "german_credit": "A2 33 A5 921 A8 4 A11 4 A13 53 A16 4 A18 2 A1 4 A3 5 A4 10 A6 5 A7 5 A9 4 "
    "A10 3 A12 4 A14 3 A15 3 A17 4 A19 2 A20 2",
    "heart_disease": "age 41 trtbps 49 chol 152 thalachh 91 oldpeak 40 cp 4 restecg 3 slp 3 caa 5 "
    "thall 4",
    "hepatitis": "age 45 bilirubin 33 sgot 75 albumin 29",
    "student_dropout": "Marital_status 6 Application_mode 18 Course 17 Nacionality 21 "
    "Previous_qualification_grade 101 Admission_grade 620 Age_at_enrollment 46 "
    "Curricular_units_1st_sem_grade 805 Curricular_units_2nd_sem_approved 20 "
    "Curricular_units_2nd_sem_grade 786 GDP 10 Mothers_occupation 32 Fathers_occupation 46",
}


DIGESTS = {
    "bank": "44a46e27f9ca1ae48eda3e07959674878e483685735e9246502fa874b97b87ce",
    "breast_cancer": "b73ff72dc5a1d1982191fc3ae51ad94384fecdcccb6a984f08975abd6eefb4b7",
    "diabetes": "2c02e76357cdef3d3c52abd4bd108c98ad8e1919e1263654999500d030c03e48",
    "german_credit": "b24e310b03e165b3d06753955cfccb601a0f1d63292edd6f0e2f45fbf3e8d555",
    "heart_disease": "99833aa410e39808c49c64488b9ae6adf06bf640b08b79e6e4546b1b23e0ad17",
    "hepatitis": "a676b0509610293c0bdd4344a4bf387f11772a3bd7978b6046019e1ab909f01e",
    "student_dropout": "eb43fd03d9c7066a374728ad2dda71249c48b3dc4a0c3f38252b8bfcb93e0158",
}


@pytest.fixture(autouse=True)
def _no_tables_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FSM_DATA_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def _table(name: str) -> Dataset:
    folder = shared_file("student_dropout.csv").parent if name == "student_dropout" else None
    return load(spec_of(name), folder)


@pytest.mark.parametrize("name", [*NAMES, *MORE_NAMES])
def test_a_table_has_the_rows_columns_and_class_balance_that_its_page_says(name: str) -> None:
    table = _table(name)
    kinds = [schema.kind for schema in table.schemas]
    counted = [kinds.count(KindName(kind)) for kind in ("numeric", "boolean", "categorical")]
    found = (table.rows, int(table.labels.sum()), table.dropped_rows, *counted, len(table.columns))
    assert found == (FACTS | MORE)[name]


@pytest.mark.parametrize("name", NAMES)
def test_columns_have_as_many_distinct_values_as_in_the_paper(name: str) -> None:
    table = _table(name)
    words = DISTINCT[name].split()
    expected = dict(zip(words[::2], map(int, words[1::2]), strict=True))
    found = {c.name: len(np.unique(c.values)) for c in table.columns if c.source is None}
    for source in {c.source for c in table.columns if c.source}:
        found[source] = sum(c.source == source for c in table.columns)
    assert {column: found[column] for column in expected} == expected


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_table_is_the_papers_byte_for_byte(name: str) -> None:
    shipped = gzip.decompress((shipped_data_dir() / f"{name}.csv.gz").read_bytes())
    assert shipped == shared_file(f"{name}.csv").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_the_digest_does_not_depend_on_where_the_file_is(name: str) -> None:
    here = load(spec_of(name), shared_file(f"{name}.csv").parent)
    assert here.place == "data_dir"
    if name != "student_dropout":
        assert load(spec_of(name), None).digest == here.digest


@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_read_as_in_version_0_1(name: str) -> None:
    assert _table(name).digest == DIGESTS[name]


@pytest.mark.parametrize("name", NAMES)
def test_every_category_column_is_true_on_exactly_one_row_of_its_group(name: str) -> None:
    table = _table(name)
    for source in {c.source for c in table.columns if c.source}:
        holds = [c.values for c in table.columns if c.source == source]
        assert (np.sum(holds, axis=0) == 1).all()


def test_the_second_study_is_of_the_tables_that_the_paper_has_not() -> None:
    assert {config.dataset.name for config in expand(["+experiment=more"])} == set(MORE_NAMES)


def test_the_folds_see_no_missing_value() -> None:
    for name in ("breast_cancer", "diabetes", "hepatitis"):
        assert load(spec_of(name), None).table().notna().to_numpy().all()


def test_categories_become_columns_that_know_their_source() -> None:
    bank = load(spec_of("bank"), None)
    column = next(c for c in bank.columns if c.name == "poutcome_success")
    assert (column.kind, column.source, column.category) == (Kind.BOOLEAN, "poutcome", "success")
    assert bank.phrases()["poutcome_success"] == ("poutcome", "success")


def test_the_baselines_get_numbers_as_they_are() -> None:
    table = load(spec_of("heart_disease"), None).table()
    raw = pd.read_csv(shipped_data_dir() / "heart_disease.csv.gz")
    assert table["oldpeak"].tolist() == raw["oldpeak"].tolist()
    assert table["chol"].dtype == np.int64
    assert table["cp_3"].tolist() == (raw["cp"] == 3).tolist()


def test_in_hepatitis_two_means_true() -> None:
    table = load(spec_of("hepatitis"), None)
    raw = pd.read_csv(shipped_data_dir() / "hepatitis.csv.gz", na_values="?")
    raw = raw.drop(columns=["alk_phosphate", "protime"]).dropna()
    assert table.table()["ascites"].tolist() == (raw["ascites"] == 2).tolist()
    assert table.labels.tolist() == (raw["lives"] == 2).tolist()


def test_the_documented_numbers_are_these() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "datasets.md"
    text = page.read_text(encoding="utf-8")
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| `")][1:8]
    found = {}
    for name, used, dropped, true, *kinds, _ in rows:
        positive = int(true.rpartition(":")[2])
        found[name.strip("` ")] = (int(used), positive, int(dropped), *map(int, kinds))
    assert found == FACTS


@pytest.mark.slow
def test_the_shipped_tables_are_what_the_script_builds() -> None:
    command = [sys.executable, "-m", "scripts.build_data", "--check"]
    root = Path(__file__).parents[2]
    ended = subprocess.run(
        command, cwd=root, capture_output=True, text=True, timeout=300, check=False
    )
    if "No matching distribution" in ended.stderr:
        pytest.skip("the package registry cannot be reached, so this was not tested")
    assert ended.returncode == 0, ended.stderr
