"""Rules for texts that column kinds share: words for true and false, codes, order."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from fsm_hpc.data.decimal_sign import DecimalSign

_MOST_SPELLINGS = 20  # of true and false in one column: yes, Yes, YES, ...
_TRUTHS = (  # pairs in lower case; no word is true in one of them and false in another
    *(("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("on", "off"), ("1", "0")),
    *(("ja", "nein"), ("wahr", "falsch"), ("oui", "non"), ("vrai", "faux"), ("ja", "nee")),
    *(("si", "no"), ("sí", "no"), ("sì", "no"), ("verdadero", "falso"), ("vero", "falso")),
    *(("sim", "não"), ("sim", "nao"), ("verdadeiro", "falso"), ("ja", "nej"), ("ja", "nei")),
    *(("kyllä", "ei"), ("jah", "ei"), ("tak", "nie"), ("áno", "nie"), ("ano", "ne"), ("da", "ne")),
    *(("da", "nu"), ("igen", "nem"), ("evet", "hayır"), ("evet", "hayir"), ("да", "нет")),
    *(("так", "ні"), ("да", "не"), ("ναι", "όχι"), ("ya", "tidak"), ("có", "không")),
    *(("نعم", "لا"), ("כן", "לא"), ("हाँ", "नहीं"), ("是", "否"), ("はい", "いいえ")),
    ("예", "아니요"),
)
TRUE = ("true", "yes", "y", "t", "on", "1", "1.0")  # if the words of the file are unknown
_CODE = re.compile(r"[-+\u2212]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")  # a number as a category


def is_truth(values: Iterable[str]) -> bool:
    """Whether these are the words for true and false: yes and no, 1 and 0, ..."""
    first = list(itertools.islice(values, _MOST_SPELLINGS + 1))
    words = set(map(_plain, first))
    return len(first) <= _MOST_SPELLINGS and any(words <= set(pair) for pair in _TRUTHS)


def means_true(value: str) -> bool:
    return _plain(value) in {positive for positive, _ in _TRUTHS}


def are_codes(values: Iterable[str]) -> bool:
    """Whether all are written as numbers."""
    return all(map(_CODE.fullmatch, values))


def match(wanted: str, values: Iterable[str]) -> str | None:
    """The value that equals the wanted one, up to case and the notation of numbers."""
    values = list(values)
    for normalize in (str, str.casefold, _plain):
        equal = [value for value in values if normalize(value) == normalize(wanted)]
        if len(equal) == 1:
            return equal[0]
    return None


def in_order(values: Iterable[str]) -> list[str]:
    """Distinct values: numbers by size, then text by alphabet."""

    def key(value: str) -> tuple[int, float, str]:
        is_code = _CODE.fullmatch(value) is not None
        return (0, _number(value), value) if is_code else (1, 0.0, value)

    return sorted(set(values), key=key)


def looks_like_codes(distinct: Sequence[str]) -> bool:
    """Digits of one width, some with a leading zero, such as 01234."""
    width = len(distinct[0]) if distinct else 1
    return (
        width != 1
        and all(len(value) == width and value.isdecimal() for value in distinct)
        and any(value[0] == "0" for value in distinct)
    )


def _plain(value: str) -> str:
    """Lower case, and 1 for 1.0."""
    if _CODE.fullmatch(value):
        return f"{_number(value):.17g}"
    return unicodedata.normalize("NFC", value.casefold())


def _number(value: str) -> float:
    return float(DecimalSign.POINT.normalized(value))


def stored(word: str) -> Iterator[str]:
    """How other sources store a word: 1 as 1.0 and vice versa, True as true."""
    whole = word.removesuffix(".0")
    digits = whole.removeprefix("-")
    is_whole = digits.isascii() and digits.isdecimal() and (digits[0] != "0" or whole == "0")
    if is_whole:
        yield f"{word}.0" if whole == word else whole
    elif word.lower() in ("true", "false") and word != word.lower():
        yield word.lower()
