"""The jobs of a sweep as plain values: composed once, and not once for each value."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fsm_hpc.study import hydra
from fsm_hpc.study.config_folders import groups
from fsm_hpc.study.hydra import Choice

Values = dict[str, Any]
Raw = Callable[[Sequence[str]], Values]  # a composed config, interpolations not yet resolved


class Sweep:
    """Every combination of the values that overrides name."""

    def __init__(self, overrides: Sequence[str], raw: Raw) -> None:
        self._choices = hydra.choices(overrides)
        self._raw = raw
        self._bases = _Bases(self._choices, raw)
        self._values = [n for n, one in enumerate(self._choices) if len(one) > 1 and _is_value(one)]
        swept = [choice.value for n in self._values for choice in self._choices[n]]
        self._text = repr([swept, self._bases.first, self._bases.sections])
        self._needs_hydra = (
            "${hydra:" in self._text or self._overlap() or any(isinstance(v, dict) for v in swept)
        )

    def __iter__(self) -> Iterator[tuple[list[str], Values]]:
        """The overrides of each job, and its values."""
        for job in itertools.product(*self._choices):
            texts = [choice.text for choice in job]
            values = self._raw(texts) if self._needs_hydra else self._composed(job)
            yield texts, hydra.resolved_values(values, texts) if "${" in self._text else values

    def _composed(self, job: Sequence[Choice]) -> Values:
        values = self._bases.of(job)
        for place in self._values:
            values = with_value(values, job[place].key.split("."), job[place].value)
        return values

    def __len__(self) -> int:
        count = 1
        for one in self._choices:
            count *= len(one)
        return count

    def refers_to(self, key: str) -> bool:
        """Whether an interpolation may stand for the value of this key."""
        return re.search(rf"\$\{{[^}}]*\b{key}\b", self._text) is not None

    def _overlap(self) -> bool:
        """Whether a value is set by two overrides, so that their order matters."""
        keys = [f"{one[0].key}." for one in self._choices if _is_value(one)]
        pairs = itertools.permutations(keys, 2)
        return any(other.startswith(one) for one, other in pairs)


class _Bases:
    """Composed configs for every combination of choices in config groups."""

    def __init__(self, choices: list[list[Choice]], raw: Raw) -> None:
        self._raw = raw
        self._start = [one[0] for one in choices]
        self.first = raw([one.text for one in self._start])
        groups = [place for place, one in enumerate(choices) if not _is_value(one)]
        self._places = [place for place in groups if len(choices[place]) > 1]
        self._known: dict[tuple[str, ...], Values] = {}
        self.sections: dict[tuple[int, str], Any] = {}
        self._are_independent = all(
            self._learn(place, choice) for place in self._places for choice in choices[place][1:]
        )

    def _learn(self, place: int, choice: Choice) -> bool:
        """Compose another choice; whether it sets nothing but its own section."""
        job = [*self._start[:place], choice, *self._start[place + 1 :]]
        found = self._raw([one.text for one in job])
        changed = {k for k in {**found, **self.first} if found.get(k) != self.first.get(k)}
        self.sections[place, choice.text] = found.get(choice.key)
        return changed <= {choice.key}

    def of(self, job: Sequence[Choice]) -> Values:
        chosen = tuple(job[place].text for place in self._places)
        if chosen not in self._known:
            self._known[chosen] = self._compose(job)
        return self._known[chosen]

    def _compose(self, job: Sequence[Choice]) -> Values:
        if not self._are_independent:
            swept = {place: job[place] for place in self._places}
            return self._raw([swept.get(n, one).text for n, one in enumerate(self._start)])
        sections = {
            job[place].key: self.sections[place, job[place].text]
            for place in self._places
            if job[place] != self._start[place]
        }
        return {**self.first, **sections}


def _is_value(choices: Sequence[Choice]) -> bool:
    """Whether they are values of a setting; else they are files of a config group."""
    return choices[0].key not in groups() and not choices[0].key.startswith("hydra/")


def with_value(values: Any, path: list[str], value: Any) -> Values:
    """A copy with the value in its place; what is not on the way to it is shared."""
    inner = values if isinstance(values, dict) else {}
    name, *rest = path
    return {**inner, name: with_value(inner.get(name), rest, value) if rest else value}
