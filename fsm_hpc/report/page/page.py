"""Write a study as one HTML page without external resources."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fsm_hpc.report import mixture, significance
from fsm_hpc.report.collect import Row, Study, label
from fsm_hpc.report.figures import drawings as figures
from fsm_hpc.report.figures import files as plots
from fsm_hpc.report.figures import ranks
from fsm_hpc.report.findings import findings, summary
from fsm_hpc.report.page import provenance
from fsm_hpc.report.page.example_formulas import example_formulas
from fsm_hpc.report.page.length_chart import length_chart
from fsm_hpc.report.tables.builder import ReportOptions, TableBuilder
from fsm_hpc.report.tables.tabular import Line, Math, Table, show_number
from fsm_hpc.study.measures import METRICS
from fsm_hpc.system.numbers import counted
from fsm_hpc.system.pages import content_security_policy, templates

_FOLDER = Path(__file__).parent


def render(study: Study, options: ReportOptions) -> str:
    """The page as HTML; equal results give equal pages."""
    from markupsafe import Markup

    environment = templates(_FOLDER)
    environment.globals |= {
        "html_cell": html_cell,
        "length_chart": length_chart,
        "label": label,
        "counted": counted,
        "provenance": provenance,
        "measure_names": {name: metric.label for name, metric in METRICS.items()},
    }
    mixtures = mixture.find(study)
    folds = [FoldSection(f"fold-{number}", row) for number, row in enumerate(study.rows)]
    script = (_FOLDER / "page.js").read_text(encoding="utf-8")
    return environment.get_template("page.html").render(
        study=study,
        rules=example_formulas(study, {fold.row.id: fold.anchor for fold in folds}),
        summary=summary(study),
        findings=findings(study, mixtures),
        tables=TableBuilder(study, mixtures, options).all(),
        figures=[(title, Markup(text)) for title, text in _figures(study, options)],
        folds=folds,
        style=Markup((_FOLDER / "page.css").read_text(encoding="utf-8")),
        script=Markup(script),
        policy=content_security_policy(script),
    )


def _figures(study: Study, options: ReportOptions) -> Iterable[tuple[str, str]]:
    if any(row.result for row in study.rows):
        metric = options.metric
        name = figures.words_of(metric)
        bars = partial(figures.accuracy, study, options.paper, metric)
        yield f"Test {name}", plots.svg(bars)
        sizes = partial(figures.accuracy_against_size, study, metric)
        yield f"{name[0].upper()}{name[1:]} against size", plots.svg(sizes)
        yield "Runtime", plots.svg(partial(figures.runtime, study, options.paper))
    if options.compare and (ranked := significance.ranks(study, options.metric)):
        yield "Average ranks", plots.svg(partial(ranks.diagram, ranked))
    if any(row.lengths for row in study.rows):
        yield "Lengths proved against time", plots.svg(partial(figures.cactus, study))


@dataclass(frozen=True, slots=True)
class FoldSection:
    """A fold with its anchor in the page."""

    anchor: str
    row: Row

    @property
    def best_validation(self) -> float | None:
        if self.row.result is not None:
            return self.row.result.accuracy.validation
        return max((e["validation_accuracy"] for e in self.row.lengths), default=None)


@dataclass(frozen=True, slots=True)
class HtmlCell:
    """A cell as the template shows it."""

    text: str
    deviation: str
    is_best: bool
    is_math: bool
    mark: str
    sort: str  # sort key of the column


def html_cell(table: Table, line: Line, number: int) -> HtmlCell:
    """The content of one cell of a table, and its sort key."""
    cell, column = line.cells[number], table.columns[number]
    mark = table.notes.get(cell.note, "")
    if cell.value is not None:
        text = show_number(cell.value, column, line.is_difference)
        spread = "" if cell.deviation is None else f" ± {show_number(cell.deviation, column)}"
        is_best = number in table.best(line)
        return HtmlCell(text, spread, is_best, False, mark, repr(cell.value))
    if isinstance(cell.content, Math):
        return HtmlCell(cell.content.text, "", False, True, mark, cell.content.text)
    text = "–" if cell.content is None else str(cell.content)
    return HtmlCell(text, "", False, False, mark, "" if cell.content is None else text)
