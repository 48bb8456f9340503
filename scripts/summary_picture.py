"""Draw docs/figures/card.png: the HTML summary of the rule in the quick start.

python -m scripts.summary_picture; it needs chromium and playwright.
"""

from __future__ import annotations

import hashlib
import re
import sys
import tempfile
from pathlib import Path

from PIL import Image, PngImagePlugin

from scripts.page_commands import ROOT, Session, blocks

PICTURE = ROOT / "docs" / "figures" / "card.png"
WIDTH, HEIGHT = 880, 800
END_OF_PICTURE = "Formulas and columns of the folds"  # the last line of the summary in the picture


def digest(page: Path) -> str:
    """Digest of the part of a summary that the picture shows.

    The rest is left out, as it depends on the speed of the machine.
    """
    html = re.sub(r"<(script|style).*?</\1>", "", page.read_text(encoding="utf-8"), flags=re.S)
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))
    return hashlib.sha256(text.partition(END_OF_PICTURE)[0].encode()).hexdigest()


def stored_digest() -> str:
    """Digest of the summary in the stored picture."""
    with Image.open(PICTURE) as picture:
        return str(picture.info.get("summary", ""))


def draw(page: Path) -> None:
    """Store a picture of the top of the summary, with the digest of its text."""
    from playwright.sync_api import sync_playwright

    from tests.support.browser import CHROMIUM, FLAGS

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        tab.goto(page.as_uri())
        tab.screenshot(path=PICTURE)
        browser.close()
    information = PngImagePlugin.PngInfo()
    information.add_text("summary", digest(page))
    with Image.open(PICTURE) as picture:
        few_colours = picture.convert("P", palette=Image.Palette.ADAPTIVE)
    few_colours.save(PICTURE, optimize=True, pnginfo=information)


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        session = Session(Path(name))
        for block in blocks(ROOT / "README.md"):
            if block.is_run:
                session.run(block.text)
        draw(Path(name) / "my_rule" / "model.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
