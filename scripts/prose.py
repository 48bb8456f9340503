"""List sentences of more than 25 words and source lines of more than 100 characters in pages.

python -m scripts.prose [PAGE ...]; without arguments it reads all pages.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_WORDS, MOST_CHARACTERS = 25, 100
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.S)
_FENCE = re.compile(r"^( *)```.*?^\1```$", re.M | re.S)
_GENERATED = re.compile(r"<!-- begin (\w+) -->.*?<!-- end \1 -->", re.S)
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_ITEM = re.compile(r"([-*]|\d+\.)\s+")
_END = re.compile(r"(?<=[.!?:;])[*_)\"]*\s+(?=[\"*_(\[A-Z0-9`$])|(?<=[.!?])\s+")


def pages() -> list[Path]:
    """README, CONTRIBUTING, SECURITY and all pages of docs/."""
    own = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
    return [*own, *sorted((ROOT / "docs").rglob("*.md"))]


def sentences(text: str) -> Iterator[str]:
    """The sentences of a page, without tables, headings and blocks."""
    for pattern in (_FRONT_MATTER, _FENCE, _GENERATED, _COMMENT):
        text = pattern.sub("", text)
    for paragraph in _paragraphs(text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraph)
        plain = re.sub(r"`[^`]*`|\$[^$]*\$", "X", plain)
        yield from filter(None, (part.strip() for part in _END.split(plain)))


def _paragraphs(text: str) -> Iterator[str]:
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        content = line.strip()
        item = _ITEM.match(content)
        is_text = bool(content) and content[0] not in "|#!"
        if lines and (item or not is_text):
            yield " ".join(lines)
            lines = []
        if is_text:
            lines.append(content[item.end() :] if item else content)


def word_count(sentence: str) -> int:
    return len(re.findall(r"\w[\w'’.,%-]*", sentence))


def long_sentences(text: str) -> list[str]:
    return [sentence for sentence in sentences(text) if word_count(sentence) > MOST_WORDS]


def long_lines(text: str) -> list[str]:
    """Lines of prose that are too long; tables, blocks and pictures may be longer."""
    for pattern in (_FRONT_MATTER, _FENCE, _GENERATED):
        text = pattern.sub("", text)
    lines = (line for line in text.splitlines() if line.strip()[:1] not in ("|", "!"))
    return [line for line in lines if len(line) > MOST_CHARACTERS]


def main(arguments: list[str]) -> int:
    count = 0
    for page in map(Path, arguments) if arguments else pages():
        text = page.read_text(encoding="utf-8")
        for found in (*long_sentences(text), *long_lines(text)):
            print(f"{page.name}: {found}")
            count += 1
    print(f"{count} sentences or lines are too long")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
