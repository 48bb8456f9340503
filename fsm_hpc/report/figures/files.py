"""Write the figures of a study as PDF, SVG and PNG, and as SVG for a page."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fsm_hpc.report import significance
from fsm_hpc.report.collect import Study
from fsm_hpc.report.figures import drawings as figures
from fsm_hpc.report.figures import ranks
from fsm_hpc.report.figures.pgfplots import accuracy_source
from fsm_hpc.system import files

_STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.axisbelow": True,
    "hatch.linewidth": 0.4,
    "legend.frameon": False,
    "svg.hashsalt": "fsm_hpc",  # equal figures give equal files
    "pdf.fonttype": 42,
    "figure.constrained_layout.use": True,
}
_NO_DATES: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None, "ModDate": None},
    "svg": {"Date": None},
    "png": {"Software": None},
}


def draw(study: Study, paper: bool = False, metric: str = "accuracy") -> Iterator[tuple[str, Any]]:
    """The names and matplotlib figures for which there are data."""
    if any(group.results for group in study.groups.values()):
        yield metric, figures.accuracy(study, paper, metric)
        yield f"{metric}_size", figures.accuracy_against_size(study, metric)
        yield "runtime", figures.runtime(study, paper)
    if any(row.lengths for row in study.rows):
        yield "cactus", figures.cactus(study)
    if ranked := significance.ranks(study, metric):
        yield "ranks", ranks.diagram(ranked)
    for group in study.groups.values():
        if any(row.lengths for row in group.rows):
            yield f"lengths/{group.name.replace('/', '-')}", figures.lengths(group)


def write(folder: Path, study: Study, paper: bool = False, metric: str = "accuracy") -> list[Path]:
    """Write all figures, and the sources of the bars and the rank diagram."""
    written = []
    with _styled():
        for name, figure in draw(study, paper, metric):
            for kind in _NO_DATES:
                written.append(folder / f"{name}.{kind}")
                _save(figure, written[-1], kind)
            _close(figure)
    sources = {metric: accuracy_source(study, figures.COLOURS, metric)}
    if ranked := significance.ranks(study, metric):
        sources["ranks"] = ranks.source(ranked)
    for name, text in sources.items():
        written.append(folder / f"{name}.tex")
        files.write_atomically(written[-1], text)
    return written


def svg(make: Callable[[], Any]) -> str:
    """A figure as SVG for a page; text and axes have the text colour of the page."""
    with _styled({"svg.fonttype": "none", "font.family": "sans-serif"}):
        figure = make()
        stream = io.StringIO()
        figure.savefig(stream, format="svg", metadata=_NO_DATES["svg"], transparent=True)
        _close(figure)
    text = stream.getvalue()
    text = re.sub(r' id="[a-z]+[._a-z0-9]*_[0-9]+"', "", text[text.index("<svg") :])
    return _in_page_colours(text)


def _in_page_colours(text: str) -> str:
    text = text.replace("#000000", "currentColor").replace("stroke: black", "stroke: currentColor")
    return text.replace('<text style="', '<text fill="currentColor" style="')


def _styled(changes: dict[str, Any] | None = None) -> Any:
    """The settings of matplotlib, without a display."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    settings: Any = {**_STYLE, **(changes or {})}
    return plt.rc_context(settings)


def _close(figure: Any) -> None:
    import matplotlib.pyplot as plt

    plt.close(figure)


def _save(figure: Any, path: Path, kind: str) -> None:
    drawn = io.BytesIO()
    figure.savefig(drawn, format=kind, dpi=160, metadata=_NO_DATES[kind])
    files.write_atomically(path, drawn.getvalue())
