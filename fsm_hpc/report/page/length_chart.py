"""A small chart of accuracy against length, for the section of one fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markupsafe import Markup

_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 332, 12, 132  # of the drawing, in units of its view box


def length_chart(lengths: Sequence[Mapping[str, Any]], chosen: int | None) -> Markup:
    """Training and validation accuracy as two lines, the chosen length marked."""
    from markupsafe import Markup

    steps = [entry["length"] for entry in lengths]
    shares = [entry[f"{name}_accuracy"] for entry in lengths for name in ("train", "validation")]
    low, high = _span(min(shares), max(shares))

    def x(length: float) -> float:
        width = max(1, steps[-1] - steps[0])
        return float(_LEFT + (length - steps[0]) / width * (_RIGHT - _LEFT))

    def y(share: float) -> float:
        return _BOTTOM - (share - low) / (high - low) * (_BOTTOM - _TOP)

    parts = [_grid(y, low, high), _ticks(x, steps)]
    if chosen in steps:
        at = x(chosen or 0)
        parts.append(
            f'<line class="chosen" x1="{at:.1f}" x2="{at:.1f}" y1="{_TOP}" y2="{_BOTTOM}"/>'
        )
    for name, shape in (("train", _dot), ("validation", _square)):
        points = [(x(entry["length"]), y(entry[f"{name}_accuracy"])) for entry in lengths]
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        marks = "".join(shape(a, b) for a, b in points)
        parts.append(f'<g class="{name}"><polyline points="{line}"/>{marks}</g>')
    text = "training (dots) and validation (squares) accuracy against length"
    head = f'<svg class="length-chart" viewBox="0 0 340 164" role="img" aria-label="{text}">'
    return Markup(f"{head}{''.join(parts)}</svg>")


def _span(low: float, high: float) -> tuple[float, float]:
    """Whole steps of five percent around the values."""
    first, last = int(low * 20), -int(-high * 20 // 1)
    return first / 20, max(last, first + 1) / 20


def _grid(y: Any, low: float, high: float) -> str:
    lines = []
    for share in (low, (low + high) / 2, high):
        at = y(share)
        lines.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>'
            f'<text x="{_LEFT - 6}" y="{at + 3.5:.1f}" text-anchor="end">{100 * share:g}%</text>'
        )
    return "".join(lines)


def _ticks(x: Any, steps: Sequence[int]) -> str:
    every = max(1, len(steps) // 10)
    ticks = [
        f'<text x="{x(step):.1f}" y="146" text-anchor="middle">{step}</text>'
        for step in steps[::every]
    ]
    middle = (_LEFT + _RIGHT) / 2
    return "".join(ticks) + f'<text x="{middle}" y="160" text-anchor="middle">length</text>'


def _dot(x: float, y: float) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>'


def _square(x: float, y: float) -> str:
    return f'<rect x="{x - 2.7:.1f}" y="{y - 2.7:.1f}" width="5.4" height="5.4"/>'
