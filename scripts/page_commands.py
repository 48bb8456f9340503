"""Run the shell blocks of a page, in order and in one folder, and compare their output.

    python -m scripts.page_commands PAGE ...            report outputs that differ
    python -m scripts.page_commands --write PAGE ...    update them

A comment before a block says how it is treated:

    <!-- takes: 2 minutes -->            the duration, for readers and for the time limit
    <!-- not run: needs the network -->  the block is not run, for this reason
    <!-- output -->                      the block is the output of the block before
    <!-- output from Predict -->         the same, starting with the line that begins with this text
    <!-- output with 5 lines -->         the same, the first five lines
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^(?:<!-- ([^\n]*?) -->\n)?```(\w*)\n(.*?)^```$", re.M | re.S)
SLURM = ("sbatch", "squeue", "sacct", "scontrol", "scancel", "sinfo", "srun", "salloc")
TIME_LIMIT_S = 1800


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, with the comment before it."""

    comment: str
    language: str
    text: str
    start: int  # position of the text in the page

    @property
    def is_run(self) -> bool:
        return self.language == "bash" and not self.comment.startswith("not run: ")

    @property
    def is_output(self) -> bool:
        return self.comment.startswith("output")

    def excerpt(self, printed: str) -> str:
        """The part of an output that the block shows."""
        lines = [line.rstrip() for line in printed.splitlines() if not line.startswith("wrote /")]
        if start := re.fullmatch(r"output from (.+)", self.comment):
            first = next((k for k, line in enumerate(lines) if line.startswith(start[1])), 0)
            lines = lines[first:]
        if count := re.fullmatch(r"output with (\d+) lines", self.comment):
            lines = lines[: int(count[1])]
        text = "\n".join(lines).strip("\n")
        if self.language == "sql":  # one condition per line
            text = re.sub(r" (WHEN|THEN|ELSE|END)\b", r"\n  \1", text)
        return text + "\n"


@dataclass
class Session:
    """A folder in which the blocks of a page run; without a cluster by default."""

    folder: Path
    has_slurm: bool = False
    programs: Path = field(init=False)

    def __post_init__(self) -> None:
        self.programs = self.folder / ".programs"
        self.programs.mkdir(exist_ok=True)
        for name, module in (("python", ""), ("fsm-hpc", "-m fsm_hpc ")):
            script = self.programs / name
            script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module}"$@"\n')
            script.chmod(0o755)
        if not self.has_slurm:
            self._link_all_but_slurm()

    def _link_all_but_slurm(self) -> None:
        for folder in ("/bin", "/usr/bin", "/usr/local/bin"):
            for program in Path(folder).glob("*"):
                link = self.programs / program.name
                if program.name not in SLURM and not link.exists() and not link.is_symlink():
                    link.symlink_to(program)

    def run(self, script: str) -> str:
        """The output of a script; raises an error if it fails."""
        path = str(self.programs)
        if self.has_slurm:
            path = os.pathsep.join([path, os.environ["PATH"]])
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=self.folder,
            env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "COLUMNS": "100"},
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_S,
            check=False,
        )
        if done.returncode:
            raise AssertionError(f"exit code {done.returncode}:\n{script}\n{done.stderr[-3000:]}")
        return done.stdout


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page."""
    for found in BLOCK.finditer(page.read_text(encoding="utf-8")):
        yield Block(found[1] or "", found[2], found[3], found.start(3))


def differences(page: Path, session: Session) -> list[tuple[Block, str]]:
    """Run a page; the outputs that differ from it, each with the new output."""
    printed, found = "", []
    for block in blocks(page):
        if block.is_run:
            printed = session.run(block.text)
        elif block.is_output and block.excerpt(printed).split() != block.text.split():
            found.append((block, block.excerpt(printed)))
    return found


def main(arguments: list[str]) -> int:
    is_update = "--write" in arguments
    code = 0
    for name in (text for text in arguments if text != "--write"):
        page = Path(name)
        with tempfile.TemporaryDirectory() as folder:
            found = differences(page, Session(Path(folder)))
        text = page.read_text(encoding="utf-8")
        for block, printed in reversed(found):
            print(f"{page}: the output differs:\n{printed}")
            text = text[: block.start] + printed + text[block.start + len(block.text) :]
        if is_update:
            page.write_text(text, encoding="utf-8")
        code = code or (1 if found and not is_update else 0)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
