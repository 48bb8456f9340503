"""List programs that tests need and this machine lacks; `--install` installs them."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from ctypes.util import find_library
from dataclasses import dataclass

from slurm.install import PACKAGES as SLURM_PACKAGES
from slurm.install import SYSTEM_PATH, apt_install, how_to_install, missing_programs


@dataclass(frozen=True, slots=True)
class Need:
    """Programs that some tests need, and the Debian packages that contain them."""

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
        Need("rules as R", ("r-base-core",), _missing("Rscript")),
        Need("rules as PMML", ("default-jre-headless",), _missing("java")),
        Need("rules as MariaDB's SQL", ("mariadb-server-core",), _missing("mariadbd")),
        Need("machines with different clocks", ("faketime",), _missing("faketime")),
        Need("several hosts on one machine", ("util-linux",), _missing("unshare")),
        Need("rules in a spreadsheet", ("libreoffice-calc-nogui",), _missing("soffice")),
    ]


def main() -> int:
    """Always 0: tests of missing programs are skipped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--install", action="store_true", help="install missing programs with apt-get (as root)"
    )
    may_install = parser.parse_args().install and _can_install()
    lacking, errors = [need for need in needs() if need.missing], ""
    if lacking and may_install:
        packages = [package for need in lacking for package in need.packages]
        print(f"installing {', '.join(packages)} ...", file=sys.stderr)
        errors = apt_install(packages)
        lacking = [need for need in needs() if need.missing]
    for need in lacking:
        print(
            f"*** NOT TESTED on this machine: {need.title}. Missing: {', '.join(need.missing)}. "
            f"Install with: {how_to_install(need.packages)}",
            file=sys.stderr,
        )
    if lacking and errors:
        print(errors, file=sys.stderr)
    return 0


def _missing_browser() -> list[str]:
    """The browser, and a library that playwright needs."""
    return [*_missing("chromium"), *([] if find_library("atomic") else ["libatomic"])]


def _missing(program: str) -> list[str]:
    return [] if shutil.which(program, path=SYSTEM_PATH) else [program]


def _can_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


if __name__ == "__main__":
    sys.exit(main())
