"""The bars of accuracy as pgfplots source, to be set in a paper's own fonts."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean, pstdev

from fsm_hpc.report.collect import Study, label
from fsm_hpc.report.tables.latex import latex_text

_HEAD = r"""% Bars of test accuracy: \input this; needs \usepackage{pgfplots}
\begin{tikzpicture}
  \begin{axis}[
    xbar, bar width=4pt, y dir=reverse, axis on top,
    width=0.8\textwidth, height=<height>cm, enlarge y limits={abs=0.5},
    xmin=0, xmax=108, xlabel={test accuracy (\%), mean and standard deviation over folds},
    ytick={<ticks>}, yticklabels={<labels>}, y tick style={draw=none},
    legend style={at={(0.5,1.02)}, anchor=south, draw=none, legend columns=3,
      legend group align=left, /tikz/column sep=4pt},
    reverse legend,
    legend image code/.code={\draw[#1] (0cm,-0.08cm) rectangle (0.3cm,0.12cm);},
    error bars/x dir=both, error bars/x explicit, error bars/error bar style={black},
  ]
"""
_PLOT = r"""    \addplot[draw=<name>, fill=<name>!75]
      table[x=accuracy, y=dataset, x error=deviation] {
        accuracy dataset deviation
<rows>      };
    \addlegendentry{<label>}
"""


def accuracy_source(study: Study, colours: Mapping[str, str]) -> str:
    """A tikzpicture with one series of bars for each method."""
    names = "".join(
        f"\\definecolor{{fsm{m.replace('_', '')}}}{{HTML}}{{{colours.get(m, '#777777')[1:]}}}\n"
        for m in study.methods
    )
    datasets = study.datasets
    head = _HEAD.replace("<height>", f"{2 + 0.22 * len(datasets) * (len(study.methods) + 1):.1f}")
    head = head.replace("<ticks>", ",".join(str(n) for n in range(len(datasets))))
    head = head.replace("<labels>", ",".join(f"{{{latex_text(name)}}}" for name in datasets))
    # pgfplots stacks the bars of a group upwards
    plots = "".join(_series(study, method) for method in reversed(study.methods))
    return names + head + plots + "  \\end{axis}\n\\end{tikzpicture}\n"


def _series(study: Study, method: str) -> str:
    rows = ""
    for number, name in enumerate(study.datasets):
        group = study.groups.get((name, method))
        values = [100 * done.accuracy.test for done in group.results] if group else []
        if values:
            rows += f"        {fmean(values):.2f} {number} {pstdev(values):.2f}\n"
    if not rows:
        return ""
    plot = _PLOT.replace("<name>", f"fsm{method.replace('_', '')}").replace("<rows>", rows)
    return plot.replace("<label>", latex_text(label(method)))
