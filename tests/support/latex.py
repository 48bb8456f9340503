"""Run pdflatex where it is; tests that need it skip and say so."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

needs_latex = pytest.mark.skipif(
    shutil.which("pdflatex") is None,
    reason="pdflatex is not installed (Debian: texlive-latex-recommended lmodern)",
)


def has_style(name: str) -> bool:
    """Whether TeX finds a package, such as pgfplots.sty."""
    if shutil.which("kpsewhich") is None:
        return False
    return subprocess.run(["kpsewhich", name], capture_output=True, check=False).returncode == 0


def compile_latex(path: Path) -> str:
    """The log of a document that compiled; fails with TeX's own words where it does not."""
    ended = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", path.name],
        cwd=path.parent,
        capture_output=True,
        timeout=120,
        check=False,
    )
    said = ended.stdout.decode("utf-8", errors="replace")
    assert ended.returncode == 0, said[-3000:]
    return said


def text_of(pdf: Path) -> str:
    """The words that a PDF shows; skips where pdftotext is not installed."""
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed (Debian: poppler-utils)")
    command = ["pdftotext", "-layout", str(pdf), "-"]
    ended = subprocess.run(command, capture_output=True, timeout=60, check=True)
    return ended.stdout.decode("utf-8")
