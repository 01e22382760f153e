"""A browser page, and the stand-in for the service."""

from collections.abc import Callable, Generator
from contextlib import ExitStack
from dataclasses import dataclass
from http.server import ThreadingHTTPServer

import pytest
from chromium import open_browser, open_page
from fake_api import World, sample_world, serve
from playwright.sync_api import Browser, ConsoleMessage, Error, Page

from cli.checks import find_browser


@dataclass
class Service:
    """A stand-in that runs."""

    url: str
    world: World


Serving = Callable[[World], str]
"""Serves a world, and returns its address."""


@pytest.fixture
def serving() -> Generator[Serving]:
    """The servers last until the page is closed, for it would tell of a service that went away as an error."""
    servers: list[ThreadingHTTPServer] = []

    def start(world: World) -> str:
        servers.append(server := serve(world))
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def service(serving: Serving) -> Service:
    """Past explorations, `exp_05` among them, which is searching."""
    world = sample_world(pace=0.15)
    return Service(serving(world), world)


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    """One for the tests of a file; not for longer, since Playwright holds the thread's event loop meanwhile."""
    with ExitStack() as stack:
        try:
            browser = stack.enter_context(open_browser())
        except Error as error:
            if find_browser() is not None:
                raise
            pytest.skip(f"no Chromium: install the system's, or run `playwright install chromium` ({error})")
        yield browser


@pytest.fixture
def page(browser: Browser, serving: Serving) -> Generator[Page]:  # closed before the servers are
    """A page that fails its test when the dashboard reports an error, or talks to anyone but its own service."""
    errors: list[str] = []
    with open_page(browser) as page:
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if _is_defect(message) else None)
        page.on("request", lambda request: errors.append(request.url) if _is_foreign(request.url) else None)
        yield page
    assert not errors, errors


def _is_defect(message: ConsoleMessage) -> bool:
    """What the service refuses a person reads on the page; the browser notes it as an error of ours."""
    return message.type == "error" and not any(f"status of {status}" in message.text for status in (401, 422))


def _is_foreign(url: str) -> bool:
    return not url.startswith(("http://127.0.0.1:", "data:", "blob:"))
