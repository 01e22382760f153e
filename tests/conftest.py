"""What all tests share: golden files that can be renewed, Hypothesis without deadlines, and no walks of old objects."""

import gc
import os
import signal
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from examples import QUICK
from hypothesis import settings

from compiler.collection import collect_rarely

pytest_plugins = ("by_file", "skip_reasons")

settings.register_profile("millrace", deadline=None, print_blob=True)  # a shared machine has slow moments
settings.register_profile("quick", settings.get_profile("millrace"), max_examples=QUICK)
settings.load_profile("millrace")

LOADED: set[str] = set()  # modules, when the tests were collected


def pytest_configure() -> None:
    """Ctrl-C reaches what tests start, also where a shell started the tests in the background, which ignore it. Hints
    are the same whoever starts the tests. Compiled modules are kept, as by the start script: each of the services that
    tests start takes more than twice the time without.
    """
    os.environ.pop("MILLRACE_PROGRAM", None)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Half a million objects (tests, loaded modules) live to the end: a collection takes a second to walk them. They
    are put aside before there can be one.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        collect_rarely()
        gc.enable()
        LOADED.update(sys.modules)


def pytest_sessionfinish() -> None:
    """Pytest looks for garbage five times at the end, which takes longer than xdist waits before it interrupts."""
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write what the code gives now into the golden files")


@pytest.fixture
def collected_with() -> set[str]:
    """Names of the modules that were loaded when all tests had been collected."""
    return LOADED


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, Path], None]:
    """`golden(text, file)`: the text is that of the file; `--update-golden` writes the file instead."""

    def compare(text: str, file: Path) -> None:
        if request.config.getoption("--update-golden"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        assert file.exists(), f"{file} is missing; make it with: ./millrace test {request.path} --update-golden"
        assert text == file.read_text(), f"differs from {file}; if that is meant, run with --update-golden and review"

    return compare
