"""Bring what tests use besides Python: SLURM, a browser, TeX, node, a spreadsheet; or say so."""

from __future__ import annotations

import os
import shutil
import sys
from ctypes.util import find_library
from dataclasses import dataclass

from slurm.install import PACKAGES as SLURM_PACKAGES
from slurm.install import apt_install, how_to_install, missing_programs


@dataclass(frozen=True, slots=True)
class Need:
    """Programs that some tests drive, and the Debian packages that bring them."""

    title: str
    packages: tuple[str, ...]
    missing: list[str]


def needs() -> list[Need]:
    tex = ("texlive-latex-base", "texlive-latex-recommended", "texlive-pictures", "lmodern")
    return [
        Need("a real SLURM", SLURM_PACKAGES, missing_programs()),
        Need("the report in a browser", ("chromium", "libatomic1"), _missing_browser()),
        Need(
            "LaTeX tables", (*tex, "poppler-utils"), [*_missing("pdflatex"), *_missing("pdftotext")]
        ),
        Need("rules as JavaScript", ("nodejs",), _missing("node")),
        Need("rules in a spreadsheet", ("libreoffice-calc-nogui",), _missing("soffice")),
    ]


def main() -> int:
    """Install what is missing as far as this machine allows; tests skip what is not there."""
    lacking, trouble = [need for need in needs() if need.missing], ""
    if lacking and _may_install():
        packages = [package for need in lacking for package in need.packages]
        print(f"installing {', '.join(packages)} ...", file=sys.stderr)
        trouble = apt_install(packages)
        lacking = [need for need in needs() if need.missing]
    for need in lacking:
        print(
            f"*** NOT TESTED on this machine: {need.title}. Missing: {', '.join(need.missing)}. "
            f"Install with: {how_to_install(need.packages)}",
            file=sys.stderr,
        )
    if lacking and trouble:
        print(trouble, file=sys.stderr)
    return 0


def _missing_browser() -> list[str]:
    """The browser, and a library that the driver of the tests is linked with."""
    return [*_missing("chromium"), *([] if find_library("atomic") else ["libatomic"])]


def _missing(program: str) -> list[str]:
    return [] if shutil.which(program) else [program]


def _may_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


if __name__ == "__main__":
    sys.exit(main())
