"""Damage for the program's own files: every way that a file can be wrong, by number."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

NAMES = (
    *("result.json", "scan.json", "submission.json", "attempt.json", "trials.json", "log.txt"),
    *("alternatives.json", ".result.alternatives.json", "verification.json"),
)
ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 2, 10**17, 0.5, -0.5, 1e300, "", "x", [], {}, [1], {"a": 1}, [[]]),
    *("\ud800", "\udcff", "\x00", "a\nb\x1b[31m", "[red]x[/red]", "${oc.env:HOME}", "../../x"),
    *("-1", "1; rm -rf /", "--user=root", "x" * 5000, "(" * 3000, "not " * 3000 + "x", "9e999"),
    [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]],
)


@dataclass(frozen=True)
class Damage:
    """One way to spoil a file."""

    name: str
    spoil: Callable[[Path], None]


def damages(seed: int) -> Iterator[Damage]:
    """Endless damages: all that a file as a whole can suffer in turn, and shapes between them."""
    number = seed
    while True:
        whole = _WHOLE[number % len(_WHOLE)]
        yield Damage(whole.__name__.strip("_"), whole)
        for part in range(3):
            yield Damage(f"shape-{number}-{part}", _reshaping(Random(f"{number}/{part}")))
        number += 1


# ------------------------------------------------------------------------- the file as a whole


def _missing(path: Path) -> None:
    path.unlink()


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _link_to_nothing(path: Path) -> None:
    path.unlink()
    path.symlink_to("nothing")


def _link_to_itself(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def _link_to_a_device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def _no_text(path: Path) -> None:
    path.write_bytes(b"\xff\xfe" + path.read_bytes())


def _zeros(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def _larger_than_any(path: Path) -> None:
    with path.open("r+b") as stream:
        stream.truncate(2**31)


def _deep(path: Path) -> None:
    path.write_text('{"a":' * 20_000 + "1" + "}" * 20_000)


def _as(text: str, name: str) -> Callable[[Path], None]:
    def spoil(path: Path) -> None:
        path.write_text(text)

    spoil.__name__ = name
    return spoil


def _newer(path: Path) -> None:
    _rewritten(path, lambda saved: saved | {"format": 99, "version": "9.9.9", "what": "is new"})


def _older(path: Path) -> None:
    _rewritten(path, lambda saved: saved | {"format": 0})


def _bare(path: Path) -> None:
    _rewritten(path, lambda saved: {})


def _rewritten(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:  # the log
        saved = {}
    path.write_text(json.dumps(change(saved)), encoding="utf-8")


_WHOLE: tuple[Callable[[Path], None], ...] = (
    *(_missing, _empty, _cut, _folder, _pipe, _link_to_nothing, _link_to_itself),
    *(_link_to_a_device, _no_text, _zeros, _larger_than_any, _deep, _newer, _older, _bare),
    _as("[1, 2]", "a list"),
    _as("null", "null"),
    _as('"text"', "text"),
    _as("NaN", "no number"),
    _as('{"format": 1, "scan_s": NaN}', "not a number in it"),
    _as('{"format": 1, "fold": ' + "9" * 5000 + "}", "a number of 5000 digits"),
    _as('{"format": 1e999}', "infinite"),
)


# ---------------------------------------------------------------------------------------- its shape


def _reshaping(random: Random) -> Callable[[Path], None]:
    """Something in the file is replaced, removed, renamed or added; in a journal, in one line."""

    def spoil(path: Path) -> None:
        lines = path.read_text(encoding="utf-8").splitlines()
        if path.suffix == ".json":
            changed = _reshaped(json.loads("\n".join(lines)), random)
            path.write_text(json.dumps(changed), encoding="utf-8")
            return
        at = random.randrange(len(lines))
        try:
            lines[at] = json.dumps(_reshaped(json.loads(lines[at]), random))
        except ValueError:
            lines[at] = "\x1b[31m" + lines[at][::-1]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    return spoil


def _reshaped(saved: Any, random: Random) -> Any:
    saved = copy.deepcopy(saved)
    holder, key = random.choice(list(_places(saved)))
    act = random.choice(("replace", "replace", "replace", "remove", "rename", "add"))
    if act == "replace" or isinstance(holder, list):
        holder[key] = random.choice(ODD)
    elif act == "add":
        holder["added"] = random.choice(ODD)
    else:
        value = holder.pop(key)
        if act == "rename":
            holder[f"{key}_"] = value
    return saved


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every holder and key in a value, however deep."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        yield value, key
        if isinstance(inner, (dict, list)):
            yield from _places(inner)
