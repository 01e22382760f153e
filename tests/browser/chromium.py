"""Chromium for the dashboard's tests: the machine's own, else the one that Playwright has installed."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Literal

from playwright.sync_api import Browser, Page, expect, sync_playwright

from cli.checks import find_browser

TIMEOUT_MS = 60_000
# Root in a container has no sandbox; the rest keeps the browser from talking to anyone but the page.
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@contextmanager
def open_browser() -> Generator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(_ARGUMENTS))
        yield browser
        browser.close()


@contextmanager
def open_page(
    browser: Browser,
    width: int = 1280,
    height: int = 800,
    scheme: Literal["light", "dark"] = "light",
    scale: float = 1,
) -> Generator[Page]:
    """A fresh page, which shares no cookies, stores or caches with others of the browser."""
    viewport = {"width": width, "height": height}
    context = browser.new_context(
        viewport=viewport,  # pyright: ignore[reportArgumentType] # a TypedDict that can not be built from variables
        color_scheme=scheme,
        device_scale_factor=scale,
        accept_downloads=True,
    )
    # Only where something does not happen is all of it waited for.
    expect.set_options(timeout=TIMEOUT_MS)
    context.set_default_timeout(TIMEOUT_MS)
    yield context.new_page()
    context.close()
