"""Report pages whose numbers were measured with different code.

    python -m scripts.page_figures                 list outdated measurements
    python -m scripts.page_figures --write PAGE    store digests of the named commits in a page

The front matter of a page with numbers lists its measurements:

    figures:
      - command: python -m benchmarks.languages --folds 3
        commit: 53ef1a1
        modules: [fsm_hpc/formulas, fsm_hpc/search, benchmarks/languages.py]
        digest: 0123456789ab

The digest is of the code of these modules at that commit, without comments and docstrings. A
measurement is outdated if the digest of the current code differs. Most changes of code leave the
numbers as they are, and a new measurement takes hours. So the command only reports.
"""

from __future__ import annotations

import ast
import hashlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from scripts.prose import ROOT, pages

_FRONT_MATTER = re.compile(r"\A---\n(.*?)^---\n", re.M | re.S)


@dataclass(frozen=True)
class Figures:
    """One measurement of a page."""

    page: Path
    command: str
    commit: str
    modules: tuple[str, ...]
    digest: str = ""

    def changes(self) -> list[str]:
        """How the modules differ from the measured ones."""
        removed = [f"{name} was removed" for name in self.modules if not (ROOT / name).exists()]
        if removed or current_digest(self.modules) == self.digest:
            return removed
        return ["the code changed"]


def front_matter(page: Path) -> dict[str, Any]:
    found = _FRONT_MATTER.match(page.read_text(encoding="utf-8"))
    return yaml.safe_load(found[1]) if found else {}


def measurements() -> Iterator[Figures]:
    """The measurements of all pages."""
    for page in pages():
        for entry in front_matter(page).get("figures", ()):
            yield Figures(page, **{**entry, "modules": tuple(entry["modules"])})


def current_digest(modules: Iterable[str]) -> str:
    """Digest of the code in the working folder."""
    names = [str(path.relative_to(ROOT)) for module in modules for path in _files(ROOT / module)]
    return _digest(names, lambda name: (ROOT / name).read_bytes())


def digest_at(commit: str, modules: Iterable[str]) -> str:
    """Digest of the code of a commit."""
    listed = _git("ls-tree", "-r", "--name-only", commit, "--", *modules).decode().split()
    return _digest(filter(_is_code, listed), lambda name: _git("show", f"{commit}:{name}"))


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    else:
        yield from (found for found in path.rglob("*") if _is_code(found.name))


def _is_code(name: str) -> bool:
    return name.endswith((".py", ".lp"))


def _digest(names: Iterable[str], read: Callable[[str], bytes]) -> str:
    digest = hashlib.sha256()
    for name in sorted(set(names)):
        digest.update(f"{name}\n{_code(name, read(name))}\n".encode())
    return digest.hexdigest()[:12]


def _code(name: str, content: bytes) -> str:
    """A program without comments and docstrings."""
    text = content.decode("utf-8")
    if name.endswith(".lp"):
        return re.sub(r"%.*", "", text)
    tree = ast.parse(text)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            node.body[0] = ast.Pass()
    return ast.unparse(tree)


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True).stdout


def write(page: Path) -> None:
    """Store the digest of each measurement's commit in the front matter of a page."""
    data = front_matter(page)
    for entry in data.get("figures", ()):
        entry["digest"] = digest_at(entry["commit"], entry["modules"])
    text = page.read_text(encoding="utf-8")
    stored = yaml.safe_dump(data, sort_keys=False, width=1000, default_flow_style=None)
    page.write_text(_FRONT_MATTER.sub(lambda _: f"---\n{stored}---\n", text), encoding="utf-8")


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--write"]:
        for name in arguments[1:]:
            write(Path(name).resolve())
        return 0
    for entry in measurements():
        if changes := entry.changes():
            page = entry.page.relative_to(ROOT)
            print(f"{page}: {entry.command} ({entry.commit}): {', '.join(changes)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
