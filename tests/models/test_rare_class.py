"""A large table with a rare class: a usable rule within the default budget."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import rare_class


@pytest.mark.slow
def test_a_large_table_with_a_rare_class_has_a_rule_as_good_as_a_tree_in_time(
    tmp_path: Path,
) -> None:
    outcome = rare_class.run(tmp_path)
    assert outcome.is_in_time
    assert outcome.is_good_enough
