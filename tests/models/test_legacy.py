"""model.json of version 0.2 is read as the model that it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fsm_hpc import FormulaClassifier, UserError
from fsm_hpc.models import model as model_file

GOLDEN = Path(__file__).parents[1] / "golden" / "models"
FILES = ("two_classes_0.2.json", "three_classes_0.2.json")


@pytest.mark.parametrize("name", FILES)
def test_a_model_of_version_0_2_predicts_as_its_file_says(name: str) -> None:
    saved = json.loads((GOLDEN / name).read_text())
    model = model_file.load(GOLDEN / name)
    assert model.words == saved["words"]
    assert (model.errors, model.rows, model.proved) == (saved["errors"], saved["rows"], True)
    assert model.shares == pytest.approx(saved["shares"])
    loaded = FormulaClassifier.load(GOLDEN / name)
    assert loaded.errors_ == saved["errors"]
    assert loaded.get_rules()["prediction"].tolist()[-1] == model.otherwise


@pytest.mark.parametrize("name", FILES)
def test_it_is_written_in_the_new_format_without_loss(name: str, tmp_path: Path) -> None:
    model = model_file.load(GOLDEN / name)
    model_file.save(tmp_path / "model.json", model)
    assert json.loads((tmp_path / "model.json").read_text())["format"] == model_file.FORMAT
    assert model_file.load(tmp_path / "model.json") == model


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("missing", ["rules", "shares", "class_shares", "classes", "otherwise"])
def test_a_damaged_old_file_is_refused_by_name(name: str, missing: str, tmp_path: Path) -> None:
    saved = json.loads((GOLDEN / name).read_text())
    if missing not in saved or (missing, name) == ("shares", FILES[1]):
        pytest.skip("not a field of this kind of file that is read")
    del saved[missing]
    (tmp_path / "model.json").write_text(json.dumps(saved))
    with pytest.raises(UserError, match=r"model\.json"):
        model_file.load(tmp_path / "model.json")
