"""Formulas: size, truth, printing and reading back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsm_hpc.formulas.formula import And, Atom, Formula, Not, Or, Proposition
from fsm_hpc.formulas.parser import parse
from fsm_hpc.formulas.text import escape_latex, number

NAMES = st.one_of(
    st.sampled_from(
        ["age", "job_self-employed", "and", "x.y", "Größe", "a b", "1st", "`", ">=", "inf"]
    ),
    st.text(min_size=1, max_size=6),
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
PROPOSITIONS = st.one_of(
    st.builds(Proposition, NAMES),
    st.builds(Proposition.above, NAMES, NUMBERS),
    st.builds(Proposition.at_least, NAMES, NUMBERS),
    st.builds(
        lambda name, a, b: Proposition.within(name, min(a, b), max(a, b)), NAMES, NUMBERS, NUMBERS
    ),
)
FORMULAS: st.SearchStrategy[Formula] = st.recursive(
    st.builds(Atom, PROPOSITIONS),
    lambda part: st.one_of(
        st.builds(Not, part),
        st.lists(part, min_size=2, max_size=4).map(lambda parts: And(*parts)),
        st.lists(part, min_size=2, max_size=4).map(lambda parts: Or(*parts)),
    ),
    max_leaves=8,
)
TABLE = {
    "a": np.array([True, True, False, False]),
    "b": np.array([True, False, True, False]),
    "n": np.array([1.0, 2.5, 2.5, 4.0]),
}


@given(FORMULAS)
def test_every_formula_reads_back_from_its_own_text(formula: Formula) -> None:
    assert parse(str(formula)) == formula


@given(FORMULAS)
def test_the_size_counts_propositions_and_connectives(formula: Formula) -> None:
    leaves = len(list(formula.propositions()))
    assert formula.size == 2 * leaves - 1 + _negations(formula)


@given(FORMULAS)
def test_canonical_order_keeps_size_and_does_not_depend_on_the_order_given(
    formula: Formula,
) -> None:
    assert formula.canonical().size == formula.size
    assert _reversed(formula).canonical() == formula.canonical()


@pytest.mark.parametrize(
    ("text", "size"),
    [("a", 1), ("not a", 2), ("not (p and r)", 4), ("a or b and c", 5), ("not not a", 3)],
)
def test_sizes_are_the_papers(text: str, size: int) -> None:
    assert parse(text).size == size


@pytest.mark.parametrize(
    "text",
    [
        "age >= 29 and not (a or b)",
        "a and b or c and d",
        "(a or b) and (c or d)",
        "not (a and b)",
        "not a and not b",
        "25 <= age <= 60 or glucose > 128.5",
        "not age >= 29",
        "poutcome_success or duration >= 767",
    ],
)
def test_only_the_brackets_that_are_needed_are_printed(text: str) -> None:
    assert str(parse(text)) == text
    assert str(parse(f"(({text}))")) == text


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("a", [1, 1, 0, 0]),
        ("not a or b", [1, 0, 1, 1]),
        ("a and b", [1, 0, 0, 0]),
        ("n > 2.5", [0, 0, 0, 1]),
        ("n >= 2.5", [0, 1, 1, 1]),
        ("1 <= n <= 2.5", [1, 1, 1, 0]),
        ("not (a and n >= 2)", [1, 0, 1, 1]),
    ],
)
def test_truth_is_computed_for_all_rows_at_once(text: str, truth: list[int]) -> None:
    assert parse(text).evaluate(TABLE).tolist() == [bool(value) for value in truth]


def test_latex_is_in_the_papers_notation() -> None:
    formula = parse("(p or q >= 767) and not r and 25 <= s <= 60 and t > 3.5")
    letters = {name: name for name in "pqrst"}
    assert formula.latex(letters) == (
        r"(p \lor q_{\geq 767}) \land \neg r \land s_{[25,60]} \land t_{m}"
    )


def test_latex_without_letters_writes_the_names_out_escaped() -> None:
    assert parse("`50%_of`").latex() == r"\textit{50\%\_of}"
    assert escape_latex("a\\b~^{}$&#") == (
        r"a\textbackslash{}b\textasciitilde{}\textasciicircum{}\{\}\$\&\#"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pout or dur >= 767", "poutcome is success or dur is at least 767"),
        ("not dur >= 767", "dur is below 767"),
        ("not pout", "poutcome is not success"),
        ("25 <= age <= 60 and g > 3", "age is from 25 to 60 and g is above 3"),
        ("a and (b or not c)", "a is true and either b is true or c is not true"),
        ("a or b and c", "a is true or both b is true and c is true"),
        ("not (a or b)", "neither a is true nor b is true"),
        ("not (a and b)", "not both a is true and b is true"),
        ("not (a or b or c)", "none of (a is true, b is true or c is true)"),
    ],
)
def test_words_are_plain_english(text: str, words: str) -> None:
    assert parse(text).words({"pout": ("poutcome", "success")}) == words


@given(NUMBERS)
def test_numbers_keep_their_value(value: float) -> None:
    assert float(number(value)) == value


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "expected a column name"),
        ("a and", "expected a column name"),
        ("a b", "expected the end"),
        ("(a", "expected ')'"),
        ("3 <= a", "expected '<='"),
        ("a >= b", "expected a number"),
        ("a ? b", "cannot read formula"),
    ],
)
def test_text_that_is_not_a_formula_is_refused_with_the_place(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint.replace("(", r"\(").replace(")", r"\)")):
        parse(text)


def test_a_chain_needs_two_parts() -> None:
    with pytest.raises(ValueError, match="two parts"):
        And(Atom(Proposition("a")))


def _negations(formula: Formula) -> int:
    return isinstance(formula, Not) + sum(map(_negations, formula.parts))


def _reversed(formula: Formula) -> Formula:
    if isinstance(formula, Atom):
        return formula
    if isinstance(formula, Not):
        return Not(_reversed(formula.part))
    parts = [_reversed(part) for part in reversed(formula.parts)]
    return And(*parts) if isinstance(formula, And) else Or(*parts)
