"""Typed values of plain ones: what fits is taken, what does not is named with its place."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, TypedDict

import pytest

from fsm_hpc.system.typed import Between, Count, Like, Matches, MismatchError, Share, typed


class Colour(Enum):
    RED = "red"


class Row(TypedDict):
    count: Count


@dataclass(frozen=True)
class Inner:
    share: Share


@dataclass(frozen=True)
class Whole:
    name: Annotated[str, Matches(r"\w+", "a word")]
    inner: Inner
    colour: Colour | None = None
    pair: tuple[int, str] = (0, "")
    flags: tuple[bool, ...] = ()
    rows: list[Annotated[dict[str, Any], Like(Row)]] = field(default_factory=list)
    budget: Annotated[float, Between(0, 10)] | None = None
    classes: tuple[str | int | bool, ...] = ()


FITS: dict[str, Any] = {"name": "x", "inner": {"share": 1}}


def test_what_fits_is_taken() -> None:
    more: dict[str, Any] = {
        "colour": "red",
        "pair": [3, "y"],
        "flags": [True],
        "rows": [{"count": 1, "more": "is kept"}],
        "budget": 2,
        "classes": ["a", 1, True],
    }
    assert typed(Whole, FITS | more) == Whole(
        "x",
        Inner(1.0),
        Colour.RED,
        (3, "y"),
        (True,),
        [{"count": 1, "more": "is kept"}],
        2.0,
        ("a", 1, True),
    )


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"name": 5}, "name: expected text, found 5"),
        ({"name": "a b"}, "name: expected a word, found 'a b'"),
        ({"inner": []}, "inner: expected an object, found []"),
        ({"inner": {}}, "inner.share: expected a value, found nothing"),
        ({"inner": {"share": 1.5}}, "inner.share: expected 0 to 1, found 1.5"),
        ({"inner": {"share": True}}, "inner.share: expected a number, found True"),
        ({"inner": {"share": 1, "x": 2}}, "only fields that this version knows, found 'x'"),
        ({"colour": "blue"}, "colour: expected one of red, found 'blue'"),
        ({"colour": ["red"]}, "colour: expected one of red"),
        ({"pair": [3]}, "pair: expected a list of 2, found"),
        ({"pair": [3.0, "y"]}, "pair.0: expected a whole number, found 3.0"),
        ({"flags": [1]}, "flags.0: expected true or false, found 1"),
        ({"rows": [{"count": -1}]}, "rows.0.count: expected 0 to 1e+15, found -1"),
        ({"rows": [{}]}, "rows.0.count: expected a value, found nothing"),
        ({"budget": 11}, "budget: expected 0 to 10, found 11"),
        ({"classes": [None, 1.5]}, "classes.1: expected true or false, found 1.5"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_named(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(MismatchError) as error:
        typed(Whole, FITS | changes)
    assert told in str(error.value)
