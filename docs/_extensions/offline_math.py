"""Render formulas as inline SVG with matplotlib, so that pages need no script and no network."""

from __future__ import annotations

import html
from functools import cache
from typing import Any

from docutils import nodes
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path as Outline
from matplotlib.textpath import TextPath, text_to_path
from sphinx.application import Sphinx

EM = 100  # units of the SVG
FONT = FontProperties(math_fontfamily="cm", size=EM)
COMMANDS = {Outline.MOVETO: "M", Outline.LINETO: "L", Outline.CURVE3: "Q", Outline.CURVE4: "C"}


@cache
def svg(latex: str) -> str:
    """A formula as an SVG element with the colour and size of the text around it."""
    formula = f"${latex}$"
    width, height, depth = text_to_path.get_text_width_height_descent(formula, FONT, ismath=True)
    top = height - depth
    outline = "".join(_command(*segment, top) for segment in _segments(formula))
    style = (
        f"width:{width / EM:.3f}em;height:{height / EM:.3f}em;vertical-align:{-depth / EM:.3f}em"
    )
    label = html.escape(latex, quote=True)
    return (
        f'<svg class="formula" role="img" aria-label="{label}" style="{style}"'
        f' viewBox="0 0 {width:.1f} {height:.1f}"><path fill="currentColor" d="{outline}"/></svg>'
    )


def _segments(formula: str) -> Any:
    path = TextPath((0, 0), formula, size=EM, prop=FONT, usetex=False)
    return path.iter_segments(simplify=False, curves=True)


def _command(points: Any, code: Any, top: float) -> str:
    """A segment of an outline; the y axis of an SVG points down."""
    if code == Outline.CLOSEPOLY:
        return "Z"
    pairs = zip(points[::2], points[1::2], strict=True)
    return COMMANDS[code] + " ".join(f"{x:.1f} {top - y:.1f}" for x, y in pairs)


def inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(f'<span class="math">{svg(node.astext())}</span>')
    raise nodes.SkipNode


def block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="math">{svg(node.astext().strip())}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("offline", (inline, None), (block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
