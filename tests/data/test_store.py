"""Tables are found where the user said, then in the cache, then in the package."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from fsm_hpc.data.dataset import load
from fsm_hpc.errors import UserError
from fsm_hpc.system.files import shipped_data_dir
from tests.support.tables import shared_file, spec_of


@pytest.fixture(autouse=True)
def _no_tables_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FSM_DATA_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def _put(folder: Path, name: str, content: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return folder


def test_a_folder_of_the_users_comes_before_the_cache_and_the_shipped_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = (shipped_data_dir() / "hepatitis.csv.gz").read_bytes()
    assert load(spec_of("hepatitis"), None).place == "shipped"
    _put(tmp_path / "cache" / "fsm_hpc", "hepatitis.csv", gzip.decompress(packed))
    assert load(spec_of("hepatitis"), None).place == "cache"
    monkeypatch.setenv("FSM_DATA_DIR", str(_put(tmp_path / "mine", "hepatitis.csv.gz", packed)))
    assert load(spec_of("hepatitis"), None).path == tmp_path / "mine" / "hepatitis.csv.gz"
    named = _put(tmp_path / "named", "hepatitis.csv.gz", packed)
    assert load(spec_of("hepatitis"), named).path == named / "hepatitis.csv.gz"


def test_a_changed_table_is_refused_with_both_sums_unless_the_user_says_so(tmp_path: Path) -> None:
    text = gzip.decompress((shipped_data_dir() / "heart_disease.csv.gz").read_bytes())
    changed_text = text.replace(b"63,1,3", b"64,1,3")
    folder = _put(tmp_path / "mine", "heart_disease.csv", changed_text)
    with pytest.raises(UserError) as refused:
        load(spec_of("heart_disease"), folder)
    assert str(spec_of("heart_disease").sha256) in str(refused.value)
    assert hashlib.sha256(changed_text).hexdigest() in str(refused.value)
    assert "allow_changed_data=true" in str(refused.value)
    changed = load(spec_of("heart_disease"), folder, allow_changed_data=True)
    assert changed.digest != load(spec_of("heart_disease"), None).digest


def test_diabetes_is_read_out_of_the_faraway_package() -> None:
    table = load(spec_of("diabetes"), None)
    assert table.place == "package faraway"
    assert load(spec_of("diabetes"), shared_file("diabetes.csv").parent).digest == table.digest


def test_without_faraway_the_message_says_what_to_install() -> None:
    spec = replace(spec_of("diabetes"), package="no_such_package/pima.csv.bz2")
    with pytest.raises(UserError, match="pip install no_such_package"):
        load(spec, None)


def test_without_its_file_student_dropout_says_in_one_sentence_what_to_do() -> None:
    with pytest.raises(UserError) as told:
        load(spec_of("student_dropout"), None)
    assert "datasets fetch student_dropout" in str(told.value)
    assert "\n" not in str(told.value)


def test_a_data_dir_that_is_no_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="data_dir: expected a folder"):
        load(spec_of("bank"), tmp_path / "nowhere")
