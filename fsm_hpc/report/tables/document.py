"""Write a LaTeX document with all tables."""

from __future__ import annotations

from collections.abc import Iterable

_DOCUMENT = r"""% Compiles on its own: pdflatex all.tex, twice (or lualatex, for every alphabet)
\documentclass[a4paper]{article}
\usepackage{iftex}
\ifPDFTeX
  \usepackage[T1]{fontenc}
  \usepackage[utf8]{inputenc}
  \usepackage{textcomp}
<declarations>\else
  \usepackage{fontspec}
\fi
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\usepackage[margin=2cm]{geometry}
\usepackage{booktabs,longtable}
\begin{document}
<inputs>\end{document}
"""

_LETTERS = "αβγδεζηθικλμνξπρςστυφχψωΓΔΘΛΞΠΣΦΨΩ"
_NAMES = (
    "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho varsigma "
    "sigma tau upsilon varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
)
_SIGNS = {letter: "\\" + name for letter, name in zip(_LETTERS, _NAMES.split(), strict=True)} | {
    "≤": r"\leq",
    "≥": r"\geq",
    "≠": r"\neq",
    "≈": r"\approx",
    "−": "-",
    "∞": r"\infty",
    "→": r"\to",
    "₂": "_2",
}


def document(names: Iterable[str], sources: Iterable[str]) -> str:
    """A document that inputs the tables with these names from its folder."""
    texts = list(sources)
    inputs = "".join(map(_input, names, texts))
    declarations = "".join(f"  {line}\n" for line in _declarations("".join(texts)))
    return _DOCUMENT.replace("<declarations>", declarations).replace("<inputs>", inputs)


def _input(name: str, source: str) -> str:
    """Set earlier tables first, as a table over several pages does not float."""
    before = "\\clearpage\n" if "\\begin{longtable}" in source else ""
    return f"{before}\\input{{{name}}}\n"


def _declarations(text: str) -> list[str]:
    """Declare a sign or the code for characters that pdflatex does not know."""
    return [
        rf"\ifcsname u8:\detokenize{{{character}}}\endcsname\else"
        rf"\DeclareUnicodeCharacter{{{ord(character):04X}}}{{{_substitute(character)}}}\fi"
        for character in sorted(set(text))
        if ord(character) > 127
    ]


def _substitute(character: str) -> str:
    sign = _SIGNS.get(character)
    return rf"\ensuremath{{{sign}}}" if sign else rf"\texttt{{[U+{ord(character):04X}]}}"
