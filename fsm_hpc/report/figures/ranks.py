"""Draw the critical-difference diagram of average ranks."""

from __future__ import annotations

import math
from typing import Any

from fsm_hpc.report.collect import label
from fsm_hpc.report.figures.drawings import COLOURS, OTHER, words_of
from fsm_hpc.report.significance import Ranks
from fsm_hpc.report.tables.latex import latex_text

_STEP = 0.42  # distance between labels, and between bars


def diagram(ranked: Ranks) -> Any:
    """Ranks on a line, the best on the left; a bar joins methods that do not differ."""
    import matplotlib.pyplot as plt

    count, half = len(ranked.ranks), math.ceil(len(ranked.ranks) / 2)
    depth = _STEP * (len(ranked.not_different) + half + 1)
    figure, axes = plt.subplots(figsize=(6.4, 0.9 + 0.75 * depth))
    axes.set_axis_off()
    axes.set_xlim(1 - 0.45 * (count - 1), count + 0.45 * (count - 1))
    axes.set_ylim(-depth, 1.1)
    axes.hlines(0, 1, count, color="black", linewidth=1)
    for rank in range(1, count + 1):
        axes.vlines(rank, 0, 0.12, color="black", linewidth=1)
        axes.text(rank, 0.2, str(rank), ha="center", va="bottom")
    axes.hlines(0.85, 1, 1 + ranked.critical, color="black", linewidth=1)
    critical = f"critical difference {ranked.critical:.2f}, test {words_of(ranked.metric)}"
    axes.text(1 + ranked.critical + 0.05, 0.85, critical, va="center", fontsize=8)
    for number, low, high in _bars(ranked):
        axes.hlines(_bar_height(number), low, high, color="black", linewidth=3)
    for number in range(count):
        _name(axes, ranked, number)
    return figure


def _bars(ranked: Ranks) -> list[tuple[int, float, float]]:
    """The number and the two ends of each bar."""
    groups = [
        [r for method, r in ranked.ranks if method in group] for group in ranked.not_different
    ]
    return [(number, min(ranks) - 0.04, max(ranks) + 0.04) for number, ranks in enumerate(groups)]


def _bar_height(number: int) -> float:
    return -_STEP * (number + 0.7)


def _name_place(ranked: Ranks, number: int) -> tuple[bool, float]:
    """Whether the name of a method is on the left, as for the better half; its height."""
    count = len(ranked.ranks)
    is_left = number < math.ceil(count / 2)
    below = number if is_left else count - 1 - number
    return is_left, -_STEP * (len(ranked.not_different) + below + 0.9)


def _name(axes: Any, ranked: Ranks, number: int) -> None:
    """Draw a line from the rank of a method to its name."""
    (method, rank), count = ranked.ranks[number], len(ranked.ranks)
    is_left, depth = _name_place(ranked, number)
    end = 1 - 0.12 * (count - 1) if is_left else count + 0.12 * (count - 1)
    colour = COLOURS.get(method, OTHER)
    axes.plot([rank, rank, end], [0, depth, depth], color=colour, linewidth=1.4, clip_on=False)
    side = -0.05 if is_left else 0.05
    text = f"{label(method)}  {rank:.2f}" if is_left else f"{rank:.2f}  {label(method)}"
    axes.text(end + side, depth, text, va="center", ha="right" if is_left else "left")


def source(ranked: Ranks) -> str:
    """The same diagram as TikZ source."""
    count, end, measure = len(ranked.ranks), 1 + ranked.critical, words_of(ranked.metric)
    width = round(5 / max(1, count - 1), 2)  # leaves space for the names
    ticks = [f"({r},0) -- ++(0,0.12) node[above] {{{r}}}" for r in range(1, count + 1)]
    paths = [
        f"(1,0) -- ({count},0)",
        *ticks,
        f"(1,0.85) -- ({end:.3f},0.85) node[right] {{CD {ranked.critical:.2f}, test {measure}}}",
        *(_tikz_name(ranked, number) for number in range(count)),
    ]
    drawn = [f"  \\draw {path};" for path in paths]
    bars = [f"  \\draw[line width=2pt] {bar};" for bar in _tikz_bars(ranked)]
    head = "% Average ranks and critical difference: \\input this; needs \\usepackage{tikz}"
    begin, over = f"\\begin{{tikzpicture}}[x={width}cm, y=1cm]", "\\end{tikzpicture}"
    return "\n".join([head, begin, *drawn, *bars, over]) + "\n"


def _tikz_bars(ranked: Ranks) -> list[str]:
    spans = [(low, high, _bar_height(number)) for number, low, high in _bars(ranked)]
    return [f"({low:.3f},{at:.3f}) -- ({high:.3f},{at:.3f})" for low, high, at in spans]


def _tikz_name(ranked: Ranks, number: int) -> str:
    method, rank = ranked.ranks[number]
    is_left, depth = _name_place(ranked, number)
    side, end = ("left", 0.7) if is_left else ("right", len(ranked.ranks) + 0.3)
    name = f"{latex_text(label(method))} ({rank:.2f})"
    return f"({rank:.3f},0) |- ({end:.3f},{depth:.3f}) node[{side}] {{{name}}}"
