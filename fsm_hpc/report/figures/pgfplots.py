"""Write the bars of a measure as pgfplots source."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean, pstdev

from fsm_hpc.report.collect import Study, label
from fsm_hpc.report.figures.drawings import Positions, percents, positions_of, words_of
from fsm_hpc.report.tables.latex import latex_text

_HEAD = r"""% Bars of test <measure>: \input this; needs \usepackage{pgfplots}
\begin{tikzpicture}
  \begin{axis}[
    xbar, bar shift=0pt, bar width=<width>pt, y dir=reverse, axis on top,
    width=0.8\textwidth, y=<dataset>pt, ymin=-0.5, ymax=<last>.5,
    xmin=0, xmax=108, xlabel={test <measure> (\%), mean and standard deviation over folds},
    ytick={<ticks>}, yticklabels={<labels>}, y tick style={draw=none},
    legend style={at={(0.5,1.02)}, anchor=south, draw=none, legend columns=3,
      legend cell align=left, /tikz/column sep=4pt},
    legend image code/.code={\draw[#1] (0cm,-0.08cm) rectangle (0.3cm,0.12cm);},
    error bars/x dir=both, error bars/x explicit, error bars/error bar style={black},
  ]
"""
_PLOT = r"""    \addplot[draw=<name>, fill=<name>!75]
      table[x=accuracy, y=place, x error=deviation] {
        accuracy place deviation
<rows>      };
    \addlegendentry{<label>}
"""
_BAR_PT = 5.0  # distance between bars


def accuracy_source(study: Study, colours: Mapping[str, str], metric: str = "accuracy") -> str:
    """A tikzpicture with one series of bars per method."""
    names = "".join(
        f"\\definecolor{{fsm{m.replace('_', '')}}}{{HTML}}{{{colours.get(m, '#777777')[1:]}}}\n"
        for m in study.methods
    )
    datasets = [str(key) for key in study.dataset_variants]
    step = 1 / (len(study.methods) + 1)  # distance as a share of the space of a dataset
    head = _HEAD.replace("<width>", f"{0.8 * _BAR_PT:g}").replace("<measure>", words_of(metric))
    head = head.replace("<dataset>", f"{_BAR_PT / step:g}").replace(
        "<last>", f"{len(datasets) - 1}"
    )
    head = head.replace("<ticks>", ",".join(str(n) for n in range(len(datasets))))
    head = head.replace("<labels>", ",".join(f"{{{latex_text(name)}}}" for name in datasets))
    series = positions_of(study, step, metric).items()
    plots = "".join(_series(groups, method, metric) for method, groups in series if groups)
    return names + head + plots + "  \\end{axis}\n\\end{tikzpicture}\n"


def _series(groups: Positions, method: str, metric: str) -> str:
    rows = ""
    for position, group in groups:
        values = percents(group, metric)
        rows += f"        {fmean(values):.2f} {position:.3f} {pstdev(values):.2f}\n"
    plot = _PLOT.replace("<name>", f"fsm{method.replace('_', '')}").replace("<rows>", rows)
    return plot.replace("<label>", latex_text(label(method)))
