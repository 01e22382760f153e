"""The documentation in Chromium, behind the headers that the service sends: nothing is asked of another origin."""

import threading
from collections.abc import Generator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from conftest import Service
from pages import ROOT
from playwright.sync_api import Page, expect

from api.middleware import _POLICY

pytestmark = pytest.mark.browser

SITE = ROOT / "docs" / "site"
SHOWN = sorted(path.name for path in SITE.glob("*.html"))
PICTURES = sorted((ROOT / "docs" / "pictures").glob("*.svg"))
# Pairs of texts of a picture that cover each other by more than a pixel or, from line to line, by more than four.
MEETING = """() => {
  const texts = [...document.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  const shared = (a, b, low, high) => Math.min(a[high], b[high]) - Math.max(a[low], b[low]);
  const meet = ([, a], [, b]) => shared(a, b, "left", "right") > 1 && shared(a, b, "top", "bottom") > 4;
  return texts.flatMap((a, i) => texts.slice(i + 1).filter((b) => meet(a, b)).map((b) => `${a[0]} and ${b[0]}`));
}"""
WIDE = """() => [...document.querySelectorAll(".table-wrapper")]
  .filter((table) => table.scrollWidth > table.clientWidth + 1).map((table) => table.textContent)"""
# What is seen of the first page's picture, as a share of its parts, at a time in milliseconds.
SEEN = """(time) => {
  document.getAnimations().forEach((animation) => { animation.pause(); animation.currentTime = time; });
  const parts = [...document.querySelectorAll("g")];
  return parts.filter((part) => getComputedStyle(part).opacity === "1").length / parts.length;
}"""


class Handler(SimpleHTTPRequestHandler):
    """Files with the content security policy of the service; says nothing."""

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", _POLICY)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Generator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_pages_ask_nobody_else_and_break_no_rule(page: Page, address: str) -> None:
    """The fixture fails the test for a foreign request, an error of a script, or one that the policy refuses."""
    for name in SHOWN:
        page.goto(f"{address}/{name}")
        broken = page.eval_on_selector_all("img", "all => all.filter(i => !i.naturalWidth).map(i => i.src)")
        assert broken == [], name


def test_the_dashboard_leads_here(page: Page, service: Service) -> None:
    page.goto(service.url)
    link = page.get_by_role("navigation", name="Main").get_by_role("link", name="Learn")
    expect(link).to_have_attribute("href", "/learn/")


def test_labels_of_pictures_do_not_meet(page: Page) -> None:
    for picture in PICTURES:
        page.set_content(picture.read_text(encoding="utf-8"))
        assert page.evaluate(MEETING) == [], picture.name


def test_tables_of_the_gallery_fit(page: Page, address: str) -> None:
    for name in ("gallery.html", "compared.html", "knobs.html", "index.html"):
        page.goto(f"{address}/{name}")
        assert page.evaluate(WIDE) == [], name


def test_the_first_picture_plays_and_stands_still_for_those_who_ask(page: Page) -> None:
    picture = (ROOT / "docs" / "pictures" / "first-page.svg").read_text(encoding="utf-8")
    page.set_content(picture)
    seen = [page.evaluate(SEEN, second * 1000) for second in (0, 4, 9, 14, 18)]
    assert seen[0] == 0
    assert seen == sorted(set(seen)), "each step adds to the one before it"
    assert seen[-1] == 1
    page.emulate_media(reduced_motion="reduce")
    page.set_content(picture)
    assert page.evaluate(SEEN, 0) == 1


def test_search_finds_a_knob(page: Page, address: str) -> None:
    page.goto(f"{address}/search.html?q=prefetch_kib")
    expect(page.locator("#search-results a", has_text="Knobs").first).to_be_visible()


def test_the_theme_is_kept(page: Page, address: str) -> None:
    page.goto(f"{address}/index.html")
    page.evaluate("localStorage.setItem('theme', 'dark')")
    page.reload()
    expect(page.locator("body")).to_have_attribute("data-theme", "dark")


def test_no_page_is_wider_than_a_phone(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    for name in ("index.html", "tutorial.html", "knobs.html"):
        page.goto(f"{address}/{name}", wait_until="networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
