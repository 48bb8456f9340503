"""A spreadsheet formula refers to the cells of the user's own table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fsm_hpc import FormulaClassifier
from fsm_hpc.cli.main import main


def test_cells_are_where_the_columns_of_the_table_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.integers(0, 9, (60, 3)), columns=["first", "second", "third"])
    classifier = FormulaClassifier(length=1, solver="native").fit(frame, frame["third"] >= 5)
    classifier.save(tmp_path / "model.json")
    frame.to_csv(tmp_path / "my.csv", index=False)
    words = ["export", f"{tmp_path}/model.json", "--to"]
    assert main([*words, "excel", "--table", f"{tmp_path}/my.csv"]) == 0
    places, formula = capsys.readouterr().out.splitlines()
    assert places == "C: third"
    assert "C2" in formula
    assert "A2" not in formula
    assert classifier.export("excel", header=list(frame.columns)).splitlines() == [places, formula]
    assert main([*words, "sql", "--table", f"{tmp_path}/my.csv"]) == 2
    other = frame.drop(columns="third")
    other.to_csv(tmp_path / "other.csv", index=False)
    assert main([*words, "excel", "--table", f"{tmp_path}/other.csv"]) == 2
    assert "expected the column 'third' in the sheet" in capsys.readouterr().err
