"""Formulas: size, truth, printing and reading back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsm_hpc.formulas.connectives import INFIX, AtLeast, Xor
from fsm_hpc.formulas.formula import And, Atom, Formula, Not, Or, Pair, Proposition
from fsm_hpc.formulas.language import Language
from fsm_hpc.formulas.parser import parse
from fsm_hpc.formulas.text import escape_latex, number

NAMES = st.one_of(
    st.sampled_from(
        ["age", "job_self-employed", "and", "x.y", "Größe", "a b", "1st", "`", ">=", "inf"]
    ),
    st.sampled_from(["xor", "iff", "implies", "at", "least", "of", "at least", "2", ","]),
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
        st.lists(part, min_size=2, max_size=4).map(lambda parts: Xor(*parts)),
        *(st.builds(kind, part, part) for kind in INFIX.values() if issubclass(kind, Pair)),
        st.lists(part, min_size=2, max_size=4).flatmap(
            lambda parts: st.builds(lambda k: AtLeast(k, *parts), st.integers(1, len(parts)))
        ),
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
    assert formula.size == len(list(formula.propositions())) + _connectives(formula)


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
        "(a or b) xor not c",
        "not (a xor b) and c",
        "(a iff b) iff c",
        "(a implies b) implies c",
        "at least 2 of (a, not b, age >= 3) or c",
        "not at least 2 of (a, b xor c)",
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
        ("a xor b", [0, 1, 1, 0]),
        ("a xor b xor n >= 4", [0, 1, 1, 1]),
        ("a iff b", [1, 0, 0, 1]),
        ("a implies b", [1, 0, 1, 1]),
        ("at least 2 of (a, b, n >= 4)", [1, 0, 0, 0]),
        ("at least 1 of (a, not b)", [1, 1, 0, 1]),
        ("at least 2 of (a, a, b)", [1, 1, 0, 0]),
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


def test_connectives_beyond_the_papers_have_their_signs_in_latex() -> None:
    letters = {name: name for name in "pqr"}
    assert parse("(p xor q) implies (p iff r)").latex(letters) == (
        r"(p \oplus q) \rightarrow (p \leftrightarrow r)"
    )
    assert parse("at least 2 of (p, not q, r)").latex(letters) == (
        r"{\geq}2 \textrm{ of } (p, \neg q, r)"
    )


@pytest.mark.parametrize(
    ("text", "truth"), [("xor and iff", [0, 0]), ("at xor not of", [1, 1]), ("implies", [1, 0])]
)
def test_columns_named_like_newer_connectives_are_still_read(text: str, truth: list[int]) -> None:
    no, yes = np.array([False, False]), np.array([True, False])
    table = {"xor": yes, "iff": no, "at": yes, "of": yes, "implies": yes}
    assert parse(text).evaluate(table).tolist() == [bool(value) for value in truth]


@given(FORMULAS)
def test_renaming_columns_changes_nothing_else(formula: Formula) -> None:
    names = {p.column: p.column for p in formula.propositions()}
    assert formula.renamed(names) == formula
    longer = formula.renamed({name: f"{name}!" for name in names})
    assert longer.size == formula.size
    assert {p.column for p in longer.propositions()} == {f"{name}!" for name in names}


SHIPPED = {
    *(Language.PAPER, Language.XOR, Language.IMPLIES, Language.DNF, Language.CNF),
    *(Language.CONJUNCTION, Language.DISJUNCTION, Language.AT_LEAST),
}
LANGUAGES = {
    "a": set(Language),
    "not a": set(Language),
    "a and not b": {*Language} - {Language.DISJUNCTION, Language.AT_LEAST},
    "a or b": {*Language} - {Language.CONJUNCTION, Language.AT_LEAST},
    "a and b or not c": {Language.PAPER, Language.XOR, Language.IMPLIES, Language.DNF},
    "(a or b) and not c": {Language.PAPER, Language.XOR, Language.IMPLIES, Language.CNF},
    "not (a or b)": {Language.PAPER, Language.XOR, Language.IMPLIES},
    "not not a": {Language.PAPER, Language.XOR, Language.IMPLIES},
    "(a and b or c) and a": {Language.PAPER, Language.XOR, Language.IMPLIES},
    "a xor b": {Language.XOR},
    "a or (b iff c)": {Language.XOR},
    "a implies b and c": {Language.IMPLIES},
    "at least 2 of (a, not b, c)": {Language.AT_LEAST},
    "at least 1 of (a, b and c)": set(),
    "not at least 1 of (a, b)": set(),
}


@pytest.mark.parametrize("text", LANGUAGES)
def test_a_language_has_the_formulas_that_are_made_as_it_says(text: str) -> None:
    found = {language for language in SHIPPED if language.has(parse(text))}
    assert found == LANGUAGES[text] & SHIPPED


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
        ("a and (b or not c)", "a is true and (b is true or c is not true)"),
        ("a or b and c", "a is true or (b is true and c is true)"),
        ("not (a or b)", "none of (a is true, b is true)"),
        ("not (a and b)", "not (a is true and b is true)"),
        ("not (a or b or c)", "none of (a is true, b is true, c is true)"),
        ("a xor not b", "exactly one of (a is true, b is not true)"),
        ("not (a xor b)", "both or neither of (a is true, b is true)"),
        ("a xor b xor c", "an odd number of (a is true, b is true, c is true)"),
        ("a iff b", "both or neither of (a is true, b is true)"),
        ("c and not (a iff b)", "c is true and exactly one of (a is true, b is true)"),
        ("a implies b", "a is not true or b is true"),
        ("c and (a implies b)", "c is true and (a is not true or b is true)"),
        ("not (a implies b)", "a is true and b is not true"),
        ("at least 2 of (a, not b, c)", "at least 2 of (a is true, b is not true, c is true)"),
        ("not at least 2 of (a, b)", "fewer than 2 of (a is true, b is true)"),
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
        ("a xor b iff c", "expected the end"),
        ("a iff b iff c", "expected the end"),
        ("at least 2 (a, b)", "expected 'of'"),
        ("at least 3 of (a, b)", "asks for at least 3 of 2"),
        ("at least 1.5 of (a, b)", "asks for at least 1.5 of 2"),
        ("at least 1 of (a)", "asks for at least 1 of 1"),
        ("at least 1 of (a, b", "expected ')'"),
    ],
)
def test_text_that_is_not_a_formula_is_refused_with_the_place(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint.replace("(", r"\(").replace(")", r"\)")):
        parse(text)


def test_a_chain_needs_two_parts() -> None:
    with pytest.raises(ValueError, match="two parts"):
        And(Atom(Proposition("a")))


def _connectives(formula: Formula) -> int:
    """One for each sign that is written down."""
    own = {Atom: 0, Not: 1, AtLeast: 1}.get(type(formula), len(formula.parts) - 1)
    return own + sum(map(_connectives, formula.parts))


def _reversed(formula: Formula) -> Formula:
    parts = [_reversed(part) for part in formula.parts]
    is_ordered = isinstance(formula, Pair) and not formula.commutes
    return formula.over(parts if is_ordered else parts[::-1])
