"""The table counts what was tried, each case once, by what it came to last."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from tests.faults import ledger
from tests.faults.ledger import Case


def test_a_case_that_is_tried_again_counts_by_its_last_line(tmp_path: Path) -> None:
    lines = tmp_path / "cases.jsonl"
    tried = [
        Case("kills", "a", 3, {"lost": 1}, "gone"),
        Case("kills", "b", 2),
        Case("races", "a", 1, {"hangs": 1}, "no end"),
        Case("kills", "a", 4),
    ]
    lines.write_text("".join(json.dumps(asdict(one)) + "\n" for one in tried) + '{"kind": "ki')
    cases = ledger.read(lines)
    assert [(one.kind, one.name, one.tried) for one in cases] == [
        ("kills", "a", 4),
        ("kills", "b", 2),
        ("races", "a", 1),
    ]
    assert [line.split() for line in ledger.table(cases).splitlines()[1:]] == [
        ["kills", "6", "6", "0", "0", "0", "0", "0"],
        ["races", "1", "0", "0", "0", "1", "0", "0"],
        ["all", "7", "6", "0", "0", "1", "0", "0"],
    ]


def test_nothing_tried_is_no_case(tmp_path: Path) -> None:
    assert ledger.read(tmp_path / "cases.jsonl") == []
