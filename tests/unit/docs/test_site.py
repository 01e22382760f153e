"""The committed site: built from the pages as they are, whole, and asking nobody else for anything."""

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from pages import ROOT

BUILD = ROOT / "docs" / "build.py"
SITE = ROOT / "docs" / "site"
HTML = sorted(SITE.rglob("*.html"))
MAX_BYTES = 10_000_000
ASKS = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "object": "data"}


class Page(HTMLParser):
    """What a page links to, what it asks for by itself, where it can be linked to, and scripts inside it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.asked: list[str] = []
        self.anchors: set[str] = set()
        self.inline = 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in ASKS and ASKS[tag] in values:
            self.asked.append(values[ASKS[tag]])
        self.inline += tag == "script" and "src" not in values
        self.inline += any(name.startswith("on") for name in values)


page_of = cache(Page)


def test_it_was_built_from_the_sources() -> None:
    check = subprocess.run([sys.executable, BUILD, "--check"], capture_output=True, text=True, check=False)
    assert check.returncode == 0, check.stdout


def test_it_stays_small() -> None:
    assert sum(path.stat().st_size for path in SITE.rglob("*") if path.is_file()) < MAX_BYTES


@pytest.mark.parametrize("path", HTML, ids=lambda path: path.relative_to(SITE).as_posix())
def test_a_page_asks_for_what_lies_beside_it(path: Path) -> None:
    page = page_of(path)
    assert [asked for asked in page.asked if not target(path, asked)[0].is_file()] == []
    assert page.inline == 0, "the service's pages run no script that stands in the page itself"


@pytest.mark.parametrize("path", HTML, ids=lambda path: path.relative_to(SITE).as_posix())
def test_its_links_lead_somewhere(path: Path) -> None:
    assert [link for link in page_of(path).links if not leads_somewhere(path, link)] == []


def leads_somewhere(page: Path, link: str) -> bool:
    """Whether there is such a page and anchor; of another origin only that it is an address."""
    parts = urlsplit(link)
    if parts.scheme:
        return parts.scheme in ("https", "http") and "." in parts.netloc
    if link.startswith("/"):
        return link in ("/", "/docs", "/openapi.json")  # of the service
    file, anchor = target(page, link)
    if not file.is_file():
        return False
    return not anchor or file not in HTML or anchor in page_of(file).anchors


def test_links_to_pages_have_their_titles() -> None:
    """The sources name files, as the repository's page shows them."""
    named = r'<span class="[^"]*std-(?:doc|ref)[^"]*">([^<]*\.(?:md|ipynb))</span>'
    assert {path.name: found for path in HTML if (found := re.findall(named, path.read_text(encoding="utf-8")))} == {}


@pytest.mark.parametrize("home", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda p: p.name)
def test_addresses_of_others_are_addresses(home: Path) -> None:
    """There is no network in CI: only their form is looked at."""
    found = re.findall(r"\]\((https?:[^)\s]*)\)", home.read_text(encoding="utf-8"))
    assert [
        address for address in found if not re.fullmatch(r"https://[\w.-]+\.\w+(/[\w./%~+:-]*)?(#[\w.-]+)?", address)
    ] == []


def target(page: Path, link: str) -> tuple[Path, str]:
    parts = urlsplit(link)
    assert not parts.scheme or not parts.netloc, f"{page.name} asks another origin: {link}"
    return (page.parent / unquote(parts.path)).resolve() if parts.path else page, unquote(parts.fragment)


def test_its_styles_and_scripts_name_no_other_origin() -> None:
    files = [*SITE.rglob("*.css"), *SITE.rglob("*.js"), *SITE.rglob("*.svg")]
    assert [(file.name, found) for file in files for found in foreign(file)] == []


def foreign(file: Path) -> Iterator[str]:
    text = file.read_text(encoding="utf-8")
    yield from re.findall(r"url\(\s*['\"]?(?:https?:)?//[^)]*\)|@import[^;]*//[^;]*;", text)
    yield from re.findall(r"(?:fetch|importScripts|import)\(\s*['\"]https?://[^)]*\)", text)
    yield from re.findall(r"(?:href|src)=\"https?://[^\"]*\"", text) if file.suffix == ".svg" else ()
