"""Chromium for the dashboard's tests: the machine's own, else the one that Playwright has installed."""

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from typing import Literal

from playwright.sync_api import Browser, Page, expect, sync_playwright

TIMEOUT_MS = 60_000
# The first has no windows, which an ordinary one keeps even where nobody sees them: half of what a test costs.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# Root in a container has no sandbox; the rest keeps the browser from talking to anyone but the page.
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def executable() -> str | None:
    """Path of the machine's Chromium, None when Playwright must bring its own."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


@contextmanager
def open_browser() -> Generator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=list(_ARGUMENTS))
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
