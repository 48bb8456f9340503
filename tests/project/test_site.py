"""The pages of docs/ build without a warning, need no network, and name files that are there."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

import fsm_hpc
from tests.support.browser import browser

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "fsm_hpc"
MAP = ROOT / "docs" / "architecture.md"
ELSEWHERE = re.compile(r"(?:https?:)?//")
IN_STYLES = re.compile(r"""(?:url\(|@import)\s*["']?(?:https?:)?//""")
LOADED = {  # what a browser gets without being asked
    **dict.fromkeys(("img", "script", "iframe", "source", "embed"), "src"),
    "object": "data",
    "link": "href",
}
ONLY_NAMED = {"canonical", "index", "search", "next", "prev", "author", "license"}  # of a link


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it."""
    for package in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(package, reason="the extra `docs` is not installed")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--quiet", "docs", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class _Loads(HTMLParser):
    """The addresses that a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        is_name = tag == "link" and values.get("rel") in ONLY_NAMED
        address = values.get(LOADED.get(tag, ""))
        if address and not is_name:
            self.found.append(address)


def _loads(page: Path) -> list[str]:
    parser = _Loads()
    parser.feed(page.read_text(encoding="utf-8"))
    return parser.found


def test_every_page_is_in_the_site(site: Path) -> None:
    docs = ROOT / "docs"
    pages = {str(path.relative_to(docs).with_suffix("")) for path in docs.rglob("*.md")}
    assert {"index", "architecture", "reference/api", "CONTRIBUTING", "glossary"} <= pages
    assert {str(path.relative_to(site).with_suffix("")) for path in site.rglob("*.html")} >= pages


def test_the_reference_has_the_public_names_and_inherited_members(site: Path) -> None:
    text = (site / "reference" / "api.html").read_text(encoding="utf-8")
    assert 'id="fsm_hpc.FormulaClassifier.get_params"' in text
    for name in ("FormulaClassifier.fit", "Formula.words", "parse", "UserError"):
        assert f'id="fsm_hpc.{name}"' in text or f".{name}" in text
    assert "Find the formula" in text


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert any(_loads(page) for page in pages)
    for page in pages:
        assert not [address for address in _loads(page) if ELSEWHERE.match(address)], page.name
    for path in (*pages, *site.rglob("*.css"), *site.rglob("*.svg")):
        assert not IN_STYLES.search(path.read_text(encoding="utf-8")), path.name


def test_a_browser_asks_for_nothing_but_files_of_the_site(site: Path) -> None:
    asked: list[str] = []
    with browser() as opened:
        page = opened.new_page()
        page.on("request", lambda request: asked.append(request.url))
        for name in ("index.html", "architecture.html", "explanation/solver-exactness.html"):
            page.goto(f"{site.as_uri()}/{name}")
            page.wait_for_load_state("load")
        for words in ("troubleshooting", "PBS", "out of memory"):
            page.goto(f"{site.as_uri()}/search.html?q={words}")
            page.wait_for_selector("#search-results li a[href*='troubleshooting']")
    assert asked
    assert not [url for url in asked if not url.startswith((site.as_uri(), "data:"))]


WIDTHS = (360, 768, 1280, 1920)


def test_no_page_is_wider_than_the_window(site: Path) -> None:
    too_wide = []
    with browser() as opened:
        page = opened.new_page()
        for path in sorted(site.rglob("*.html")):
            page.goto(path.as_uri())
            for width in (*WIDTHS, 900, 1100, 1600):
                page.set_viewport_size({"width": width, "height": 800})
                if page.evaluate("document.documentElement.scrollWidth") > width:
                    too_wide.append(f"{path.relative_to(site)} at {width}")
    assert not too_wide


def test_formulas_are_drawn_code_can_be_copied_and_the_version_is_shown(site: Path) -> None:
    text = (site / "explanation" / "solver-exactness.html").read_text(encoding="utf-8")
    assert text.count('<svg class="formula"') > 50
    assert fsm_hpc.__version__ in (site / "index.html").read_text(encoding="utf-8")
    with browser() as opened:
        page = opened.new_page()
        page.goto((site / "tutorials" / "own-table.html").as_uri())
        page.locator("button.copy").first.click()
        assert page.locator("button.copy").first.inner_text() == "Copied"


# ------------------------------------------------------------------------------------------ the map


def _named_files() -> Iterator[str]:
    """Paths in backticks, without those that stand for a name still to be chosen."""
    for name in re.findall(r"`([\w./-]+(?:\.\w+|/))`", MAP.read_text(encoding="utf-8")):
        if re.search(r"\.(py|md|lp|yaml|txt|gz)$|/$", name) and "NAME" not in name:
            yield name


def test_the_map_names_files_that_are_there() -> None:
    places = (ROOT, PACKAGE, ROOT / "encodings" / "hypothesis", PACKAGE / "report" / "tables")
    native = PACKAGE / "search" / "solvers" / "native"
    known = (*places, native, native / "kernels")
    names = set(_named_files())
    assert len(names) > 60
    assert not [name for name in sorted(names) if not any((p / name).exists() for p in known)]


def test_the_map_shows_every_room() -> None:
    block = re.search(r"^```\n(fsm_hpc/\n.*?)^```", MAP.read_text(encoding="utf-8"), re.M | re.S)
    assert block
    shown = set(re.findall(r"^ +(\w+)/ ", block[1], re.M))
    rooms = {path.parent.name for path in PACKAGE.rglob("__init__.py")} - {"fsm_hpc"}
    assert shown == rooms | {"shipped"}
