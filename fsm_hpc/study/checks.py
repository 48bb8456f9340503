"""Checks of single settings, each with the message that its user needs."""

from __future__ import annotations

import re
from typing import Any

from fsm_hpc.errors import UserError

# what was a setting once, and the option of the command that replaces it
OPTIONS = {"wait": "--wait", "after": "--after collect,report", "notify": "--notify NAME@HOST"}
MOST = 2**63  # beyond which no file of the program is read back


def refuse_option(key: str) -> None:
    """Name the option of a command that took the place of a setting."""
    if key in OPTIONS:
        raise UserError(f"{key} is an option of the command: write {OPTIONS[key]}, not {key}=...")


def finite(name: str, value: Any) -> None:
    """Infinity would be a time limit that no scheduler takes, and no JSON holds it."""
    if type(value) in (int, float) and not abs(value) < MOST:
        raise UserError(f"{name}: expected a finite number, found {value!r}")


def one_word(name: str, value: str) -> None:
    """Each becomes a line of a job's script, which must not go on with another."""
    if re.search(r"[\s\x00-\x1f\x7f]", value):
        raise UserError(f"{name}: expected one word, found {value!r}")


def one_line(name: str, value: str) -> None:
    if re.search(r"[\x00-\x1f\x7f]", value):
        raise UserError(f"{name!r}: expected one line, found {value!r}")


def at_least(name: str, value: float, least: float) -> None:
    if not value >= least:
        raise UserError(f"{name}: expected at least {least}, found {value}")


def one_folder(name: str, value: str) -> None:
    if not value or value.startswith(".") or "/" in value:
        raise UserError(f"{name}: expected the name of one folder, found {value!r}")


def one_name(where: str, name: str) -> None:
    """A name that a module may have."""
    if re.fullmatch(r"[a-z][a-z0-9_]*", name) is None:
        raise UserError(f"{where}: expected a name of small letters, found {name!r}")


def number_or_auto(where: str, text: str) -> None:
    if text != "auto" and re.fullmatch("[1-9][0-9]{0,5}", text) is None:
        raise UserError(f"{where}: expected a whole number from 1 on, or auto, found {text!r}")
