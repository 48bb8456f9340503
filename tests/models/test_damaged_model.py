"""model.json in any shape: every command that reads one says what it expected, and none falls."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds import ColumnSchema
from fsm_hpc.formulas.parser import parse
from fsm_hpc.models import model
from fsm_hpc.models.exporters import FORMATS
from fsm_hpc.models.model import Model, Rule
from tests.faults import ledger
from tests.faults.ledger import EscapedError
from tests.support.command_line import said
from tests.support.damage import Damage, damages

CASES = ledger.pick(90, 700)
RULE = Model(
    target="bought",
    rules=(Rule(parse("age >= 40 and not job_services or member"), "yes", 6, 3, True, 0.8),),
    otherwise="no",
    sources=(
        ColumnSchema("age", KindName.NUMERIC),
        ColumnSchema("job", KindName.CATEGORICAL, ("services", "other")),
        ColumnSchema("member", KindName.BOOLEAN, (), ("y",), ("n",)),
    ),
    class_shares=((0.75, 0.25), (0.2, 0.8)),
    method="pivot",
    rows=40,
    errors=3,
    figures={"majority": 0.5},
    reading={"missing_values": ["?"], "zero_is_missing": ["age"]},
    settings={"data": "0123"},
    provenance={"version": "0.2.0"},
)


@pytest.mark.parametrize(
    "damage",
    [pytest.param(one, id=f"{n}-{one.name}") for n, one in enumerate(islice(damages(1), CASES))],
)
def test_a_damaged_model_is_the_users_to_know(
    tmp_path: Path, damage: Damage, request: pytest.FixtureRequest
) -> None:
    path, table = tmp_path / "model.json", tmp_path / "new.csv"
    table.write_text("age,job,member\n41,services,y\n?,other,n\n30,none,n\n")
    model.save(path, RULE)
    assert said("predict", str(path), str(table))[0] == 0
    damage.spoil(path)
    commands = [["export", str(path), "--to", language] for language in FORMATS]
    with ledger.case("damaged files x commands", f"model {request.node.callspec.id}") as case:
        for words in (["predict", str(path), str(table)], ["explain", str(path)], *commands):
            case.tried += 1
            code, printed = said(*words)
            if code not in (0, 2) or (code and not printed.startswith(b"fsm_hpc: ")):
                raise EscapedError(f"{words}: {code}: {printed!r}")


@pytest.mark.parametrize("text", ["bought", "services", "?", "no"])
def test_half_of_a_surrogate_pair_is_refused(tmp_path: Path, text: str) -> None:
    path, table = tmp_path / "model.json", tmp_path / "new.csv"
    table.write_text("age,job,member\n41,services,y\n")
    model.save(path, RULE)
    path.write_text(path.read_text().replace(f'"{text}"', '"\\ud800"'))
    code, printed = said("predict", str(path), str(table))
    assert code == 2
    assert b"expected Unicode text, found half of a surrogate pair" in printed
