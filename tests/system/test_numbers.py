"""Numbers as they are said."""

from __future__ import annotations

import pytest

from fsm_hpc.system.numbers import counted, duration, how_far, listed, number_ranges


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 folds"), (1, "1 fold"), (2, "2 folds"), (11, "11 folds")]
)
def test_one_is_said_in_the_singular(number: int, said: str) -> None:
    assert counted(number, "fold") == said


def test_a_plural_of_its_own_is_given() -> None:
    assert counted(3, "category", "categories") == "3 categories"
    assert counted(1, "category", "categories") == "1 category"


def test_numbers_are_shown_as_ranges() -> None:
    assert number_ranges([0, 1, 2, 5, 7, 8]) == "0-2, 5, 7, 8"


def test_thousands_of_names_are_not_listed() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed([f"g{n}" for n in range(7000)], 2) == "g0, g1 and 6998 others"
    assert listed([]) == ""


def test_an_estimate_is_as_exact_as_it_is() -> None:
    told = [duration(seconds) for seconds in (40, 200, 9000, 400_000)]
    assert told == ["40 s", "3 min", "2.5 h", "5 days"]
    assert how_far(0.5, None) == "50 % searched"
    assert how_far(0.5, 60.0) == "50 % searched, 20 s to 3 min left"
