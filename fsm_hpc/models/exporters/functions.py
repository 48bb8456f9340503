"""Languages in which a rule is a function that reads cells through other functions."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from fsm_hpc.data.kinds import KINDS
from fsm_hpc.data.kinds.writer import Words
from fsm_hpc.models.exporters.conditions import Infix, one_line, predictions
from fsm_hpc.models.model import Model


class FunctionWriter(Infix):
    """Cells through functions that the exported code defines: number("age"), text("job")."""

    call = "{name}({column})"
    lower: str  # the text of a cell in lower case
    equal: str  # a text equals a literal
    among: str  # a text is one of several literals
    is_missing: str  # a cell has no value

    def cell(self, column: str) -> str:
        return self.literal(column)

    def number_cell(self, column: str) -> str:
        return self._call("number", column)

    def words(self, words: Words) -> str:
        cell = self._call("text", words.column)
        cell = self.lower.format(cell) if words.ignores_case else cell
        if len(words.spellings) == 1:
            return self.equal.format(cell, self.literal(words.spellings[0]))
        return self.among.format(cell, self.literal(words.spellings))

    def missing(self, column: str) -> str:
        return self.is_missing.format(self._call("cell", column))

    def _call(self, name: str, column: str) -> str:
        return self.call.format(name=name, column=self.literal(column))

    def comment(self, words: str) -> str:
        """One line of text as a comment of the language."""
        return words

    def code(self, model: Model) -> str:
        """The function for a model, from the template of the language."""
        otherwise, *answers = map(self.literal, predictions(model))
        conditions = [self.write(model, rule) for rule in model.rules]
        code = _template(self.language).render(
            words=self.comment(one_line(model.words)),
            branches=list(zip(conditions, answers, strict=True)),
            otherwise=otherwise,
            called=[n for n in ("number", "text") if any(f"{n}(" in c for c in conditions)],
            helpers="".join(sorted({KINDS[s.kind].helpers(self.language) for s in model.sources})),
            first=self.literal(model.sources[0].name),
            missing=[self.missing(source.name) for source in model.sources],
            keeps_missing=model.keeps_missing,
        )
        return str(code).rstrip("\n")


@cache
def _template(language: str) -> Any:
    from jinja2 import Environment, FileSystemLoader

    folder = FileSystemLoader(Path(__file__).parent / "templates")
    # the templates are code, in which nothing must be escaped for HTML
    environment = Environment(loader=folder, trim_blocks=True, autoescape=False)  # nosec B701
    return environment.get_template(f"{language}.jinja")
