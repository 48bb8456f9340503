"""Shipped lists of functions and plans are those that the grammar gives."""

from __future__ import annotations

import gzip

import pytest

from fsm_hpc.formulas.functions import functions, listed_functions
from fsm_hpc.formulas.language import Language
from fsm_hpc.formulas.shipped_lists import FOLDER, SHIPPED, path_of
from fsm_hpc.search.solvers.native.plans import listed_plans, plans
from scripts.build_lists import content_of

QUICK = [(language, sizes[0]) for language, sizes in SHIPPED.items()]
SLOW = [(language, size) for language, sizes in SHIPPED.items() for size in sizes[1:]]
CASES = [*QUICK, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)]


@pytest.mark.parametrize(("language", "size"), CASES, ids=lambda one: getattr(one, "value", one))
def test_a_shipped_list_is_what_the_grammar_gives(language: Language, size: int) -> None:
    shipped = gzip.decompress(path_of(size, language).read_bytes())
    assert shipped == gzip.decompress(content_of(size, language))


@pytest.mark.parametrize(("language", "size"), QUICK, ids=lambda one: getattr(one, "value", one))
def test_a_list_comes_back_from_its_file(language: Language, size: int) -> None:
    listed = listed_functions(size, language)
    assert functions(size, language) == listed
    for wide in (False, True):
        assert plans(size, wide, language) == listed_plans(listed, wide)


def test_no_other_list_is_shipped() -> None:
    expected = {path_of(size, language) for language, sizes in SHIPPED.items() for size in sizes}
    assert set(FOLDER.iterdir()) == expected
