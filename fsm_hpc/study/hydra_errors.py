"""Convert errors of Hydra into one line with the correct syntax."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from fsm_hpc.errors import did_you_mean
from fsm_hpc.study.building import refuse_option
from fsm_hpc.study.config_folders import groups, names_in
from fsm_hpc.study.keys import suggestion
from fsm_hpc.study.override_syntax import key_of, quoted


def first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def why_unreadable(error: Exception, overrides: Sequence[str]) -> str:
    """Why Hydra cannot parse the overrides; the second line of an error about a function."""
    function = re.search(r"^\w+ while evaluating .*$", str(error), re.MULTILINE)
    if function is None:
        return f"{first_line(error)}; {_how_to_quote(overrides)}"
    texts = [text for text in overrides if f"'{text}'" in first_line(error)] or overrides
    return f"cannot read {' '.join(texts)}: {function[0]}"


def _how_to_quote(overrides: Sequence[str]) -> str:
    override = max(overrides, key=lambda override: sum(not c.isalnum() for c in override))
    key, _, value = override.partition("=")
    advice = shlex.quote(f"{key}={quoted(value)}")
    return (
        f"cannot read {override}; a value with blanks or special characters needs quotes: {advice}"
    )


def explained(error: Exception, overrides: Sequence[str]) -> str:
    """One line that names the error, with similar names."""
    text = str(error)
    for override in overrides:
        if override.startswith("experiment="):
            return f"an experiment is added to the config: write +{override}"
    for override in overrides if "Could not append" in text else ():
        if override.startswith("+") and f"'{key_of(override)}'" in text:
            return f"{key_of(override)} exists already: write {override.lstrip('+')}"
    for override in overrides:
        key, value = key_of(override), override.partition("=")[2]
        is_cause = f"{key}/{value}" in text or "Config group override must be" in text
        known = names_in(key) if key in groups() and is_cause else [value]
        if value not in known:
            near = did_you_mean(value, known)
            return f"{key}={value} is not known{near}; expected one of: {', '.join(known)}"
    unknown = re.search(r"In '([^']+)': ConfigKeyError.*full_key: ([^\n]+)", text, re.DOTALL)
    if unknown:
        refuse_option(unknown[2])
        return f"{unknown[1]}.yaml: {unknown[2]} is not a setting{suggestion(unknown[2])}"
    missing = re.search(r"You must specify '(\w+)'", text)
    if missing:
        group = missing[1]
        return f"{group} is missing: expected {group}=NAME, one of: {', '.join(names_in(group))}"
    for override in overrides:
        key = key_of(override)
        if f"'{key}'" in text and "override" in text:
            return f"{key} is not a setting{suggestion(key)}; --cfg job lists all settings"
    return first_line(error)
