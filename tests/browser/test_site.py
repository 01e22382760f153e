"""The documentation in Chromium, behind the headers that the service sends: nothing is asked of another origin."""

import threading
from collections.abc import Generator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from pages import ROOT
from playwright.sync_api import Page, expect

from api.middleware import _POLICY

pytestmark = pytest.mark.browser

SITE = ROOT / "docs" / "site"
SHOWN = ("index.html", "knobs.html", "concepts.html", "gallery.html", "rest.html", "search.html")


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
        page.goto(f"{address}/{name}", wait_until="networkidle")
        broken = page.eval_on_selector_all("img", "all => all.filter(i => !i.naturalWidth).map(i => i.src)")
        assert broken == [], name


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
